import pytest

from groundwire.backends.remote_profile import Profile
from groundwire.core.errors import SettingError


@pytest.mark.parametrize(
    "url",
    ["", "localhost:8000", "ftp://host/v1", "http://", "http:///v1", "http://host:99999/v1", "http://host:0/v1",
     "http://[::1/v1"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(SettingError, match=r"it must be an address such as http://localhost:8000/v1"):
        Profile(url, "m")


@pytest.mark.parametrize(
    "url",
    [
        "http://sk-CANARY@host/v1",
        "http://me:sk-CANARY@host/v1",
        "http://host/v1?key=sk-CANARY",
        "https://host/#sk-CANARY",
    ],
)
def test_an_address_with_a_key_in_it_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(SettingError, match="key_variable") as caught:
        Profile(url, "m")

    assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("model", "", "model is empty"),
        ("context_tokens", 0, "context_tokens is 0; it must be 1 or more"),
        ("max_concurrency", 0, "max_concurrency is 0; it must be 1 or more"),
        ("timeout_seconds", 0.0, "timeout_seconds is 0.0; it must be above 0"),
        ("timeout_seconds", float("inf"), "timeout_seconds is inf"),
        ("connect_seconds", float("nan"), "connect_seconds is nan"),
        ("input_price", -1.0, "input_price is -1.0; it must be 0 or more"),
        ("output_price", float("nan"), "output_price is nan"),
        ("extra", "[1]", "extra must be a JSON object"),
        ("extra", "{", "extra must be a JSON object"),
        ("extra", '{"stream": true, "model": "x"}', "extra sets model, stream"),
    ],
)
def test_a_field_that_cannot_be_used_is_named(field: str, value: object, said: str) -> None:
    with pytest.raises(SettingError, match=said.replace("[", r"\[")):
        Profile(**{"base_url": "http://localhost/v1", "model": "m", field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "address", "root", "local"),
    [
        ("http://localhost:8000/v1", ("localhost", 8000), "http://localhost:8000", True),
        ("https://Models.Example/api/v1/", ("models.example", 443), "https://Models.Example/api", False),
        ("http://[::1]/v1", ("::1", 80), "http://[::1]", True),
        ("http://127.0.0.7:1", ("127.0.0.7", 1), "http://127.0.0.7:1", True),
        ("http://gpu.localhost/v1", ("gpu.localhost", 80), "http://gpu.localhost", True),
        ("http://localhost.example/v1", ("localhost.example", 80), "http://localhost.example", False),
    ],
)
def test_an_address_is_taken_apart(url: str, address: tuple[str, int], root: str, *, local: bool) -> None:
    profile = Profile(url, "m", input_price=0.0, context_tokens=8192)

    assert (profile.address, profile.root, profile.is_local) == (address, root, local)
