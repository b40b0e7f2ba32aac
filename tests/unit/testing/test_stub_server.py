"""The stub server itself, with a client of the standard library, also in another process."""

import json
import subprocess
import sys
import urllib.request

import pytest

import stub_server as stub
from stub_server import StubServer


def post(server: StubServer, body: object) -> object:
    asked = urllib.request.Request(  # noqa: S310 - our own address
        f"{server.base_url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(asked, timeout=5) as answer:  # noqa: S310
        return json.load(answer)["choices"][0]["message"]["content"]


def test_the_script_is_played_in_order_and_its_last_step_for_ever() -> None:
    with StubServer([stub.ok("one"), lambda body: stub.ok(body["model"]), stub.ok("last")]) as server:
        said = [post(server, {"model": "m"}) for _ in range(4)]

    assert said == ["one", "m", "last", "last"]
    assert [call.body for call in server.calls] == [{"model": "m"}] * 4


def test_another_process_plays_the_same_script_and_is_counted_here() -> None:
    script = (
        "import sys, urllib.request\n"
        "request = urllib.request.Request(sys.argv[1] + '/chat/completions', b'{}')\n"
        "print(urllib.request.urlopen(request, timeout=5).status)\n"
    )
    with StubServer() as server:
        done = subprocess.run([sys.executable, "-c", script, server.base_url], capture_output=True, check=True)

    assert done.stdout.split() == [b"200"]
    assert len(server.calls) == 1


def test_an_error_of_a_script_fails_the_test() -> None:
    def wrong(body: stub.Body) -> stub.Step:
        raise AssertionError(f"the script does not like {body}")

    with pytest.raises(AssertionError, match=r"does not like \{\}"), StubServer([wrong]) as server:  # noqa: PT012
        with pytest.raises(OSError, match=r"."):
            post(server, {})
        stub.wait_until(lambda: bool(server.calls))
