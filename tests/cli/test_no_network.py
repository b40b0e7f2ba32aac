"""What leaves this machine: nothing, unless a model elsewhere is asked; then calls to its host alone (CASES D2)."""

import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import pytest

from groundwire.cli.main import run

pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")

SAMPLE = Path(str(files("groundwire.sample"))) / "stories.jsonl"
TOPIC = "Typhoon Corva floods Wangchao"
CANARY = "sk-test-CANARY"
ITEM = {"id": "1", "question": "How far?", "contexts": ["It rose by two metres."], "answer": "Two metres."}
PAIRS = [
    {"topic": "river flood", "article": "The river flood rose on Monday.", "relevant": 1},
    {"topic": "river flood", "article": "Cake recipes for spring.", "relevant": 0},
]


class Guard:
    """Stands before every way in which Python opens a connection or asks for a name; only some may pass."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.tried: list[str] = []
        self.allowed: set[tuple[str, int]] = set()
        self._patch = patch

    def stand(self) -> None:
        for name in ("connect", "connect_ex", "sendto"):
            self._patch.setattr(socket.socket, name, self._watched(name))
        self._patch.setattr(socket, "getaddrinfo", self._watched_name(socket.getaddrinfo))

    def _watched(self, name: str) -> Callable[..., object]:
        real = getattr(socket.socket, name)

        def watched(own: socket.socket, *words: object) -> object:
            address = words[-1]
            if own.family == socket.AF_UNIX or address in self.allowed:
                return real(own, *words)
            self.tried.append(str(address))
            raise OSError(101, "Network is unreachable")

        return watched

    def _watched_name(self, real: Callable[..., object]) -> Callable[..., object]:
        def watched(host: str, port: int, *words: object, **more: object) -> object:
            if (host, port) in self.allowed:
                return real(host, port, *words, **more)
            self.tried.append(f"{host}:{port}")
            raise socket.gaierror(-3, "Temporary failure in name resolution")

        return watched


@pytest.fixture
def guard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guard:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_EMBEDDER", "hash:64")
    monkeypatch.setenv("FAR_KEY", CANARY)
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    Path("items.jsonl").write_text(json.dumps(ITEM) + "\n")
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in PAIRS))
    found = Guard(monkeypatch)
    found.stand()
    return found


def groundwire(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["groundwire", *words])
    with pytest.raises(SystemExit) as ended:
        run()
    return int(ended.value.code or 0)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds


def test_everything_built_in_works_and_connects_to_nobody(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    for words in (
        ("add", str(SAMPLE)),
        ("search", "typhoon"),
        ("write", TOPIC, "-o", "article.json", "-o", "article.md", "-o", "article.html"),
        ("verify", "article.json"),
        ("judge", "items.jsonl", "--embedder", "hash:64", "-o", "judgements.jsonl"),
        ("bench", "rate", "pairs.jsonl"),
        ("doctor",),
    ):
        assert groundwire(monkeypatch, *words) == 0, words

    assert guard.tried == []
    written = [path for path in Path().rglob("*") if path.is_file()]
    assert any(path.name == "article.md" for path in written)
    assert not [path for path in written if CANARY.encode() in path.read_bytes()]


def far(base_url: str, key: str = "") -> None:
    key_line = f'key_variable = "{key}"\n' if key else ""
    Path("groundwire.toml").write_text(f'[models.far]\nbase_url = "{base_url}"\nmodel = "m"\n{key_line}')


@pytest.mark.parametrize(
    ("base_url", "key", "told"),
    [
        ("http://models.example/v1", "", "models.example"),
        ("http://192.0.2.1:8000/v1", "FAR_KEY", "192.0.2.1:8000"),
        ("http://models.example/v1", "NO_SUCH_KEY", "NO_SUCH_KEY"),
    ],
)
def test_a_remote_model_without_network_or_key_fails_at_once_and_says_what_to_do(
    guard: Guard,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    base_url: str,
    key: str,
    told: str,
) -> None:
    pytest.importorskip("openai", reason="the extra 'remote' is not installed")
    far(base_url, key)
    words = ("bench", "rate", "pairs.jsonl", "--rater", "expected", "--model", "http:far")
    groundwire(monkeypatch, *words)  # loads what is loaded once
    capsys.readouterr()

    with within(1.0):
        status = groundwire(monkeypatch, *words)

    said = capsys.readouterr().err
    assert status == 3
    assert told in said
    assert CANARY not in said
    assert [tried for tried in guard.tried if "models.example" not in tried and "192.0.2.1" not in tried] == []
    assert CANARY.encode() not in Path("groundwire.ledger").read_bytes()


@pytest.mark.usefixtures("guard")
def test_doctor_names_a_model_that_does_not_answer_and_never_its_key(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("openai", reason="the extra 'remote' is not installed")
    far("http://models.example/v1", "FAR_KEY")

    assert groundwire(monkeypatch, "doctor", "--json") == 0

    rows = json.loads(capsys.readouterr().out)
    (row,) = [row for row in rows if row["part"] == "model" and "http:far" in row["about"]]
    assert row["state"] == "missing"
    assert "nothing answers at models.example:80" in row["about"]
    assert CANARY not in str(rows)
    assert os.environ["FAR_KEY"] == CANARY


def test_calls_go_to_the_configured_host_alone(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai", reason="the extra 'remote' is not installed")
    from stub_server import StubServer, ok

    with StubServer([ok('{"relevance": 80, "consistency": 70, "reason": "x"}')]) as server:
        host, port = server.base_url.removeprefix("http://").partition("/")[0].split(":")
        guard.allowed.add((host, int(port)))
        far(server.base_url, "FAR_KEY")

        status = groundwire(monkeypatch, "bench", "rate", "pairs.jsonl", "--rater", "readings", "--model", "http:far")

        asked = len(server.calls)
    assert status == 0
    assert asked >= 6
    assert guard.tried == []
    assert CANARY.encode() not in Path("groundwire.ledger").read_bytes()
