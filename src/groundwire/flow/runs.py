"""Runs: what a command was given, what it asked and what it made, written down so that it can be replayed and compared.

A command wraps its work in ``recorded``. A replay is the same command with the replies of its run: it makes no call,
and it is refused where a setting, an input, a prompt or a seed is not what it was.
"""

from __future__ import annotations

import hashlib
import logging
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version

from groundwire.core.answers import Answer
from groundwire.core.errors import CannotDo
from groundwire.core.language import Capabilities, LanguageModel, Reply, Request
from groundwire.core.ports import Progress
from groundwire.core.secrets import hide
from groundwire.flow.ledger import AskMode, Ledger
from groundwire.flow.manifests import Kind, Manifest, RunState, flat, known_capabilities, new_run_id, provenance
from groundwire.flow.pace import Limits
from groundwire.flow.plan import Account, Budget, Plan, Price, plan
from groundwire.flow.settings import Loaded
from groundwire.flow.traffic import Asking, ask, capabilities

_log = logging.getLogger(__name__)


class ReplayDiffers(CannotDo):
    """A replay was given something else than its run was."""


class PlanOnly(CannotDo):
    """A dry run has come to its first calls; ``plans`` say what they would come to, one a model."""

    def __init__(self, *planned: Plan) -> None:
        super().__init__("\n".join(line for each in planned for line in each.lines()))
        self.plans = planned


@dataclass(frozen=True, slots=True)
class How:
    """How a run may call models: limits, budget, mode, prices by model id; ``dry_run`` plans and calls nothing."""

    limits: Limits = field(default_factory=Limits)
    budget: Budget = field(default_factory=Budget)
    mode: AskMode = "resume"
    prices: Mapping[str, Price] = field(default_factory=dict)
    dry_run: bool = False


class RecordedModel:
    """Stands for a model in a replay: knows what the model could do, and answers nothing."""

    def __init__(self, name: str, capabilities: Capabilities) -> None:
        """Name the model, and say what it could do."""
        self.id = name
        self._capabilities = capabilities

    def capabilities(self) -> Capabilities:
        """What the model could do when it was asked."""
        return self._capabilities

    def reply(  # the port's signature
        self,
        request: Request,
        *,
        timeout_seconds: float,  # noqa: ARG002
        on_text: Callable[[str], None] | None = None,  # noqa: ARG002
    ) -> Reply:
        """Refuse.

        Raises:
            CannotDo: always.
        """
        raise CannotDo(f"a replay makes no calls, but '{self.id}' was asked for '{request.purpose}'")


