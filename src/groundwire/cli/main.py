"""The ``groundwire`` command: parse, call one function of ``flow``, print, exit.

Exit statuses: 0 yes, 1 no (nothing found, something unsupported or rejected), 2 wrong usage, 3 could not be done; of
`gate` alone 4, undecided.
"""

from __future__ import annotations

import os
import sys
from datetime import date
from pathlib import Path
from typing import get_args

import click

from groundwire.cli import life, show
from groundwire.cli.answering import answer, run_
from groundwire.cli.audit import audit
from groundwire.cli.compare import compare
from groundwire.cli.filters import filters, where_of
from groundwire.cli.gate import gate
from groundwire.cli.judging import judge
from groundwire.cli.machine import doctor, models
from groundwire.cli.measure import bench, tune
from groundwire.cli.people import label, score
from groundwire.cli.prompts import prompts
from groundwire.cli.report import report
from groundwire.cli.runs import runs
from groundwire.cli.upkeep import archive_of, archive_option, json_option, remove, settings_of, snapshot_option
from groundwire.cli.writing import verify, write
from groundwire.core.errors import GroundwireError, NothingFound, UsageError
from groundwire.core.types import Context, Preset

EXIT_YES, EXIT_NO, EXIT_USAGE, EXIT_CANNOT = 0, 1, 2, 3

_embedder = click.option("--embedder", metavar="NAME", help="local:e5-small (default), local:minilm or hash:DIM.")
_map = click.option("--map", "map_", metavar="OURS=THEIRS,…", help="Field names, such as title=news_title,text=body.")


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="groundwire")
def main() -> None:
    """Write from an archive with citations that hold, and prove which pipeline is better."""


for command in (models, doctor, remove, bench, tune, prompts, runs, write, verify, score, label):
    main.add_command(command)
for command in (answer, run_, judge, audit, compare, report, gate):
    main.add_command(command)
for command in (life.status, life.compact, life.export, life.snapshot, life.rebuild):
    main.add_command(command)


@main.command()
@click.argument("paths", nargs=-1, required=True)
@archive_option
@_embedder
@_map
@click.option("--context", type=click.Choice(get_args(Context)),
              help="What a sentence remembers (new archives).")  # fmt: skip
@click.option("--date-order", type=click.Choice(["day", "month"]), help="Which comes first in dates like 5/6/2024.")
@click.option("--rejects", metavar="FILE", help="Where rejected rows are listed; default: in the archive.")
@json_option
def add(paths: tuple[str, ...], archive: str | None, embedder: str | None, map_: str | None, context: str | None,
        date_order: str | None, rejects: str | None, json_: bool) -> None:  # fmt: skip
    """Add the documents in PATHS (files, folders, patterns) to an archive.

    JSONL, JSON, CSV, Markdown, plain text and HTML are read. What is there already stays; what changed is replaced.
    Exits with 1 when something was rejected.   Example: groundwire add stories/ --archive stories.archive
    """
    from groundwire.flow.adding import add_files, require_something

    require_something(paths)
    loaded = settings_of(
        {
            "archive": archive, "embedder": embedder, "index.context": context, "read.date_order": date_order,
            "read.map": _mapping(map_),
        }
    )  # fmt: skip
    listed = Path(rejects) if rejects else Path(loaded.settings.archive) / "rejects.jsonl"
    with archive_of(loaded, create=True) as archived, show.progress("reading") as progress:
        added = add_files(archived, paths, settings=loaded.settings, rejects=listed, progress=progress)
    for line in added.lines():
        show.say(line)
    if json_:
        show.as_json(added)
    sys.exit(EXIT_YES if added.complete else EXIT_NO)


@main.command()
@click.argument("query")
@archive_option
@snapshot_option
@click.option("-k", type=int, help="How many sentences.")
@click.option("--preset", type=click.Choice(get_args(Preset)),
              help="A way to search with a name; options beside it win.")  # fmt: skip
@click.option("--mode", type=click.Choice(["dense", "lexical", "hybrid"]), help="By meaning, by words, or both.")
@click.option("--sentence-weight", type=float, help="0 (passage only) to 1 (sentence only).")
@click.option("--phrases", is_flag=True, help="Parts of QUERY in quotation marks must occur as they stand.")
@click.option("--pack", "pack_", type=int, metavar="TOKENS", help="Pack what is found under a budget of tokens.")
@filters
@json_option
def search(query: str, archive: str | None, snapshot: str | None, k: int | None, preset: str | None, mode: str | None,
           sentence_weight: float | None, phrases: bool, pack_: int | None, since: date | None, until: date | None,
           sources: tuple[str, ...], languages: tuple[str, ...], json_: bool) -> None:  # fmt: skip
    """Find the sentences of the archive that answer QUERY.

    Exits with 1 when nothing is found.   Example: groundwire search "flood relief" -k 5 --since 2024-10-01
    """
    from groundwire.flow.overview import filter_hint
    from groundwire.flow.searches import pack_hits, search_settings
    from groundwire.flow.versions import story_marks

    loaded = settings_of(
        {"archive": archive, "search.k": k, "search.preset": preset, "search.mode": mode,
         "search.sentence_weight": sentence_weight, "search.phrases": phrases or None, "search.budget_tokens": pack_}
    )  # fmt: skip
    options = loaded.settings.search
    with archive_of(loaded, snapshot=snapshot) as opened:
        where = where_of(since, until, sources=sources, languages=languages)
        found = opened.search(query, k=options.k, settings=search_settings(options, where))
        hint = "" if found else filter_hint(opened, where)
        documents = opened.store.documents({hit.sentence.document_id for hit in found})
        packed = None if pack_ is None else pack_hits(opened, found, settings=loaded.settings)
    if packed is not None:
        show.as_json(packed) if json_ else show.evidence(packed, documents)
    else:
        marks = story_marks([hit.sentence.document_id for hit in found], documents)
        (show.hits_as_json if json_ else show.hits)(found, documents, marks=marks)
    if not found:
        show.say(f"nothing found for '{query}'{hint}")
    sys.exit(EXIT_YES if found else EXIT_NO)


