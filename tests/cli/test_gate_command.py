"""``groundwire gate``: three outcomes, three exit statuses."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from groundwire.cli.gate import gate
from groundwire.cli.main import main as real
from groundwire.core.errors import UsageError


@click.group()
def main() -> None:
    """The command under test, joined as in the real one."""


main.add_command(gate)


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, values in {"new": (0.62, 0.58, 0.61), "good": (0.8, 0.82, 0.81), "bad": (0.1, 0.12, 0.11)}.items():
        Path(f"{name}.csv").write_text("id,f1\n" + "".join(f"q{n},{value}\n" for n, value in enumerate(values)))


def call(*words: str) -> Result:
    return CliRunner().invoke(main, ["gate", *words])


@pytest.mark.parametrize(
    ("words", "status", "first"),
    [
        (("good.csv", "--at-least", "f1=0.6"), 0, "passed: f1 is at least 0.6: 0.81 ["),
        (("bad.csv", "--at-least", "f1=0.6"), 1, "failed: f1 is at least 0.6: 0.11 ["),
        (("new.csv", "--at-least", "f1=0.6"), 4, "undecided, 304 more items needed: f1 is at least 0.6: 0.6033 ["),
        (("bad.csv", "--at-most", "f1=0.6"), 0, "passed: f1 is at most 0.6: 0.11 ["),
        (("good.csv", "--against", "bad.csv", "--better", "f1"), 0, "passed: f1 is better: +0.7 ["),
        (("bad.csv", "--against", "good.csv", "--not-worse-than", "f1=0.1"), 1, "failed: f1 is not worse by more"),
        (("bad.csv", "--against", "good.csv", "--better", "f1", "--lower", "f1"), 0, "passed: f1 is better: -0.7 ["),
    ],
)
def test_each_outcome_has_its_exit_status(words: tuple[str, ...], status: int, first: str) -> None:
    done = call(*words)
    assert done.exit_code == status, done.output
    assert done.stdout.startswith(first)
    assert len(done.stdout.splitlines()) == 1
    assert "judged by: as given" in done.stderr


def test_of_several_conditions_the_worst_counts() -> None:
    done = call("new.csv", "--against", "bad.csv", "--better", "f1", "--at-least", "f1=0.6", "--at-most", "f1=0.2")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-1] == "failed"
    assert "3 conditions at 0.95 together: Holm's steps, the worst counts" in done.stderr
    assert call("new.csv", "--against", "bad.csv", "--better", "f1", "--at-least", "f1=0.6").exit_code == 4


def test_json_and_junit_hold_everything() -> None:
    done = call("good.csv", "--at-least", "f1=0.6", "--json", "--junit", "out/gate.xml", "--level", "0.9")
    found = json.loads(done.stdout)
    assert done.exit_code == 0
    assert (found["outcome"], found["level"]) == ("passed", 0.9)
    assert found["conditions"][0]["value"]["n"] == 3
    assert found["conditions"][0]["condition"] == {"kind": "at_least", "measure": "f1", "bound": 0.6}
    assert found["conditions"][0]["words"].startswith("passed: f1")
    assert Path("out/gate.xml").read_text().startswith("<testsuite")
    assert "wrote out/gate.xml" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("new.csv",), "there is no condition"),
        (("new.csv", "--at-least", "f1"), "--at-least 'f1' is not of the form MEASURE=NUMBER"),
        (("new.csv", "--at-least", "=3"), "is not of the form"),
        (("new.csv", "--not-worse-than", "f1=x"), "--not-worse-than 'f1=x' is not of the form"),
        (("new.csv", "--better", "f1"), "need old results to compare with; give them with --against"),
    ],
)
def test_what_makes_no_sense_is_refused(words: tuple[str, ...], said: str) -> None:
    done = call(*words)
    assert isinstance(done.exception, UsageError)
    assert said in str(done.exception)


def test_fields_under_names_of_their_own_are_mapped() -> None:
    Path("own.csv").write_text("key,f1\na,0.8\nb,0.82\nc,0.81\n")
    assert call("own.csv", "--map", "id=key", "--at-least", "f1=0.6").exit_code == 0


def test_the_real_command_has_it() -> None:
    assert real.commands["gate"] is gate
