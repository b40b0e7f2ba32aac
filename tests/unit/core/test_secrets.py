import copy
import json
import logging
import pickle
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pprint import pformat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.errors import SettingError
from groundwire.core.secrets import STARS, Secret, hide

CANARY = "sk-test-CANARY"
KEYS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=60)


@dataclass(frozen=True, slots=True)
class Holder:
    key: Secret


@pytest.mark.parametrize(
    "show",
    [
        repr,
        str,
        format,
        json.dumps,
        pformat,
        copy.copy,
        copy.deepcopy,
        lambda secret: f"{secret!s:>20}{secret!r}{secret}",
        lambda secret: "%s %r" % (secret, secret),  # noqa: UP031 - the old way is tried on purpose
        lambda secret: "".join([secret, "+", secret.encode().decode()]),
        lambda secret: str(asdict(Holder(secret))),
        lambda secret: json.dumps(asdict(Holder(secret))),
        lambda secret: repr(Holder(secret)),
        lambda secret: str(pickle.loads(pickle.dumps(secret))),  # noqa: S301 - our own bytes
        lambda secret: pickle.dumps(secret, protocol=0).decode("latin-1"),
        lambda secret: pickle.dumps(Holder(secret)).decode("latin-1"),
        lambda secret: str(getattr(secret, "__dict__", "")) + STARS,
    ],
)
def test_a_secret_shows_stars_however_it_is_shown(show: Callable[[Secret], str]) -> None:
    shown = show(Secret(CANARY))

    assert "CANARY" not in shown
    assert STARS in shown


def test_a_secret_gives_its_value_to_the_method_that_is_asked_for_it() -> None:
    assert Secret(f"  {CANARY}\n").reveal() == CANARY


def test_a_logged_secret_is_stars(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("test").info("the key is %s, %r", Secret(CANARY), {"key": Secret(CANARY)})

    assert "CANARY" not in caplog.text


def test_secrets_are_equal_by_value_and_never_to_a_text() -> None:
    assert Secret(CANARY) == Secret(CANARY)
    assert Secret(CANARY) != Secret("sk-test-OTHER")
    assert Secret(CANARY) != CANARY
    assert Secret(CANARY) != STARS
    assert len({Secret(CANARY), Secret(CANARY), Secret("other-key")}) == 2


def test_the_state_of_a_secret_cannot_be_taken() -> None:
    with pytest.raises(TypeError, match="no state"):
        Secret(CANARY).__getstate__()


@pytest.mark.parametrize("value", ["", "  \n", "ключ", "a\nb", "two\x00parts", "sk-test-CANARY\x7f"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(value: str) -> None:
    with pytest.raises(SettingError) as caught:
        Secret(value)

    assert "printable" in str(caught.value)
    assert not value.strip() or value not in str(caught.value)


def test_the_environment_gives_a_key_or_none() -> None:
    environment = {"KEY": f" {CANARY} ", "BLANK": " "}

    found = Secret.from_environment("KEY", environment)

    assert found is not None
    assert found.reveal() == CANARY
    assert Secret.from_environment("BLANK", environment) is None
    assert Secret.from_environment("MISSING", environment) is None


def test_a_broken_key_in_the_environment_is_named_by_its_variable() -> None:
    with pytest.raises(SettingError, match=r"^the environment variable KEY: ") as caught:
        Secret.from_environment("KEY", {"KEY": "sk-CANARY\nsecond line"})

    assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (f"bad key {CANARY}.", "bad key ***."),
        (f"{CANARY}{CANARY}", "******"),
        ("Bearer abcdefghijkl", "Bearer ***"),
        ("another key sk-live-0123456789 in it", "another key *** in it"),
        ("a risk-based view, task-oriented", "a risk-based view, task-oriented"),
        ("nothing to hide", "nothing to hide"),
    ],
)
def test_hiding_puts_stars_in_place_of_keys(text: str, hidden: str) -> None:
    assert hide(text, [Secret(CANARY)]) == hidden


def test_a_short_key_is_hidden_only_where_it_stands_as_a_word() -> None:
    assert hide("EMPTY is no key, EMPTYING neither", [Secret("EMPTY")]) == "*** is no key, EMPTYING neither"


@given(KEYS, st.text(max_size=30), st.text(max_size=30))
def test_no_key_of_eight_characters_survives_hiding(key: str, before: str, after: str) -> None:
    for form in (key, json.dumps(key), json.dumps({"k": key})):
        assert key not in hide(before + form + after, [Secret(key)]).replace(STARS, "\n")
