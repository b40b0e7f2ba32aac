"""Changing settings in a file: what is meant changes, and no line is lost."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.errors import CannotDo, SettingError
from groundwire.flow.settings import load
from groundwire.flow.settings_file import write_settings

CHOSEN = {"mode": "hybrid", "sentence_weight": 0.5, "k": 40}
LINES = '[search]\nmode = "hybrid"\nsentence_weight = 0.5\nk = 40\n'


def written(tmp_path: Path, before: str, values: dict[str, str | float | int] = CHOSEN) -> str:
    path = tmp_path / "groundwire.toml"
    path.write_bytes(before.encode())
    write_settings(path, values)
    return path.read_bytes().decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", LINES),
        ("# mine\nthreads = 2", f"# mine\nthreads = 2\n\n{LINES}"),
        ("[pack]\nheaders = true\n", f"[pack]\nheaders = true\n\n{LINES}"),
        (
            '# a\n[search] # how\nmode = "dense"  # was best\n\n[pack] # x\n',
            '# a\n[search] # how\nmode = "hybrid"  # was best\nsentence_weight = 0.5\nk = 40\n\n[pack] # x\n',
        ),
        ("[search]", LINES.rstrip("\n")),
        (
            "[search]\nsentence_weight=0.9\nphrases = true",
            '[search]\nsentence_weight=0.5\nphrases = true\nmode = "hybrid"\nk = 40',
        ),
        (
            "threads = 2\r\n[search]\r\nk = 7 # few\r\n",
            'threads = 2\r\n[search]\r\nk = 40 # few\r\nmode = "hybrid"\r\nsentence_weight = 0.5\r\n',
        ),
        (
            "[search]\nmode = 'dense'\nk = 1\nsentence_weight = 0\n",
            '[search]\nmode = "hybrid"\nk = 40\nsentence_weight = 0.5\n',
        ),
    ],
)
def test_keys_are_set_where_they_stand_and_all_else_stays(tmp_path: Path, before: str, after: str) -> None:
    assert written(tmp_path, before) == after
    assert load(folder=tmp_path, environment={}, flags={}).settings.search.sentence_weight == 0.5


@pytest.mark.parametrize(
    "before",
    [
        'search = { mode = "dense" }\n',
        'search.mode = "dense"\n',
        '[search]\n"mode" = "dense"\n',
        '[ "search" ]\nmode = "dense"\n',
        '[read.map]\ntext = """\n[search]\n"""\n',
        "search = 3\n",
    ],
)
def test_a_form_that_cannot_be_changed_safely_is_left_as_it_is(tmp_path: Path, before: str) -> None:
    with pytest.raises(CannotDo, match=r'was left as it is.*Set mode = "hybrid", sentence_weight = 0.5, k = 40'):
        written(tmp_path, before)
    assert (tmp_path / "groundwire.toml").read_text() == before
    assert [path.name for path in tmp_path.iterdir()] == ["groundwire.toml"]


def test_what_is_no_toml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="not readable as TOML"):
        written(tmp_path, "[search\n")
    assert (tmp_path / "groundwire.toml").read_text() == "[search\n"


def test_a_file_that_is_not_there_is_made_and_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "shared.toml", tmp_path / "groundwire.toml"
    link.symlink_to(target)

    write_settings(link, CHOSEN)

    assert link.is_symlink()
    assert target.read_text() == LINES


def test_who_may_read_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "groundwire.toml"
    path.write_text("threads = 2\n")
    path.chmod(0o600)
    write_settings(path, CHOSEN)
    assert path.stat().st_mode & 0o777 == 0o600


_lines = st.sampled_from(
    ["# mode = 1", "", "threads = 3", "[read]", "[search]", "[pack]", 'mode = "dense"', "k = 5 # five",
     "headers = true", "  k=6", "[read.map]", 'text = "mode = #"', 'preset = "best"', "[[search]]", 'x = """', '"""']
)  # fmt: skip


@given(st.lists(_lines, max_size=9), st.booleans())
def test_whatever_the_file_holds_it_says_what_was_meant_or_is_left_alone(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], windows: bool
) -> None:
    before = ("\r\n" if windows else "\n").join(lines)
    path = tmp_path_factory.mktemp("settings") / "groundwire.toml"
    path.write_bytes(before.encode())
    try:
        write_settings(path, CHOSEN)
    except (CannotDo, SettingError):
        assert path.read_bytes().decode() == before
        return
    after = path.read_bytes().decode()
    tree = tomllib.loads(before)
    assert tomllib.loads(after) == {**tree, "search": {**tree.get("search", {}), **CHOSEN}}
    changed = [line for line in before.splitlines() if line not in after.splitlines()]
    assert all(line.strip().startswith(tuple(CHOSEN)) for line in changed)
