"""The pytest plugin, run inside a pytest of its own; nothing is loaded before a test asks for the fixture."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from groundwire.core.errors import UsageError
from groundwire.evaluation.conditions import Condition, GateOptions
from groundwire.pytest_plugin import MARKER, Gate, Undecided, gate_of

GOOD, BAD, NEAR = [0.8, 0.82, 0.81], [0.1, 0.12, 0.11], [0.62, 0.58, 0.61]


@dataclass
class Marked:
    """A marker as the fixture sees it, without one that pytest would have to know."""

    args: tuple[object, ...]
    kwargs: dict[str, object]


def marked(*args: object, **kwargs: object) -> Marked:
    return Marked(args, kwargs)


@pytest.fixture
def gate() -> Gate:
    return Gate(GateOptions())


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, values in {"good": GOOD, "bad": BAD, "near": NEAR}.items():
        Path(f"{name}.csv").write_text("id,f1\n" + "".join(f"q{n},{value}\n" for n, value in enumerate(values)))


def test_a_condition_that_holds_gives_back_what_was_found(gate: Gate) -> None:
    assert gate.at_least("f1", 0.6, new=GOOD).held[0].value.n == 3
    assert gate.at_most("f1", 0.6, new=BAD).outcome == "passed"
    assert gate.better("f1", new=GOOD, old=BAD).outcome == "passed"
    assert gate.not_worse("f1", margin=0.1, new={"a": 0.5, "b": 0.6}, old={"b": 0.59, "a": 0.5}).outcome == "passed"


def test_failed_and_undecided_are_two_exceptions_with_the_words(gate: Gate) -> None:
    with pytest.raises(AssertionError, match=r"failed: f1 is at least 0.6: 0.11 \[") as failed:
        gate.at_least("f1", 0.6, new=BAD)
    assert not isinstance(failed.value, Undecided)
    with pytest.raises(Undecided, match="undecided, 304 more items needed: f1 is at least"):
        gate.at_least("f1", 0.6, new=NEAR)


@pytest.mark.usefixtures("files")
def test_files_are_read_and_several_are_repeats(gate: Gate) -> None:
    assert gate.better("f1", new="good.csv", old=Path("bad.csv")).outcome == "passed"
    assert gate.at_least("f1", -9, new=["near.csv", "good.csv"]).held[0].unit == "runs"
    found = gate.hold([Condition("better", "f1"), Condition("at_least", "f1", 0.6)], new="good.csv", old="bad.csv")
    assert found.outcome == "passed"
    with pytest.raises(AssertionError, match=r"(?s)failed: f1 is at least 0.9.*passed: f1 is at least 0.2"):
        gate.hold([Condition("at_least", "f1", 0.9), Condition("at_least", "f1", 0.2)], new="good.csv")


@pytest.mark.usefixtures("files")
def test_what_makes_no_sense_is_refused(gate: Gate) -> None:
    with pytest.raises(UsageError, match="'f1 is at least 1' has no results"):
        gate.at_least("f1", 1)
    with pytest.raises(UsageError, match="'f1 is better' has no results"):
        gate.better("f1", new=GOOD)
    with pytest.raises(UsageError, match="one side is files and the other values"):
        gate.better("f1", new="good.csv", old=BAD)
    with pytest.raises(UsageError, match="one side is files and the other values"):
        gate.better("f1", new=GOOD, old="bad.csv")
    with pytest.raises(UsageError, match="several conditions take result files"):
        gate.hold([Condition("at_least", "f1", 1)], new=GOOD)
    with pytest.raises(UsageError, match="several conditions take result files"):
        gate.hold([Condition("at_least", "f1", 1)])


@pytest.mark.parametrize(("undecided", "raised"), [("skip", pytest.skip.Exception), ("xfail", pytest.xfail.Exception)])
def test_undecided_skips_or_is_expected_where_it_may(undecided: str, raised: type[Exception]) -> None:
    gate = gate_of([marked(undecided=undecided)])
    with pytest.raises(raised, match="undecided, 304 more"):
        gate.at_least("f1", 0.6, new=NEAR)
    with pytest.raises(AssertionError, match="failed: "):
        gate.at_least("f1", 0.9, new=NEAR)


def test_the_nearest_marker_goes_first() -> None:
    near, far = marked(level=0.9), marked(level=0.8, new=GOOD, lower=["f1"])
    gate = gate_of([near, far])
    assert (gate.options.level, gate.new, gate.options.lower_is_better) == (0.9, GOOD, frozenset({"f1"}))
    assert gate_of([]) == Gate(GateOptions())


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        (marked("new.jsonl"), "takes names"),
        (marked(newest=[1]), "was given {'newest'"),
        (marked(undecided="perhaps"), "undecided is 'fail', 'skip' or 'xfail'"),
    ],
)
def test_a_marker_that_makes_no_sense_is_refused(mark: Marked, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        gate_of([mark])


INNER = """
import pytest
from groundwire.pytest_plugin import Undecided