@main.command()
@click.argument("query", default="")
@archive_option
@snapshot_option
@click.option("-k", type=int, help="How many sentences are found for QUERY.")
@json_option
def copies(query: str, archive: str | None, snapshot: str | None, k: int | None, json_: bool) -> None:
    """List documents that are versions of one story (wire copy), and the numbers in which they differ.

    Those found for QUERY are compared; without one, all of an archive of up to 1,000 documents. Exits with 1 when there
    are none.   Example: groundwire copies "flood relief"
    """
    from groundwire.flow.versions import archive_copies

    loaded = settings_of({"archive": archive, "search.k": k})
    with archive_of(loaded, snapshot=snapshot) as opened:
        found = archive_copies(opened, query, settings=loaded.settings)
    show.as_json(found.rows()) if json_ else show.copies(found)
    sys.exit(EXIT_YES if found.stories else EXIT_NO)


@main.command(name="show")
@click.argument("what", default="archive")
@archive_option
@snapshot_option
@json_option
def show_(what: str, archive: str | None, snapshot: str | None, json_: bool) -> None:
    """Show WHAT: archive (default; as status does), documents, settings, or a document of the archive by its id.

    Exits with 1 when there is no such document.   Example: groundwire show typhoon-wire-01
    """
    from groundwire.flow import overview

    loaded = settings_of({"archive": archive})
    if what == "archive":
        life.show_status(loaded, snapshot=snapshot, json_=json_)
        return
    if what == "settings":
        show.rows(("setting", "value", "from"), overview.settings_rows(loaded), json_=json_)
        return
    with archive_of(loaded, snapshot=snapshot) as opened:
        if what == "documents":
            heads = ("id", "published", "source", "language", "title")
            show.rows(heads, overview.document_rows(opened), json_=json_)
            return
        found = overview.document_facts(opened, what)
    if json_:
        show.as_json(found)
    else:
        show.lines(overview.facts_lines(found))


@main.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("groundwire-demo"))
@_embedder
def demo(folder: Path, embedder: str | None) -> None:
    """Index the sample archive in FOLDER, write an English and a Chinese article from it and check both.

    Example: groundwire demo
    """
    from groundwire.flow.demo import run_demo

    loaded = settings_of({"embedder": embedder})
    for line in run_demo(folder, settings=loaded.settings, say=show.say):
        click.echo(line)


def run() -> None:
    """Run the command; every error that groundwire knows becomes one line on stderr and an exit status."""
    show.prepare()
    try:
        _refuse_undecoded(sys.argv[1:])
        with main.make_context("groundwire", sys.argv[1:]) as context:
            main.invoke(context)
        sys.stdout.flush()
        sys.exit(EXIT_YES)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except (click.Abort, KeyboardInterrupt):
        show.say("groundwire: stopped; what was committed is kept. Run the same command again to go on")
        sys.exit(EXIT_CANNOT)
    except (click.ClickException, GroundwireError, OSError) as error:
        sys.exit(_explained(error))


def _explained(error: click.ClickException | GroundwireError | OSError) -> int:
    """Say what went wrong in a line, and return the exit status for it."""
    if isinstance(error, BrokenPipeError):
        # Whoever read our output has seen enough; what is still buffered must not complain at the end either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_YES
    if isinstance(error, click.ClickException):
        error.show()
        return EXIT_USAGE
    about = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
    show.say(f"groundwire: {about}")
    if isinstance(error, NothingFound):
        for line in error.searched:
            show.say(f"  searched: {line}")
        return EXIT_NO
    return EXIT_USAGE if isinstance(error, UsageError) else EXIT_CANNOT


def _refuse_undecoded(words: list[str]) -> None:
    for word in words:
        if any("\ud800" <= letter <= "\udfff" for letter in word):
            raise UsageError(
                "an argument could not be decoded in this locale. Set LC_ALL=C.UTF-8 or PYTHONUTF8=1 and run it again"
            )


def _mapping(text: str | None) -> dict[str, str] | None:
    from groundwire.flow.settings import mapping

    return None if text is None else mapping(text)
