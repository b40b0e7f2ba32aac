"""Answer questions from an archive, one by hand, or many by several systems."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from groundwire.cli import show
from groundwire.cli.filters import filters, where_of
from groundwire.cli.runs import RunOptions, recording_of, run_options
from groundwire.cli.upkeep import archive_of, archive_option, json_option, settings_of, snapshot_option
from groundwire.core.types import Preset

if TYPE_CHECKING:
    from groundwire.flow.answering import CheckedAnswer
    from groundwire.flow.experiments import Ask, SystemRun
    from groundwire.flow.runs import Recording
    from groundwire.flow.settings import Loaded
    from groundwire.flow.sourcing import Assistant

EXIT_YES, EXIT_NO = 0, 1


@click.command()
@click.argument("question")
@archive_option
@snapshot_option
@click.option("--model", metavar="NAME", help="Who answers: llama:NAME or http:NAME; default: sentences word for word.")
@click.option("--short", is_flag=True, help="Of a model: the answer alone, not a sentence.")
@click.option("--preset", type=click.Choice(get_args(Preset)), help="A way to search with a name.")
@click.option("--evidence", "evidence_tokens", type=click.IntRange(min=1), metavar="TOKENS",
              help="How much evidence is packed; default: 1200.")  # fmt: skip
@click.option("--answer-language", metavar="TAG", help="en, zh-TW or zh-CN; default: that of the question.")
@filters
@json_option
@run_options
def answer(run: RunOptions, question: str, archive: str | None, snapshot: str | None, model: str | None, short: bool,
           preset: str | None, evidence_tokens: int | None, answer_language: str | None, since: date | None,
           until: date | None, sources: tuple[str, ...], languages: tuple[str, ...], json_: bool) -> None:  # fmt: skip
    """Answer QUESTION from the archive: short, cited and checked.

    Exits with 1 when the archive does not say, and when what the answer says does not stand in its sources.

    Example: groundwire answer "How many homes had no power?" --evidence 600
    """
    from groundwire.flow.answering import answer as answered

    loaded = settings_of(
        {"archive": archive, "search.preset": preset, "search.budget_tokens": evidence_tokens, "answer.model": model,
         "answer.form": "short" if short else None, "answer.language": answer_language}
    )  # fmt: skip
    where = where_of(since, until, sources=sources, languages=languages)
    name = loaded.settings.answer.model
    with archive_of(loaded, snapshot=snapshot) as opened, ExitStack() as stack:
        assistant = None
        if name:
            recording = stack.enter_context(_recording(loaded, run, [name]))
            assistant = _assistant(name, loaded, recording)
        found = answered(opened, question, settings=loaded.settings, where=where, assistant=assistant)
    show.as_json(found.as_data()) if json_ else show.lines(_lines(found))
    _talk(found)
    sys.exit(EXIT_YES if found.stands else EXIT_NO)


@click.command(name="run")
@click.argument("questions", type=click.Path(path_type=Path))
@archive_option
@snapshot_option
@click.option("--systems", type=click.Path(path_type=Path), metavar="FILE",
              help="The settings file with the tables [systems.NAME]; default: groundwire.toml here.")  # fmt: skip
@click.option("--out", "-o", type=click.Path(path_type=Path), default=Path("answers"), show_default=True,
              metavar="FOLDER", help="Where a file a system is written.")  # fmt: skip
@json_option
@run_options
def run_(run: RunOptions, questions: Path, archive: str | None, snapshot: str | None, systems: Path | None, out: Path,
         json_: bool) -> None:  # fmt: skip
    """Let several systems answer QUESTIONS, and write what they answer for `judge`, `compare` and `report`.

    QUESTIONS is JSONL with id, question and answers. Stopped or killed, the same command goes on where it was, and pays
    for nothing twice. Exits with 1 when a row was rejected or a reply could not be read.

    Example: groundwire run questions.jsonl --systems groundwire.toml -o answers
    """
    from groundwire.flow.experiments import read_asked, run_systems, systems_models
    from groundwire.flow.settings_file import systems_of

    loaded = settings_of({"archive": archive, "systems": systems_of(systems) if systems else None})
    reading = read_asked(questions)
    for reject in reading.rejects:
        show.say(f"row {reject.line} rejected: {reject.reason}")
    names = systems_models(loaded.settings)
    with archive_of(loaded, snapshot=snapshot) as opened, ExitStack() as stack:
        progress = stack.enter_context(show.progress("answering"))
        recording = stack.enter_context(_recording(loaded, run, names)) if names else None
        if recording is not None:
            recording.input(questions.name, questions.read_bytes())
        done = run_systems(
            opened,
            reading.questions,
            settings=loaded.settings,
            folder=out,
            ask=_asking(loaded, recording) if recording else None,
            progress=progress,
        )
        if recording is not None:
            for each in done:
                recording.output(each.file.name, each.file.read_bytes())
    show.rows(("system", "answers", "abstained", "unscored", "file"), [_summary(each) for each in done], json_=json_)
    files = " ".join(str(each.file) for each in done)
    show.say(f"next: groundwire compare {files}" if len(done) > 1 else f"next: groundwire judge {files}")
    sys.exit(EXIT_NO if reading.rejects or any(each.unscored for each in done) else EXIT_YES)


@contextmanager
def _recording(loaded: Loaded, run: RunOptions, names: tuple[str, ...] | list[str]) -> Iterator[Recording]:
    from groundwire.flow.model_settings import limits_of, prices_of

    settings = loaded.settings
    with recording_of(loaded, run=run, limits=limits_of(settings, names), prices=prices_of(settings)) as recording:
        yield recording


def _assistant(name: str, loaded: Loaded, recording: Recording) -> Assistant:
    from groundwire.flow.model_settings import model_of
    from groundwire.flow.sourcing import Assistant

    make = partial(model_of, name, settings=loaded.settings, environment=os.environ, ledger=recording.ledger)
    return Assistant(recording.model(name, make), recording)


def _asking(loaded: Loaded, recording: Recording) -> Ask:
    """Opens each model once, when the first system needs it."""
    made: dict[str, Assistant] = {}

    @contextmanager
    def ask(name: str) -> Iterator[Assistant]:
        if name not in made:
            made[name] = _assistant(name, loaded, recording)
        yield made[name]

    return ask


def _lines(found: CheckedAnswer) -> Iterator[str]:
    """The answer, then what it cites."""
    if not found.answered.claims:
        yield found.answered.text or "no answer could be read"
        return
    yield " ".join(
        f"{claim.text} {''.join(dict.fromkeys(f'[{each.number}]' for each in claim.citations))}".rstrip()
        for claim in found.answered.claims
    )
    yield ""
    names = {document.id: document.name for document in found.documents}
    for citation in found.answered.citations:
        place = f"{citation.document_id} {citation.start}-{citation.end}"
        yield f"[{citation.number}] {names[citation.document_id]} ({place}): {' '.join(citation.text.split())}"


def _talk(found: CheckedAnswer) -> None:
    for note in found.notes:
        show.say(note)
    if found.answered.reason:
        show.say(found.answered.reason)
    for unknown in found.answered.unknown:
        show.say(f"the model cites {unknown}, which it was not given")
    for verdict in found.verdicts:
        if verdict.support != "supported":
            show.say(f"{verdict.support}: {verdict.claim.text}: {verdict.reason}")


def _summary(done: SystemRun) -> tuple[str, ...]:
    counts = (len(done.rows) - done.count("abstained") - done.unscored, done.count("abstained"), done.unscored)
    return (done.system, *map(str, counts), str(done.file))
