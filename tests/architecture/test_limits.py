"""The limits of the style guide: sizes, arguments, words and what an import may load."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "groundwire"
MODULES = sorted(SOURCE.rglob("*.py"))

# More than the style guide's first guess of 50: six capabilities in modules of 400 lines, and reading dates, numbers,
# encodings and formats well takes a module each. Each has tests of its own.
MOST_MODULES = 250
MOST_MODULE_LINES = 400
MOST_FUNCTION_LINES = 40
MOST_PARAMETERS = 6
MOST_POSITIONAL = 2


def name(module: Path) -> str:
    return module.relative_to(SOURCE).as_posix()


def functions(module: Path) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            yield node


def body_lines(node: ast.FunctionDef) -> int:
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def parameters(node: ast.FunctionDef) -> tuple[list[ast.arg], list[ast.arg]]:
    positional = [*node.args.posonlyargs, *node.args.args]
    if positional and positional[0].arg in ("self", "cls"):
        positional = positional[1:]
    return positional, node.args.kwonlyargs


def is_command(node: ast.FunctionDef) -> bool:
    """A click command takes a parameter for every option that its help shows, all given by name."""
    return any("option" in ast.unparse(found) or "command" in ast.unparse(found) for found in node.decorator_list)


def test_the_package_has_few_modules() -> None:
    counted = [module for module in MODULES if module.name != "__init__.py"]
    assert len(counted) <= MOST_MODULES


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_a_module_is_short_and_its_functions_small(module: Path) -> None:
    lines = module.read_text(encoding="utf-8").count("\n")
    assert lines <= MOST_MODULE_LINES
    for node in functions(module):
        assert body_lines(node) <= MOST_FUNCTION_LINES, f"{node.name} has {body_lines(node)} lines"
        if is_command(node):
            continue
        positional, named = parameters(node)
        assert len(positional) + len(named) <= MOST_PARAMETERS, f"{node.name} has too many parameters"
        public = not node.name.startswith("_")
        if public and ast.get_docstring(node) is not None and node.name != "__call__":
            assert len(positional) <= MOST_POSITIONAL or node.args.posonlyargs, (
                f"{node.name} takes too many by position"
            )
        assert node.args.kwarg is None, f"{node.name} takes **{node.args.kwarg and node.args.kwarg.arg}"


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_inheritance_has_one_level(module: Path) -> None:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    bases = {
        node.name: [ast.unparse(base) for base in node.bases]
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    for child, parents in bases.items():
        for parent in parents:
            grand = [base for base in bases.get(parent, []) if base not in ("Protocol", "BaseModel")]
            assert not grand or name(module) == "core/errors.py", f"{child} -> {parent} -> {grand}"


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_no_module_is_a_drawer_for_odds_and_ends(module: Path) -> None:
    assert module.stem not in ("utils", "helpers", "common", "misc")


@pytest.mark.parametrize("module", [m for m in MODULES if "backends" not in m.parts], ids=name)
def test_any_is_used_in_backends_only(module: Path) -> None:
    if name(module) == "core/ports.py":  # numpy's own name for "any float" needs it
        return
    text = module.read_text(encoding="utf-8")
    assert not re.search(r"\bAny\b", text)


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_banned_words_stay_out(module: Path) -> None:
    assert not re.search(r"\balpha\b", module.read_text(encoding="utf-8"), re.IGNORECASE)


def test_importing_groundwire_loads_only_numpy_from_outside() -> None:
    script = "import sys; before = set(sys.modules); import groundwire; print('\\n'.join(set(sys.modules) - before))"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    outside = {module.partition(".")[0] for module in found} - set(sys.stdlib_module_names) - {"groundwire", "numpy"}
    assert not {module for module in outside if not module.startswith("_")}


def test_the_help_of_the_command_loads_no_engine() -> None:
    script = (
        "import sys\nfrom groundwire.cli.main import run\nsys.argv = ['groundwire', '--help']\n"
        "try:\n    run()\nexcept SystemExit:\n    print(*sys.modules, file=sys.stderr)"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stderr.split()
    heavy = {"lancedb", "pyarrow", "onnxruntime", "onnx", "tokenizers", "pydantic", "jinja2", "rich", "trafilatura"}
    assert "click" in loaded
    assert not heavy & set(loaded)
