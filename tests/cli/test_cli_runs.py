"""The commands about runs, and the options of commands that call models, around a small command of our own."""

import json
import sys
from decimal import Decimal
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from groundwire.cli.main import main
from groundwire.cli.runs import RunOptions, recording_of, run_options, runs
from groundwire.cli.upkeep import settings_of
from groundwire.core.errors import CannotDo, GroundwireError, UsageError
from groundwire.core.language import Usage
from groundwire.flow.answers import RunOverBudget
from groundwire.flow.ledger import Ledger
from groundwire.flow.pace import Limits
from groundwire.flow.plan import Price
from simulated import Fake, busy, reply, requests

PRICES = {"fake:one": Price(Decimal("2.5"), Decimal(10))}
QUICK = Limits(first_wait_seconds=0.001, attempts=2, at_first=1, at_once=1)


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class World:
    """A command ``write COUNT`` that asks a fake model, beside ``runs``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.model = Fake()
        self.suffix = ""
        self.status = 0
        self._patch = monkeypatch

    def group(self) -> click.Group:
        @click.group(context_settings=main.context_settings)  # a command keeps the help option that it first had
        def root() -> None:
            pass

        @root.command()
        @run_options
        @click.argument("count", type=int)
        def write(run: RunOptions, count: int) -> None:
            """Write."""
            with recording_of(settings_of({}), run=run, limits=QUICK, prices=PRICES) as recording:
                recording.seed("draws", 7)
                answers = recording.ask(requests(count), model=recording.model("fake:one", lambda: self.model))
                text = "\n".join(answer.reply.text if answer.reply else "–" for answer in answers) + self.suffix
                Path("out.txt").write_text(text)
                recording.output("out.txt", text.encode())
                click.echo(text)
                if self.status:
                    sys.exit(self.status)

        root.add_command(runs)
        return root

    def __call__(self, *words: str) -> Result:
        self._patch.setattr(sys, "argv", ["groundwire", *words])
        return CliRunner().invoke(self.group(), words)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def raised(result: Result) -> GroundwireError:
    assert isinstance(result.exception, GroundwireError), result.output
    return result.exception


def test_a_command_is_taken_down_listed_and_shown(world: World) -> None:
    Path("groundwire.toml").write_text("threads = 2\n")
    world.model = Fake(script={"question 1": [busy("down")] * 3})
    made = world("write", "3")
    assert made.exit_code == 0
    assert made.stdout == "0\n–\n2\n"
    assert "2 calls answered, 2 failed; 14 tokens in, 6 out, 0.000095 USD" in made.stderr

    (row,) = json.loads(world("runs", "list", "--json").stdout)
    assert row["command"] == "write 3"
    assert (row["state"], row["calls"], row["failed"], row["unanswered"]) == ("done", "2", "2", "0")
    assert (row["tokens"], row["money"]) == ("20", "0.000095 USD")
    assert row["run"] in world("runs", "list").stdout

    shown = world("runs", "show", "last").stdout
    for part in (
        f"run        {row['run']} (done)",
        "command    write 3",
        "3, 1 of them without a reply",
        "calls      2 answered, 2 failed, 0 sent and never answered",
        "money      0.000095 USD",
        "seeds      draws  7",
        "outputs    out.txt  ",
        "model      fake:one",
        "context_tokens None",
        "setting    threads (groundwire.toml)",
    ):
        assert part in shown
    manifest = json.loads(world("runs", "show", row["run"], "--json").stdout)
    assert manifest["command"] == ["write", "3"]
    assert [call["failure"] for call in manifest["calls"]] == [None, "busy", None]


def test_calls_that_were_never_answered_are_said(world: World) -> None:
    world("write", "1")
    with Ledger("groundwire.ledger") as ledger:
        run = ledger.runs()[-1].id
        ledger.claim(requests(9)[8], model="fake:one", run=run, lease_seconds=60)
    assert "1 sent and never answered" in world("runs", "show", "last").stdout


def test_a_run_of_everything_from_the_ledger_pays_nothing_and_says_nothing(world: World) -> None:
    world("write", "2")
    again = world("write", "2")
    assert "calls answered" not in again.stderr
    assert len(world.model.calls) == 2
    fresh = world("write", "2", "--fresh")
    assert "2 calls answered" in fresh.stderr
    assert len(world.model.calls) == 4


def test_a_replay_makes_the_same_again_without_a_model(world: World) -> None:
    first = world("write", "3")
    world.model = Fake(script={"*": [ValueError("a replay makes no calls")]})
    Path("out.txt").unlink()
    again = world("runs", "replay", "last")
    assert (again.exit_code, again.stdout) == (0, first.stdout)
    assert "1 outputs; the command's exit status is 0" in again.stderr
    assert Path("out.txt").read_text() == "0\n1\n2"
    assert len(json.loads(world("runs", "list", "--json").stdout)) == 1


def test_a_replay_tells_the_status_of_its_command_and_is_well_itself(world: World) -> None:
    world.status = 1
    assert world("write", "3").exit_code == 1
    again = world("runs", "replay", "last")
    assert again.exit_code == 0
    assert "the command's exit status is 1" in again.stderr


def test_a_replay_that_comes_out_otherwise_says_what_differs(world: World) -> None:
    world("write", "3")
    world.suffix = "!"
    again = world("runs", "replay", "last")
    assert again.exit_code == 1
    assert "differs: out.txt" in again.stderr


def test_a_replay_elsewhere_says_where_the_run_was_made(world: World, tmp_path: Path) -> None:
    world("write", "1", "--ledger", str(tmp_path / "mine"))
    (tmp_path / "elsewhere").mkdir()
    world._patch.chdir(tmp_path / "elsewhere")
    again = world("runs", "replay", "last", "--ledger", str(tmp_path / "mine"))
    assert again.exit_code == 0
    assert f"the run was made in {tmp_path}" in again.stderr


def test_a_replay_takes_the_settings_that_the_run_was_made_with(world: World) -> None:
    world("write", "1")
    Path("groundwire.toml").write_text("threads = 3\n")
    again = world("runs", "replay", "last")
    assert again.exit_code == 0
    assert "the same as" in again.stderr


def test_a_command_that_takes_nothing_down_cannot_be_replayed(world: World) -> None:
    world("write", "1")
    with Ledger("groundwire.ledger") as ledger:
        (row,) = ledger.runs()
        ledger.put_run(row.id, row.manifest.replace('["write", "1"]', '["runs", "list"]'), state="done")
    again = world("runs", "replay", "last")
    assert again.exit_code == 1
    assert "was not made again as it was" in again.stderr


def test_runs_are_compared(world: World) -> None:
    world("write", "2")
    world("write", "2")
    world.model = Fake(script={"*": ["no"]})
    world("write", "2", "--fresh")
    ids = [row["run"] for row in json.loads(world("runs", "list", "--json").stdout)]
    same = world("runs", "diff", ids[0], ids[1])
    assert (same.exit_code, same.stdout) == (0, "")
    assert "do not differ" in same.stderr
    other = world("runs", "diff", ids[0], ids[2])
    assert other.exit_code == 1
    assert other.stdout.startswith(f"reply: number 1, rating\n  {ids[0]}  ")
    as_json = json.loads(world("runs", "diff", ids[0], "last", "--json").stdout)
    assert as_json["step"] == "reply"


def test_a_dry_run_prints_the_plan_and_makes_no_call(world: World) -> None:
    world("write", "1")
    planned = world("write", "4", "--dry-run")
    assert planned.exit_code == 0
    assert "fake:one: 4 requests, 0 of them repeated, 1 in the ledger, 3 calls to make" in planned.stdout
    assert "money: up to 0.000" in planned.stdout
    assert "nothing was sent" in planned.stderr
    assert len(world.model.calls) == 1
    assert len(json.loads(world("runs", "list", "--json").stdout)) == 1


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        (("--budget-calls", "2"), 2),
        (("--budget-tokens", "200"), 2),
        (("--budget", "0.0006"), 2),
        (("--budget", "0"), 0),
    ],
)
def test_a_budget_stops_a_run_and_more_of_it_goes_on(world: World, words: tuple[str, str], calls: int) -> None:
    world.model = Fake(script={"*": [reply("y", tokens=(50, 10))]})
    stopped = raised(world("write", "9", *words))
    assert isinstance(stopped, RunOverBudget)
    assert f"{calls} of 9 requests are answered and kept" in str(stopped)
    assert len(world.model.calls) == calls
    (row,) = json.loads(world("runs", "list", "--json").stdout)
    assert row["state"] == "stopped"
    assert world("write", "9").exit_code == 0
    assert len(world.model.calls) == 9


@pytest.mark.parametrize("amount", ["much", "nan", "inf", "2,50"])
def test_an_amount_that_is_none_is_refused(world: World, amount: str) -> None:
    refused = world("write", "1", "--budget", amount)
    assert refused.exit_code == 2
    assert f"'{amount}' is no amount of money" in refused.stderr


def test_a_budget_below_nothing_is_refused(world: World) -> None:
    assert isinstance(raised(world("write", "1", "--budget=-1")), UsageError)


@pytest.mark.parametrize("words", [["list"], ["show", "last"], ["replay", "last"], ["diff", "a", "b"]])
def test_without_a_ledger_nothing_is_made(world: World, words: list[str]) -> None:
    assert isinstance(raised(world("runs", *words)), CannotDo)
    assert not Path("groundwire.ledger").exists()


def run_ids() -> list[str]:
    with Ledger("groundwire.ledger") as ledger:
        return [row.id for row in ledger.runs()]


def test_old_runs_are_pruned_and_those_that_stay_can_still_be_replayed(world: World) -> None:
    for count in ("2", "3", "4"):
        world("write", count)
    first, second, last = run_ids()
    size = Path("groundwire.ledger").stat().st_size

    tried = world("runs", "prune", "--keep", "1", "--dry-run")
    assert (tried.exit_code, run_ids()) == (0, [first, second, last])
    assert "2 runs would go with 0 calls, 3 of dropped runs stay for others; 1 runs stay; a dry run" in tried.stderr
    assert Path("groundwire.ledger").stat().st_size == size

    done = world("runs", "prune", "--keep", "1", "--json")
    assert done.exit_code == 0
    assert [row["run"] for row in json.loads(done.stdout)] == [first, second]
    assert "2 runs went with 0 calls, 3 of dropped runs stay for others; 1 runs stay; the file is" in done.stderr
    assert run_ids() == [last]
    calls = len(world.model.calls)
    assert world("runs", "replay", "last").exit_code == 0
    assert len(world.model.calls) == calls

    nothing = world("runs", "prune", "--older-than", "1")
    assert (nothing.exit_code, run_ids()) == (0, [last])
    assert "0 runs went with 0 calls, 3 of dropped runs stay for others; 1 runs stay" in nothing.stderr
    assert "1 runs went with 4 calls; 0 runs stay" in world("runs", "prune", "--older-than", "0").stderr
    assert run_ids() == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "say which runs go: --older-than DAYS, --keep N, or both"),
        (("--keep", "-1"), "-1"),
        (("--older-than", "-0.5"), "-0.5"),
        (("--older-than", "nan"), "nan"),
        (("--older-than", "99999999"), "99999999"),
    ],
)
def test_pruning_without_a_measure_is_refused(world: World, words: tuple[str, ...], said: str) -> None:
    world("write", "1")

    done = world("runs", "prune", *words)

    assert done.exit_code == 2
    assert said in done.stderr
    assert len(run_ids()) == 1


def test_pruning_without_a_ledger_is_said(world: World) -> None:
    assert "there is no ledger groundwire.ledger" in str(raised(world("runs", "prune", "--keep", "3")))


def test_what_was_estimated_is_said_in_the_bill(world: World) -> None:
    cut = busy("the stream was cut")
    cut.spent = Usage(40, 2, estimated=True)
    world.model = Fake(script={"question 0": [cut, "yes"]})

    done = world("write", "1")

    assert "1 calls answered, 1 failed; 47 tokens in, 5 out (42 of them estimated), 0.0001675 USD" in done.stderr
    assert "tokens     47 in (0 cached), 5 out (42 of them estimated)" in world("runs", "show", "last").stdout
