"""What a run was given and what it made, as it stands in the ledger: reading, finding and comparing runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Literal, Self
from uuid import uuid4

from pydantic import ValidationError

from groundwire.core.errors import SettingError, UnreadableInput, UsageError
from groundwire.core.language import Capabilities
from groundwire.flow.answers import failure_from_text
from groundwire.flow.ledger import Ledger
from groundwire.flow.records import RunRow, Use
from groundwire.flow.settings import Loaded, Settings

FORMAT = 1
_SHOWN = 60

Kind = Literal["inputs", "seeds", "prompts", "outputs"]
Step = Literal["settings", "inputs", "seeds", "prompts", "models", "request", "reply", "outputs"]


class RunState(StrEnum):
    """How a run ended; one that is ``running`` without its process was killed."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    KILLED = "killed"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a run was given and what it made; hashes are SHA-256 in hexadecimal digits.

    Attributes:
        id: sorts by time.
        command: the words after ``groundwire``.
        folder: where it was run.
        versions: of groundwire and of Python.
        settings: all of them, as JSON values.
        origins: where each setting that is no default came from.
        models: what each model could do, by id; nothing where none was called and no earlier run knew.
        prompts: fingerprints, by name.
        seeds: by what they are for.
        inputs: hashes, by name.
        outputs: hashes, by name.
        started: when, in UTC.
        ended: when; empty while it runs.
        reason: why it ended early; empty where it did not.
    """

    id: str
    command: tuple[str, ...]
    folder: str
    versions: Mapping[str, str]
    settings: Mapping[str, object]
    origins: Mapping[str, str]
    models: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    seeds: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    started: str = ""
    ended: str = ""
    reason: str = ""

    def as_text(self) -> str:
        """As the JSON that the ledger keeps."""
        return json.dumps({"format": FORMAT, **asdict(self)})

    @classmethod
    def from_text(cls, text: str, *, where: str) -> Self:
        """The manifest that ``as_text`` wrote.

        Raises:
            UnreadableInput: it is not such a text, or a later groundwire wrote it.
        """
        try:
            content = json.loads(text)
            if content.pop("format") != FORMAT:
                raise ValueError("it has another format")
            content["command"] = tuple(content["command"])
            return cls(**content)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UnreadableInput(f"the manifest of {where} is not as this groundwire writes it ({error})") from error

    def noted(self, kind: Kind) -> Mapping[str, str]:
        """What was noted of a kind, by name."""
        return {"inputs": self.inputs, "seeds": self.seeds, "prompts": self.prompts, "outputs": self.outputs}[kind]

    def capabilities(self, model: str) -> Capabilities:
        """What a model of the run could do.

        Raises:
            UnreadableInput: what was noted is not of this groundwire.
        """
        known = {each.name for each in fields(Capabilities)}
        noted = dict(self.models[model])
        if set(noted) - known:
            raise UnreadableInput(f"the run {self.id} noted of '{model}' what this groundwire does not know: {noted}")
        return Capabilities(**noted)  # type: ignore[arg-type]  # written by asdict, names checked above

    def loaded(self) -> Loaded:
        """The settings that the run was made with.

        Raises:
            SettingError: this groundwire no longer has one of them.
        """
        try:
            return Loaded(Settings.model_validate(dict(self.settings)), dict(self.origins))
        except ValidationError as error:
            name = ".".join(str(part) for part in error.errors()[0]["loc"])
            raise SettingError(
                f"the run {self.id} was made with the setting {name}, which this groundwire does not take:"
                f" {error.errors()[0]['msg']}. Replay it with groundwire {self.versions.get('groundwire', '?')}"
            ) from error


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a ledger."""

    manifest: Manifest
    state: RunState


@dataclass(frozen=True, slots=True)
class Difference:
    """The first step in which two runs differ: what kind of step, which one, and what it is in either run."""

    step: Step
    name: str
    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.step}: {self.name}: {self.first} | {self.second}"


def new_run_id(now: datetime) -> str:
    """An id that sorts by time, to the millisecond, and is not given twice: ``20260131-142501-123-9f3c``."""
    return f"{now:%Y%m%d-%H%M%S}-{now.microsecond // 1000:03d}-{uuid4().hex[:4]}"


def runs_of(ledger: Ledger) -> tuple[Run, ...]:
    """All runs of a ledger, the oldest first."""
    return tuple(_run(row) for row in ledger.runs())


def find_run(ledger: Ledger, name: str) -> Run:
    """The run of this id, or the one whose id begins so; ``last``: the latest.

    Raises:
        UsageError: there is none, or several.
    """
    rows = ledger.runs()
    found = rows[-1:] if name == "last" else [row for row in rows if row.id.startswith(name)]
    if len(found) == 1:
        return _run(found[0])
    if not found:
        raise UsageError(f"{ledger.path} has no run '{name}'; 'groundwire runs list' lists all {len(rows)}")
    raise UsageError(f"{len(found)} runs of {ledger.path} begin with '{name}', such as {found[0].id}; name one whole")