class Recording:
    """A run under way: takes down what it is given and makes, and asks its models.

    ``ledger`` is where. In a replay it compares instead, and writes nothing; ``differences`` names the outputs that
    came out otherwise.
    """

    def __init__(self, manifest: Manifest, *, ledger: Ledger, how: How, replayed: Manifest | None = None) -> None:
        """Begin; ``recorded`` does it for you."""
        self.run = replayed.id if replayed else manifest.id
        self.differences: tuple[str, ...] = ()
        self._manifest = manifest
        self.ledger = ledger
        self._how = how
        self._replayed = replayed
        self._notes: dict[str, dict[str, str]] = {"inputs": {}, "seeds": {}, "prompts": {}, "outputs": {}}
        self._models: dict[str, Mapping[str, object]] = {}
        self._asking = Asking(
            ledger,
            manifest.id,
            limits=how.limits,
            account=Account(how.budget),
            mode="replay" if replayed else how.mode,
            replay_of=self.run if replayed else "",
            prices=how.prices,
        )

    @property
    def started(self) -> str:
        """When the run began, ISO 8601 with its zone; in a replay when the run that is replayed did."""
        return (self._replayed or self._manifest).started

    def input(self, name: str, content: bytes) -> None:
        """Take down what was read, by its hash."""
        self._note("inputs", name, hashlib.sha256(content).hexdigest())

    def seed(self, name: str, value: int) -> None:
        """Take down a seed."""
        self._note("seeds", name, str(value))

    def prompt(self, name: str, fingerprint: str) -> None:
        """Take down the fingerprint of a prompt."""
        self._note("prompts", name, fingerprint)

    def output(self, name: str, content: bytes) -> None:
        """Take down what was made, by its hash; the same name again counts as the same output made anew."""
        self._note("outputs", name, hashlib.sha256(content).hexdigest())

    def model(self, name: str, make: Callable[[], LanguageModel]) -> LanguageModel:
        """A model of the run; in a replay one that answers nothing, and nothing is made.

        Raises:
            ReplayDiffers: the run that is replayed did not use it.
        """
        if self._replayed is None:
            made = make()
            known = known_capabilities(self.ledger, made.id)
            self._models[made.id] = asdict(known) if known else {}
            self._save(RunState.RUNNING)
            return made
        if name not in self._replayed.models:
            raise ReplayDiffers(f"the run {self.run} did not use the model '{name}'")
        return RecordedModel(name, self._replayed.capabilities(name))

    def price(self, model: str) -> Price | None:
        """What a million tokens of a model cost, where it is known."""
        return self._how.prices.get(model)

    def capabilities(self, model: LanguageModel) -> Capabilities:
        """What a model of the run can do: as the ledger knows, or by asking it.

        A dry run sends nothing: a model that nobody has asked yet is planned for as if it could do everything.
        """
        noted = self._models.get(model.id)
        if noted or self._replayed or not self._how.dry_run:
            return Capabilities(**noted) if noted else self._noted(model)  # type: ignore[arg-type]  # by asdict
        _log.warning("what '%s' can do is not known before it is asked; the plan takes it to do everything", model.id)
        return Capabilities(schema=True, logprobs=20, likelihood=True)

    def _noted(self, model: LanguageModel) -> Capabilities:
        """What a model says that it can do, taken down."""
        found = capabilities(model, asking=self._asking)
        self._models[model.id] = asdict(found)
        self._save(RunState.RUNNING)
        return found

    def ask(
        self,
        requests: Sequence[Request],
        *,
        model: LanguageModel,
        progress: Progress | None = None,
        only_fitting: bool = False,
    ) -> tuple[Answer, ...]:
        """``traffic.ask`` for this run.

        Raises:
            PlanOnly: it is a dry run, and the ledger does not have all replies.
        """
        if self._how.dry_run and not self._replayed:
            return self._planned(requests, model=model, progress=progress)
        answers = ask(requests, model=model, asking=self._asking, progress=progress, only_fitting=only_fitting)
        if not self._replayed and not all(answer.recorded for answer in answers):
            self._models[model.id] = asdict(model.capabilities())
            self._save(RunState.RUNNING)
        return answers

    def _planned(
        self, requests: Sequence[Request], *, model: LanguageModel, progress: Progress | None
    ) -> tuple[Answer, ...]:
        planned = plan(
            requests,
            model=model,
            ledger=self.ledger,
            price=self._how.prices.get(model.id),
            mode=self._how.mode,
            capabilities=known_capabilities(self.ledger, model.id),
        )
        if planned.calls:
            raise PlanOnly(planned)
        from_ledger = Asking(self.ledger, self._manifest.id, mode="replay")
        return ask(requests, model=model, asking=from_ledger, progress=progress)

    def provenance(self) -> str:
        """The run as JSON without anything that a replay would change: no times, no id, no folder, no outputs."""
        return provenance(self.ledger, self._replayed or self._current())

    def _note(self, kind: Kind, name: str, value: str) -> None:
        self._notes[kind][name] = value
        if self._replayed is None:
            self._save(RunState.RUNNING)
            return
        before = self._replayed.noted(kind).get(name, "")
        if before == value:
            return
        if kind == "outputs":
            self.differences = (*self.differences, name)
            return
        was = f"was {before[:12]}" if before else "did not have it"
        raise ReplayDiffers(
            f"the {kind.removesuffix('s')} '{name}' is {value[:12]}, but the run {self.run} {was}. Restore it to"
            " replay the run, or make a new run"
        )

    def _current(self) -> Manifest:
        notes = {kind: dict(values) for kind, values in self._notes.items()}
        return replace(
            self._manifest,
            models=dict(self._models),
            prompts=notes["prompts"],
            seeds=notes["seeds"],
            inputs=notes["inputs"],
            outputs=notes["outputs"],
        )

    def _save(self, state: RunState, *, reason: str = "") -> None:
        if self._replayed or self._how.dry_run:
            return
        ended = "" if state == RunState.RUNNING else _now().isoformat(timespec="milliseconds")
        manifest = replace(self._current(), ended=ended, reason=reason)
        self.ledger.put_run(manifest.id, manifest.as_text(), state=state)


@contextmanager
def recorded(
    ledger: Ledger,
    *,
    command: Sequence[str],
    settings: Loaded,
    folder: str = "",
    how: How | None = None,
    replay_of: Manifest | None = None,
) -> Iterator[Recording]:
    """Take down a run for the length of a ``with`` block.

    Args:
        ledger: where.
        command: the words that would make the same run again.
        settings: of the run.
        folder: where it is run.
        how: limits, budget and mode; None: the defaults.
        replay_of: the run that this replays; then nothing is written.

    Raises:
        ReplayDiffers: a setting is not what it was.
    """
    started = _now()
    manifest = Manifest(
        id=new_run_id(started),
        command=tuple(hide(word) for word in command),
        folder=folder,
        versions={"groundwire": version("groundwire"), "python": platform.python_version()},
        settings=settings.settings.model_dump(mode="json"),
        origins=dict(settings.origins),
        started=started.isoformat(timespec="milliseconds"),
    )
    if replay_of is not None:
        _require_same_settings(manifest, replay_of)
    recording = Recording(manifest, ledger=ledger, how=how or How(), replayed=replay_of)
    recording._save(RunState.RUNNING)
    try:
        yield recording
    except BaseException as error:
        state = RunState.INTERRUPTED if isinstance(error, KeyboardInterrupt) else RunState.STOPPED
        if isinstance(error, SystemExit) and error.code in (0, 1, None):  # an answer, not a fault
            state = RunState.DONE
        reason = "" if state == RunState.DONE else hide(f"{type(error).__name__}: {error}")
        recording._save(state, reason=reason)
        raise
    recording._save(RunState.DONE)


def _require_same_settings(now: Manifest, then: Manifest) -> None:
    before = flat(then.settings)
    for name, value in flat(now.settings).items():
        if name in before and before[name] != value:
            raise ReplayDiffers(
                f"the setting {name} is {value}, but the run {then.id} was made with {before[name]}. Set it back to"
                " replay the run, or make a new run"
            )


def _now() -> datetime:
    return datetime.now(UTC)
