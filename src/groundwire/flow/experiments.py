"""Questions x systems of the settings -> a file of items a system, which ``judge``, ``compare`` and ``report`` read.

A system is a table ``[systems.NAME]``: what it sets in ``search``, ``pack`` and ``answer``. What a model is asked goes
through the ledger, so a run that was killed goes on where it was, and its files come out as they would have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from groundwire.core.errors import UsageError
from groundwire.core.ports import Progress
from groundwire.evaluation.rows import RejectedRow, RowError, kind_of, numbered, parsed, value_of, whole
from groundwire.flow.answering import CheckedAnswer, answer_all
from groundwire.flow.plan import Price
from groundwire.flow.settings import Settings, system_settings
from groundwire.flow.sourcing import Assistant
from groundwire.retrieval.index import Archive

_FILE_NAME = re.compile(r"[\w.-]{1,100}")
_ID = ("id", "question_id", "qid", "query_id", "_id")
_QUESTION = ("question", "query", "user_input", "input")
_REFERENCE = ("answers", "answer", "reference", "expected_output", "ground_truth")
_CLUSTER = ("cluster", "article", "group")


@dataclass(frozen=True, slots=True)
class AskedOfAll:
    """A question that every system gets; ``reference`` is the first right answer, None where the file has none."""

    id: str
    text: str
    reference: str | None = None
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class AskedReading:
    """The questions of a file; each of its ``rows`` is one of them or a reject."""

    questions: tuple[AskedOfAll, ...]
    rejects: tuple[RejectedRow, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class SystemRun:
    """What one system made of all questions: ``rows`` as they stand in ``file``."""

    system: str
    file: Path
    rows: tuple[Mapping[str, object], ...]

    def count(self, outcome: str) -> int:
        """How many answers have this outcome."""
        return sum(row["outcome"] == outcome for row in self.rows)

    @property
    def unscored(self) -> int:
        """How many replies were no answer, and no word that there is none."""
        return sum(row["outcome"] not in ("read", "recovered", "abstained") for row in self.rows)


Ask = Callable[[str], AbstractContextManager[Assistant]]
"""From the name of a model to the assistant that asks it."""


def read_asked(path: Path) -> AskedReading:
    """Read questions, one JSON object a line: ``id``, ``question`` and, where known, ``answers`` or ``reference``.

    Raises:
        UnreadableInput: the file is not there or is not a file.
    """
    questions: list[AskedOfAll] = []
    rejects: list[RejectedRow] = []
    lines: dict[str, int] = {}
    rows = 0
    for number, line in numbered(path):
        rows += 1
        try:
            found = _asked(parsed(line), number)
            if found.id in lines:
                raise RowError(f"the id '{found.id}' was already read on line {lines[found.id]}")
        except RowError as unfit:
            rejects.append(RejectedRow(number, str(unfit)))
            continue
        lines[found.id] = number
        questions.append(found)
    return AskedReading(tuple(questions), tuple(rejects), rows)


def run_systems(
    archive: Archive,
    questions: Sequence[AskedOfAll],
    *,
    settings: Settings,
    folder: Path,
    ask: Ask | None = None,
    progress: Progress | None = None,
) -> tuple[SystemRun, ...]:
    """Let every system answer every question; a file a system is written as soon as the system is done.

    Args:
        archive: of all systems.
        questions: in the order of the files.
        settings: with the tables of the systems, which run in their order.
        folder: where ``SYSTEM.jsonl`` is written; made where it is not there.
        ask: opens a model by its name; not needed where no system names one. Where its run knows a price, the cost
            stands in the row.
        progress: told how far the calls of a system are.

    Raises:
        UsageError: there are no questions or no systems, a name is unfit for a file, or a model is named without
            ``ask``.
        SettingError: a table sets what there is not.
        ModelError, BudgetReached, CannotDo: as ``traffic.ask``; what was answered is in the ledger.
    """
    chosen = _systems(settings)
    if not questions:
        raise UsageError("there are no questions to ask; give a file with one JSON object a line: id and question")
    models = sorted({each.answer.model for each in chosen.values() if each.answer.model})
    if models and ask is None:
        raise UsageError(f"the systems name the models {', '.join(models)}, and nothing is given that asks them")
    folder.mkdir(parents=True, exist_ok=True)
    done = []
    for name, how in chosen.items():
        opened = ask(how.answer.model) if ask and how.answer.model else nullcontext(None)
        with opened as assistant:
            texts = [question.text for question in questions]
            found = answer_all(archive, texts, settings=how, assistant=assistant, progress=progress)
            price = assistant.recording.price(assistant.model.id) if assistant else None
        rows = tuple(_row(name, question, each, price=price) for question, each in zip(questions, found, strict=True))
        file = folder / f"{name}.jsonl"
        _write(file, rows)
        done.append(SystemRun(name, file, rows))
    return tuple(done)


def systems_models(settings: Settings) -> tuple[str, ...]:
    """The models that the systems name, each once, sorted.

    Raises:
        UsageError, SettingError: as ``run_systems``.
    """
    return tuple(sorted({each.answer.model for each in _systems(settings).values() if each.answer.model}))


def _systems(settings: Settings) -> dict[str, Settings]:
    """The settings of each system; every table is checked before anything is asked."""
    if not settings.systems:
        raise UsageError(
            "there are no systems. Name some in groundwire.toml, such as [systems.best] with search.preset = 'best'"
        )
    unfit = [name for name in settings.systems if not _FILE_NAME.fullmatch(name) or name.startswith(".")]
    if unfit:
        raise UsageError(f"the system '{unfit[0]}' cannot name a file; use letters, digits, '-', '_' and '.'")
    return {name: system_settings(settings, name) for name in settings.systems}


def _row(system: str, question: AskedOfAll, found: CheckedAnswer, *, price: Price | None) -> dict[str, object]:
    """One answer as it is written; costs only where a model was asked."""
    answered, call = found.answered, found.call
    row: dict[str, object] = {
        "system": system,
        "id": question.id,
        "question": question.text,
        "contexts": [hit.sentence.text for hit in answered.evidence.hits],
        "answer": answered.text,
        "reference": question.reference,
        "outcome": answered.outcome,
        "reason": answered.reason,
        "evidence_tokens": answered.evidence.tokens,
        "citations": [[each.document_id, each.start, each.end] for each in answered.citations],
        "support": [verdict.support for verdict in found.verdicts],
    }
    if question.cluster:
        row["cluster"] = question.cluster
    if call is not None and call.reply is not None:
        usage = call.reply.usage
        row |= {"tokens": usage.input_tokens + usage.output_tokens, "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens, "seconds": round(call.seconds, 3)}  # fmt: skip
        if price is not None:
            row["cost"] = float(price.of(usage).amount)
    return row


def _write(file: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write a file whole or not at all: a kill leaves no half of one."""
    unfinished = file.with_name(f".{file.name}.unfinished")
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(file)


def _asked(row: Mapping[str, object], number: int) -> AskedOfAll:
    text = _text(value_of(row, _QUESTION, field="question"), "question")
    if not text.strip():
        raise RowError(f"there is no question; it stands under one of: {', '.join(_QUESTION)}")
    identity = _text(value_of(row, _ID, field="id"), "id") or f"q{number}"
    known = next((row[name] for name in _REFERENCE if row.get(name)), None)
    first = known[0] if isinstance(known, list) else known
    reference = None if first is None else _text(first, "reference")
    return AskedOfAll(identity, text, reference, _text(value_of(row, _CLUSTER, field="cluster"), "cluster"))


def _text(value: object, field: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RowError(f"the {field} is {kind_of(value)}, not a text")
    return whole(value, field)