def old_runs(
    ledger: Ledger, *, older_than_days: int | None = None, keep: int | None = None, now: datetime | None = None
) -> tuple[Run, ...]:
    """The runs that are over and old enough to go, the oldest first.

    Args:
        ledger: whose.
        older_than_days: those that ended (or, killed, began) longer ago than this; None: of any age.
        keep: all but the latest so many runs; None: any. With both, a run goes only where both say so.
        now: None: by the clock.
    """
    rows = runs_of(ledger)
    old = [run for run in rows[: max(0, len(rows) - (keep or 0))] if run.state != RunState.RUNNING]
    if older_than_days is None:
        return tuple(old)
    latest = (now or datetime.now(UTC)) - timedelta(days=older_than_days)
    return tuple(run for run in old if _ended(run.manifest) <= latest)


def _ended(manifest: Manifest) -> datetime:
    return datetime.fromisoformat(manifest.ended or manifest.started)


def known_capabilities(ledger: Ledger, model: str) -> Capabilities | None:
    """What a model was last found to do by a run of this ledger; None: no run knows."""
    for run in reversed(runs_of(ledger)):
        if run.manifest.models.get(model):
            return run.manifest.capabilities(model)
    return None


def provenance(ledger: Ledger, manifest: Manifest) -> str:
    """A run as JSON without anything that a replay would change: no times, no id, no folder, no outputs."""
    calls = [
        {
            "place": use.place,
            "key": use.key,
            "model": use.model,
            "purpose": use.purpose,
            "reply": hashlib.sha256(use.reply.encode()).hexdigest() if use.reply is not None else None,
            "failure": failure_from_text(use.failure, where=manifest.id).kind if use.failure else None,
        }
        for use in ledger.uses(manifest.id)
    ]
    content = {
        "format": FORMAT,
        "command": manifest.command,
        "versions": manifest.versions,
        "settings": manifest.settings,
        "models": manifest.models,
        "prompts": manifest.prompts,
        "seeds": manifest.seeds,
        "inputs": manifest.inputs,
        "calls": calls,
    }
    return json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True)


def first_difference(ledger: Ledger, *, first: Manifest, second: Manifest) -> Difference | None:
    """The first step in which two runs differ; None: there is none.

    In this order: settings, inputs, seeds, prompts, models, then every request with its reply, then outputs. How the
    command was spelt and when it ran do not count.
    """
    return next(_differences(ledger, first, second), None)


def flat(settings: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    """Nested settings as dotted names with JSON values, in order of name."""
    found: dict[str, str] = {}
    for key, value in sorted(settings.items()):
        if isinstance(value, Mapping):
            found.update(flat(value, f"{prefix}{key}."))
        else:
            found[prefix + key] = json.dumps(value, ensure_ascii=False)
    return found


def _run(row: RunRow) -> Run:
    state = RunState(row.state)
    if state == RunState.RUNNING and not row.alive:
        state = RunState.KILLED
    return Run(Manifest.from_text(row.manifest, where=f"the run {row.id}"), state)


def _differences(ledger: Ledger, first: Manifest, second: Manifest) -> Iterator[Difference]:
    yield from _between("settings", flat(first.settings), flat(second.settings))
    yield from _between("inputs", first.inputs, second.inputs)
    yield from _between("seeds", first.seeds, second.seeds)
    yield from _between("prompts", first.prompts, second.prompts)
    yield from _between("models", flat(first.models), flat(second.models))
    ones, others = ledger.uses(first.id), ledger.uses(second.id)
    for one, other in zip(ones, others, strict=False):
        yield from _between_uses(one, other)
    for use in ones[len(others) :]:
        yield Difference("request", _numbered(use), use.key[:12], "–")
    for use in others[len(ones) :]:
        yield Difference("request", _numbered(use), "–", use.key[:12])
    yield from _between("outputs", first.outputs, second.outputs)


def _between(step: Step, first: Mapping[str, str], second: Mapping[str, str]) -> Iterator[Difference]:
    for name in sorted({*first, *second}):
        if first.get(name) != second.get(name):
            yield Difference(step, name, *_shown(first.get(name, "–"), second.get(name, "–")))


def _numbered(use: Use) -> str:
    return f"number {use.place + 1}" + (f", {use.purpose}" if use.purpose else "")


def _between_uses(first: Use, second: Use) -> Iterator[Difference]:
    name = _numbered(first)
    if first.key != second.key:
        parts = [{"model": each.model, **json.loads(each.request)} for each in (first, second)]
        yield from (
            Difference("request", f"{name}, {part}", *_shown(str(parts[0][part]), str(parts[1][part])))
            for part in parts[0]
            if parts[0][part] != parts[1].get(part)
        )
    outcomes = [each.reply or each.failure or "–" for each in (first, second)]
    if outcomes[0] != outcomes[1]:
        yield Difference("reply", name, *_shown(*outcomes))


def _shown(first: str, second: str) -> tuple[str, str]:
    """Two texts from shortly before they part, cut short."""
    same = next((at for at, (one, other) in enumerate(zip(first, second, strict=False)) if one != other), 0)
    start = max(0, same - _SHOWN // 3)
    return _window(first, start), _window(second, start)


def _window(text: str, start: int) -> str:
    before, after = "…" if start else "", "…" if len(text) > start + _SHOWN else ""
    return f"{before}{text[start : start + _SHOWN]}{after}"