pytestmark = pytest.mark.groundwire(new=[0.62, 0.58, 0.61], old={"0": 0.1, "1": 0.12, "2": 0.11})

def test_better(groundwire_gate):
    groundwire_gate.better("f1")

def test_failed(groundwire_gate):
    groundwire_gate.at_least("f1", 0.9)

def test_undecided(groundwire_gate):
    groundwire_gate.at_least("f1", 0.6)

@pytest.mark.groundwire(undecided="skip")
def test_skipped(groundwire_gate):
    groundwire_gate.at_least("f1", 0.6)

@pytest.mark.groundwire(undecided="xfail")
def test_expected(groundwire_gate):
    groundwire_gate.at_least("f1", 0.6)

@pytest.mark.groundwire(level=0.6, lower=["f1"], coverage=0.5)
def test_less_is_better(groundwire_gate):
    assert groundwire_gate.options.level == 0.6
    with pytest.raises(AssertionError):
        groundwire_gate.better("f1")

def test_no_file(groundwire_gate):
    groundwire_gate.at_least("f1", 0.6, new="none.csv")

@pytest.mark.groundwire(undecided="perhaps")
def test_unknown_choice(groundwire_gate):
    pass

@pytest.mark.groundwire(newest=[1])
def test_unknown_name(groundwire_gate):
    pass

@pytest.mark.groundwire("new.jsonl")
def test_without_name(groundwire_gate):
    pass
"""


@pytest.fixture(scope="module")
def inner(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("inner")
    (folder / "test_inner.py").write_text(INNER)
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "--strict-markers", "-o", "addopts="]
    # By its entry point where this installation has it, and else by name: twice would be refused.
    from importlib.metadata import entry_points

    if "groundwire" not in {one.name for one in entry_points(group="pytest11")}:
        words += ["-p", "groundwire.pytest_plugin"]
    shown = subprocess.run(words, check=False, cwd=folder, capture_output=True, text=True).stdout
    return shown.replace(" - reason: undecided", " - undecided")  # pytest 8.3 says what it is


@pytest.mark.parametrize(
    "line",
    [
        "PASSED test_inner.py::test_better",
        "PASSED test_inner.py::test_less_is_better",
        "FAILED test_inner.py::test_failed - AssertionError: failed: f1 is at least 0",
        "FAILED test_inner.py::test_undecided - groundwire.pytest_plugin.Undecided: un",
        "XFAIL test_inner.py::test_expected - undecided, 304 more items needed: f1 is",
        "ERROR test_inner.py::test_unknown_choice - groundwire.core.errors.UsageError",
        "ERROR test_inner.py::test_unknown_name - groundwire.core.errors.UsageError",
        "ERROR test_inner.py::test_without_name - groundwire.core.errors.UsageError",
        "Undecided: undecided, 304 more items needed: f1 is at least 0.6: 0.6033 [",
        '>       groundwire_gate.at_least("f1", 0.6)',
        '>       groundwire_gate.at_least("f1", 0.6, new="none.csv")',
        "E       groundwire.core.errors.UnreadableInput: none.csv is not there",
        "3 failed, 2 passed, 1 skipped, 1 xfailed, 3 errors in ",
    ],
)
def test_inside_pytest_each_outcome_is_told_apart(inner: str, line: str) -> None:
    assert line in inner, inner


def test_what_cannot_be_read_is_said_without_our_insides(inner: str) -> None:
    assert "flow/results.py" not in inner
    assert "flow/gate.py" not in inner


def test_the_marker_is_registered_and_its_words_name_what_the_fixture_takes() -> None:
    assert MARKER.startswith("groundwire(")
    assert all(name in MARKER for name in ("new", "old", "undecided", "level", "coverage", "lower", "bridge"))


def test_the_plugin_loads_nothing_that_other_test_runs_would_pay_for() -> None:
    script = (
        "import sys, pytest, _pytest.fixtures\nbefore = set(sys.modules)\nimport groundwire.pytest_plugin\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert loaded == ["groundwire", "groundwire.pytest_plugin"]
