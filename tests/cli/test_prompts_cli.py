"""The commands about prompts: which there are, how they read, what the user's own change."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from groundwire.cli.main import main
from groundwire.cli.prompts import prompts
from groundwire.core.errors import UsageError
from groundwire.core.prompts import LANGUAGES, load, names


def call(*words: str | Path) -> Result:
    done = CliRunner().invoke(main, ["prompts", *(str(word) for word in words)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "own"
    own.mkdir()
    text = load("rating", "zh-TW").text.replace("你在新聞編輯部挑選資料來源。", "你是編輯。")
    (own / "rating.zh-TW.md").write_text(text, encoding="utf-8")
    return own


def test_every_prompt_is_listed_with_its_fingerprint_and_whose_it_is(folder: Path) -> None:
    rows = json.loads(call("list", "--folder", folder, "--json").stdout)

    assert [(row["name"], row["language"]) for row in rows] == [(name, tag) for name in names() for tag in LANGUAGES]
    assert [(row["name"], row["language"]) for row in rows if row["whose"] == "yours"] == [("rating", "zh-TW")]
    assert len({row["fingerprint"] for row in rows}) == len(rows)
    assert "rubrics-ccrs-shared" in call("list").stdout


def test_a_prompt_is_shown_as_its_file_so_that_it_can_be_copied(folder: Path) -> None:
    ours = call("show", "rating", "--language", "zh-TW")
    used = call("show", "rating", "--language", "zh-TW", "--folder", folder)

    assert ours.stdout == load("rating", "zh-TW").text
    assert used.stdout == (folder / "rating.zh-TW.md").read_text(encoding="utf-8")
    assert load("rating", "zh-TW").fingerprint in ours.stderr
    assert str(folder) in used.stderr


def test_what_yours_change_is_printed_and_shows_in_the_exit_status(folder: Path) -> None:
    changed = call("diff", "rating", "--language", "zh-TW", "--folder", folder)
    none = call("diff", "rating", "--folder", folder)
    (folder / "verify.en.md").write_text(load("verify").text, encoding="utf-8")
    same = call("diff", "verify", "--folder", folder)

    assert changed.exit_code == 1
    assert "-你在新聞編輯部挑選資料來源。請評估一則來源對指定主題的報導有多大用處。" in changed.stdout.splitlines()
    assert "+你是編輯。請評估一則來源對指定主題的報導有多大用處。" in changed.stdout.splitlines()
    assert (none.exit_code, none.stdout) == (0, "")
    assert "no rating.en.md of yours" in none.stderr
    assert (same.exit_code, same.stdout) == (0, "")


def test_the_folder_of_the_settings_is_used_where_none_is_given(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_PROMPTS", str(folder))
    used = call("show", "rating", "--language", "zh-TW")
    monkeypatch.delenv("GROUNDWIRE_PROMPTS")
    ours = call("show", "rating", "--language", "zh-TW")

    assert "你是編輯。" in used.stdout
    assert ours.stdout == load("rating", "zh-TW").text


def test_an_unknown_prompt_and_a_missing_folder_are_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="there is no prompt 'rate'"):
        call("show", "rate")
    with pytest.raises(UsageError, match="is not there"):
        call("list", "--folder", folder / "none")


def test_a_file_that_takes_nothings_place_is_said(folder: Path) -> None:
    quiet = call("list", "--folder", folder)
    (folder / "ratings.en.md").write_text("x", encoding="utf-8")
    listed = call("list", "--folder", folder)

    assert "takes no" not in quiet.stderr
    assert f"{folder}/ratings.en.md takes no instruction's place" in listed.stderr
    assert listed.stdout == quiet.stdout


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", names())
def test_a_copy_of_any_prompt_takes_its_place(name: str, language: str, tmp_path: Path) -> None:
    ours = load(name, language)
    (tmp_path / f"{name}.{language}.md").write_text(ours.text.rstrip("\n") + "\nMine too.\n", encoding="utf-8")

    used = load(name, language, folder=tmp_path)
    differs = call("diff", name, "--language", language, "--folder", tmp_path)

    assert used.fingerprint != ours.fingerprint
    assert differs.exit_code == 1
    assert "+Mine too." in differs.stdout.splitlines()


def test_the_group_says_what_its_commands_do() -> None:
    assert isinstance(prompts, click.Group)
    assert {"list", "show", "diff"} == set(prompts.commands)
    assert all(command.help for command in prompts.commands.values())
