"""Write articles from an archive, and check articles against it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, get_args

import click

from groundwire.cli import show
from groundwire.cli.filters import filters, where_of
from groundwire.cli.runs import RunOptions, recording_of, run_options
from groundwire.cli.upkeep import archive_of, archive_option, json_option, settings_of, snapshot_option
from groundwire.core.errors import UsageError
from groundwire.core.types import RaterName

if TYPE_CHECKING:
    from groundwire.core.types import Verdict
    from groundwire.flow.pipeline import Written
    from groundwire.flow.settings import Loaded, Settings
    from groundwire.flow.sourcing import Assistant
    from groundwire.retrieval.index import Archive

Command = TypeVar("Command", bound=Callable[..., None])

EXIT_YES, EXIT_NO = 0, 1


def _with_model(command: Command) -> Command:
    """The options of how an article is written, beyond those of length and language."""
    day = click.DateTime(["%Y-%m-%d"])
    for option in (
        click.option("--strict", is_flag=True, help="Write no file while a claim is not supported."),
        click.option("--repair", is_flag=True, help="Repair claims that are not supported; every change is shown."),
        click.option("--as-of", type=day, metavar="DAY", help="The day the article speaks of as today (YYYY-MM-DD)."),
        click.option("--max-words", type=int, help="The most words that a model is asked for."),
        click.option("--house-rules", metavar="FILE", help="The rules of your house (TOML)."),
        click.option("--outline", metavar="FILE", help="The headings the article is to have (Markdown)."),
        click.option("--check", type=click.Choice(["gates", "model"]), help="Who decides on claims."),
        click.option("--briefs", type=click.Choice(["sentences", "facts", "summaries"]),
                     help="What the writer gets of a source."),
        click.option("--rater", type=click.Choice([*get_args(RaterName), "none"]), help="Who rates the sources."),
        click.option("--preset", type=click.Choice(["best", "scorerag", "plain", "zero-shot"]),
                     help="A way to write with a model; options beside it win."),
        click.option("--model", metavar="NAME", help="Who writes: llama:NAME or http:NAME; default: the built-in one."),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@click.argument("topic")
@archive_option
@snapshot_option
@click.option("--from", "from_", multiple=True, metavar="PATH", help="Add these files first; repeatable.")
@click.option("--out", "-o", multiple=True, metavar="FILE", help="Write .md, .html, .docx or .json; repeatable.")
@click.option("--article-language", metavar="TAG", help="en, zh-TW or zh-CN; default: that of the topic.")
@click.option("--max-tokens", type=int, help="About how long the article of the built-in writer may become.")
@click.option("--keep", "keep_at_least", type=float, help="Drop sources rated below this (0 to 100; default 20).")
@_with_model
@filters
@json_option
@run_options
def write(run: RunOptions, topic: str, archive: str | None, snapshot: str | None, from_: tuple[str, ...],
          out: tuple[str, ...], article_language: str | None, max_tokens: int | None, keep_at_least: float | None,
          model: str | None, preset: str | None, rater: str | None, briefs: str | None, check: str | None,
          outline: str | None, house_rules: str | None, max_words: int | None, as_of: datetime | None, repair: bool,
          strict: bool, since: date | None, until: date | None, sources: tuple[str, ...], languages: tuple[str, ...],
          json_: bool) -> None:  # fmt: skip
    """Write an article on TOPIC from the archive, every sentence cited and checked.

    Prints Markdown, unless --out or --json says otherwise. Exits with 1 when the archive holds nothing on the topic or
    a claim is not supported.   Example: groundwire write "Flood relief" --from stories/ -o flood.html -o flood.md
    """
    from groundwire.flow.adding import require_something
    from groundwire.flow.exports import suffixes_of
    from groundwire.flow.pipeline import write_article

    loaded = settings_of(
        {"archive": archive, "write.language": article_language, "write.max_tokens": max_tokens,
         "write.keep_at_least": keep_at_least, "write.model": model, "write.preset": preset, "write.rater": rater,
         "write.briefs": briefs, "write.check": check, "write.outline": outline, "write.house_rules": house_rules,
         "write.max_words": max_words, "write.as_of": as_of.date() if as_of else None,
         "write.repair": repair or None}
    )  # fmt: skip
    suffixes_of(out)
    if from_ and snapshot:
        raise UsageError("--from adds files, and a snapshot stays as it is: give one of --from and --snapshot")
    if from_:
        require_something(from_)
    where = where_of(since, until, sources=sources, languages=languages)
    with archive_of(loaded, create=bool(from_), snapshot=snapshot) as opened:
        _add(opened, from_, loaded.settings)
        with _assistant(loaded, run) as assistant:
            written = write_article(opened, topic, settings=loaded.settings, where=where, assistant=assistant)
            unsupported = _unsupported(written)
            if strict and unsupported:
                _refuse(written, unsupported)
            _save(opened, written, out=out, json_=json_, settings=loaded.settings, assistant=assistant)
    supported = sum(verdict.support == "supported" for verdict in written.verdicts)
    show.say(f"{supported} of {len(written.verdicts)} claims supported by {len(written.article.sources)} sources")
    sys.exit(EXIT_NO if unsupported else EXIT_YES)


def _add(archive: Archive, paths: tuple[str, ...], settings: Settings) -> None:
    from groundwire.flow.adding import add_files

    if paths:
        with show.progress("reading") as progress:
            added = add_files(archive, paths, settings=settings, progress=progress)
        for line in added.lines():
            show.say(line)


@contextmanager
def _assistant(loaded: Loaded, run: RunOptions, *, named: str | None = "") -> Iterator[Assistant | None]:
    """The model that the settings ask for, with the run that takes down its calls; None where they ask for none.

    ``named`` is the model of a command that does not write: None asks for none, whatever the settings say.
    """
    from groundwire.flow.model_settings import limits_of, model_of, prices_of
    from groundwire.flow.pipeline import needs_model
    from groundwire.flow.sourcing import Assistant

    settings = loaded.settings
    name = settings.write.model if named == "" else named
    if not name or not (named or needs_model(settings.write)):
        yield None
        return
    with recording_of(loaded, run=run, limits=limits_of(settings, [name]), prices=prices_of(settings)) as recording:
        made = partial(model_of, name, settings=settings, environment=os.environ, ledger=recording.ledger)
        yield Assistant(recording.model(name, made), recording)


def _unsupported(written: Written) -> tuple[Verdict, ...]:
    return tuple(verdict for verdict in written.verdicts if verdict.support not in ("supported", "background"))


def _refuse(written: Written, unsupported: tuple[Verdict, ...]) -> None:
    """End without a file: what is not supported, and how many claims are."""
    for verdict in unsupported:
        show.say(f"not supported: {verdict.claim.text} ({verdict.support}: {verdict.reason})")
    show.say(
        f"{len(unsupported)} of {len(written.verdicts)} claims are not supported, so nothing was written (--strict)."
        " Repair them with --repair, or write without --strict and edit"
    )
    sys.exit(EXIT_NO)


def _save(
    archive: Archive,
    written: Written,
    *,
    out: tuple[str, ...],
    json_: bool,
    settings: Settings,
    assistant: Assistant | None,
) -> None:
    """Write the files, and print what was asked for; a run takes down what it made."""
    from groundwire.flow.exports import export, save

    created = datetime.fromisoformat(assistant.recording.started) if assistant else None
    for path in map(Path, out):
        save(archive, written, path=path, settings=settings, created=created)
        if assistant:
            assistant.recording.output(path.name, path.read_bytes())
        show.say(f"wrote {path}")
    if json_ or not out:
        text = export(archive, written, kind=".json" if json_ else ".md", settings=settings, created=created)
        if assistant:
            assistant.recording.output("stdout", text.encode())
        click.echo(text)


@click.command()
@click.argument("article", type=click.Path(path_type=Path))
@click.option("--sources", "folder", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Check an article of anybody against these sources, in place of an archive.")  # fmt: skip
@archive_option
@snapshot_option
@click.option("--model", metavar="NAME", help="Ask this model about what the gates cannot settle.")
@click.option("--as-of", type=click.DateTime(["%Y-%m-%d"]), metavar="DAY",
              help="The day the article speaks of as today (YYYY-MM-DD).")  # fmt: skip
@click.option("--repair", is_flag=True, help="Show what a repair would change; the file stays as it is.")
@json_option
@run_options
def verify(run: RunOptions, article: Path, folder: Path | None, archive: str | None, snapshot: str | None,
           model: str | None, as_of: datetime | None, repair: bool, json_: bool) -> None:  # fmt: skip
    """Check each claim of ARTICLE against the sentences it cites.

    ARTICLE is our .json or .md, also edited, checked against its archive; or, with --sources, any article in Markdown,
    text or HTML. Exits with 1 when a claim is not supported.

    Example: groundwire verify theirs.md --sources stories/
    """
    from groundwire.flow.verifying import verify_own, verify_with_sources

    if folder and (archive or snapshot):
        raise UsageError("an article is checked against an archive or against --sources, not both")
    loaded = settings_of({"archive": archive, "write.model": model})
    day = as_of.date() if as_of else None
    with _assistant(loaded, run, named=model) as assistant:
        if folder:
            prompts = loaded.settings.prompts_folder
            found = verify_with_sources(article, folder, assistant=assistant, as_of=day, prompts=prompts)
        else:
            with archive_of(loaded, snapshot=snapshot) as opened:
                found = verify_own(article, opened, assistant=assistant, as_of=day)
    for note in found.notes:
        show.say(note)
    verdicts = found.checked.verdicts
    show.as_json(verdicts) if json_ else show.verdicts(verdicts)
    if not json_:
        show.quality(found.checked.quality)
    if repair:
        show.lines(found.repairs())
    sys.exit(EXIT_YES if all(verdict.support in ("supported", "background") for verdict in verdicts) else EXIT_NO)
