"""``groundwire write`` with a model and ``groundwire verify`` on anybody's article; the model is a scripted plug-in."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from groundwire.cli.main import main

STORY = {
    "id": "first",
    "title": "Harbour under water",
    "text": "The harbour of Port Ellery was flooded on Monday night. The water stood 2 metres high in Dock Street. "
    "Flood relief reached 300 homes by Tuesday. The mayor thanked the crews and asked for 20 more boats.",
    "published": "2024-05-07",
    "source": "Bay Post",
}
TOPIC = "Flood relief in the harbour of Port Ellery"
PLUGIN = """
import re
from groundwire.core.language import Capabilities
from groundwire.testing import ScriptedModel
asked = []
def make(rest):
    def script(request):
        asked.append(request)
        if rest == "down":
            raise RuntimeError("a replay called a model")
        ids = re.findall(r"^(S[0-9]+[.][0-9]+) (.*)$", request.messages[-1].text, re.MULTILINE)
        mark, words = ids[0]
        text = f"# Harbour of Port Ellery flooded on Monday night [{mark}]\\n\\n{words.rstrip('.')} [{mark}]."
        return text + (" Hundreds of homes got help." if rest == "loose" else "")
    return ScriptedModel(script, name=rest, capabilities=Capabilities(context_tokens=8192))
"""


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plug_in: Callable[[str, str], None]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "groundwire.toml").write_text("[write]\nbest_at_least = 5\n", "utf-8")
    monkeypatch.setenv("GROUNDWIRE_EMBEDDER", "hash:64")
    (tmp_path / "stories.jsonl").write_text(json.dumps(STORY) + "\n", "utf-8")
    plug_in("scripted_models", PLUGIN)


def call(monkeypatch: pytest.MonkeyPatch, *words: str) -> Result:
    monkeypatch.setattr(sys, "argv", ["groundwire", *words])
    return CliRunner().invoke(main, words)


def test_an_article_by_a_model_is_written_billed_and_replayed_to_the_byte(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    call(monkeypatch, "add", "stories.jsonl")
    done = call(monkeypatch, "write", TOPIC, "--model", "scripted:good", "-o", "a.md", "-o", "a.json", "-o", "a.html")
    assert done.exit_code == 0, done.output
    assert "1 calls answered" in done.stderr
    before = {name: (tmp_path / name).read_bytes() for name in ("a.md", "a.json", "a.html")}
    assert b"scripted:good" in before["a.json"]

    monkeypatch.delitem(sys.modules, "scripted_models")
    replayed = call(monkeypatch, "runs", "replay", "last")

    assert replayed.exit_code == 0, replayed.output
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    assert "scripted_models" not in sys.modules


def test_strict_writes_nothing_while_a_claim_is_not_supported_and_repair_makes_it_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    call(monkeypatch, "add", "stories.jsonl")
    words = ("write", TOPIC, "--model", "scripted:loose", "--strict", "-o", "a.md")
    refused = call(monkeypatch, *words)
    assert refused.exit_code == 1
    assert "Hundreds of homes got help." in refused.stderr
    assert "nothing was written" in refused.stderr
    assert not Path("a.md").exists()

    repaired = call(monkeypatch, *words, "--repair")
    assert repaired.exit_code == 0, repaired.output
    text = Path("a.md").read_text("utf-8")
    body, _, editor = text.partition("## Sources")
    assert "Hundreds of homes" not in body
    assert "Hundreds of homes" in editor


def test_a_dry_run_says_what_the_calls_come_to_and_makes_none(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    call(monkeypatch, "add", "stories.jsonl")
    done = call(monkeypatch, "write", TOPIC, "--model", "scripted:down", "--dry-run", "-o", "a.md")
    assert done.exit_code == 0, done.output
    assert "1 call" in done.stdout
    assert not Path("a.md").exists()


def test_a_preset_without_a_model_says_which_option_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    call(monkeypatch, "add", "stories.jsonl")
    done = call(monkeypatch, "write", TOPIC, "--preset", "best")
    assert done.exit_code != 0
    assert "--model" in str(done.exception)


def test_anybodys_article_is_checked_against_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "post.md").write_text("# Harbour under water\n\n" + STORY["text"], "utf-8")
    Path("theirs.md").write_text(
        "# Flood in Port Ellery\n\nThe water stood 2 metres high in Dock Street [1]. "
        "Flood relief reached 400 homes [1].\n\n## Sources\n\n1. Harbour under water\n",
        "utf-8",
    )
    done = call(monkeypatch, "verify", "theirs.md", "--sources", "sources")
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert any(line.startswith("supported") and "2 metres" in line for line in lines)
    assert any(line.startswith("contradicted") and "400 homes" in line for line in lines)
    assert "citations: recall 0.50" in done.stderr

    repaired = call(monkeypatch, "verify", "theirs.md", "--sources", "sources", "--repair")
    assert "+ Flood relief reached 300 homes" in repaired.stdout
    assert "400 homes" in Path("theirs.md").read_text("utf-8")


def test_an_article_is_checked_against_one_thing(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call(monkeypatch, "verify", "a.md", "--sources", "sources", "--archive", "x")
    assert "not both" in str(done.exception)
