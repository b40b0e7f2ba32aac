"""Docs say what the code does: generated pages are current, links lead somewhere, names and commands exist."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click
import pytest

import groundwire

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]
)


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATE = load(ROOT / "docs" / "generate.py")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize(("page", "written"), [("commands.md", "commands_page"), ("settings.md", "settings_page")])
def test_the_reference_is_current(page: str, written: str) -> None:
    expected = getattr(GENERATE, written)()
    assert (ROOT / "docs" / "reference" / page).read_text("utf-8") == expected, "run: python docs/generate.py"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text("utf-8"))
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing


def shell_lines() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for block in re.findall(r"```sh\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            yield from ((name(page), line) for line in block.splitlines() if line.startswith("groundwire "))


@pytest.mark.parametrize(("page", "line"), list(shell_lines()))
def test_commands_and_flags_in_the_docs_exist(page: str, line: str) -> None:
    words = line.partition(" #")[0].split()[1:]
    found: click.Command = GENERATE.command
    while isinstance(found, click.Group):
        assert words[0] in found.commands, f"{page}: {line}"
        found = found.commands[words.pop(0)]
    flags = {flag for option in found.params for flag in option.opts}
    assert {word for word in words if re.match(r"--?[a-z]", word)} <= flags, f"{page}: {line}"


def test_every_public_name_can_be_had_and_is_sorted() -> None:
    assert groundwire.__all__ == sorted(groundwire.__all__)
    for public in groundwire.__all__:
        assert getattr(groundwire, public) is not None
    assert set(groundwire.__all__) <= set(dir(groundwire))
    with pytest.raises(AttributeError, match="open_archive"):
        groundwire.open_archives  # noqa: B018


def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert code is not None
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stories").mkdir()
    story = (
        "The harbour was flooded on Monday night. Flood relief reached 300 homes in the harbour by Tuesday. "
        "The mayor thanked the crews and asked for 20 more boats. Blankets, pumps and bread came from three towns."
    )
    (tmp_path / "stories" / "a.md").write_text(f"# Flood relief in the harbour\n\n{story}", "utf-8")
    names: dict[str, object] = {}

    exec(code[1].replace("local:e5-small", "hash:64"), names)  # noqa: S102 - our own example

    verdicts = names["verdicts"]
    assert isinstance(verdicts, tuple)
    assert {verdict.support for verdict in verdicts} == {"supported"}


def test_errors_of_the_tree_are_drawn_in_its_docstring() -> None:
    from groundwire.core import errors

    named = {found for found, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    assert named == set(re.findall(r"\b([A-Z]\w+)\b(?= |\n)", errors.__doc__ or "")) & named
