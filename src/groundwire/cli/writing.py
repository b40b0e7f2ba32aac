"""Write articles from an archive, and check articles against it."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

import click

from groundwire.cli import show
from groundwire.cli.filters import filters, where_of
from groundwire.cli.upkeep import archive_of, archive_option, json_option, settings_of, snapshot_option
from groundwire.core.errors import UsageError

EXIT_YES, EXIT_NO = 0, 1


@click.command()
@click.argument("topic")
@archive_option
@snapshot_option
@click.option("--from", "from_", multiple=True, metavar="PATH", help="Add these files first; repeatable.")
@click.option("--out", "-o", multiple=True, metavar="FILE", help="Write .md, .html or .json; repeatable.")
@click.option("--article-language", metavar="TAG", help="en, zh-TW or zh-CN; default: that of the topic.")
@click.option("--max-tokens", type=int, help="About how long the article may become.")
@click.option("--keep", "keep_at_least", type=float, help="Drop sources rated below this (0 to 100; default 20).")
@filters
@json_option
def write(topic: str, archive: str | None, snapshot: str | None, from_: tuple[str, ...], out: tuple[str, ...],
          article_language: str | None, max_tokens: int | None, keep_at_least: float | None, since: date | None,
          until: date | None, sources: tuple[str, ...], languages: tuple[str, ...],
          json_: bool) -> None:  # fmt: skip
    """Write an article on TOPIC from the archive, every sentence cited and checked.

    Prints Markdown, unless --out or --json says otherwise. Exits with 1 when the archive holds nothing on the topic or
    a claim is not supported.   Example: groundwire write "Flood relief" --from stories/ -o flood.html -o flood.md
    """
    from groundwire.flow.adding import add_files, require_something
    from groundwire.flow.exports import export, save, suffixes_of
    from groundwire.flow.pipeline import write_article

    loaded = settings_of(
        {"archive": archive, "write.language": article_language, "write.max_tokens": max_tokens,
         "write.keep_at_least": keep_at_least}
    )  # fmt: skip
    suffixes_of(out)
    if from_ and snapshot:
        raise UsageError("--from adds files, and a snapshot stays as it is: give one of --from and --snapshot")
    if from_:
        require_something(from_)
    where = where_of(since, until, sources=sources, languages=languages)
    with archive_of(loaded, create=bool(from_), snapshot=snapshot) as opened:
        if from_:
            with show.progress("reading") as progress:
                added = add_files(opened, from_, settings=loaded.settings, progress=progress)
            for line in added.lines():
                show.say(line)
        written = write_article(opened, topic, settings=loaded.settings, where=where)
        for path in out:
            save(opened, written, path=Path(path), settings=loaded.settings)
            show.say(f"wrote {path}")
        if json_ or not out:
            click.echo(export(opened, written, kind=".json" if json_ else ".md", settings=loaded.settings))
    supported = sum(verdict.support == "supported" for verdict in written.verdicts)
    show.say(f"{supported} of {len(written.verdicts)} claims supported by {len(written.article.sources)} sources")
    sys.exit(EXIT_YES if supported == len(written.verdicts) else EXIT_NO)


@click.command()
@click.argument("article", type=click.Path(path_type=Path))
@archive_option
@snapshot_option
@json_option
def verify(article: Path, archive: str | None, snapshot: str | None, json_: bool) -> None:
    """Check each claim of ARTICLE (our .json or .md, also edited) against the sentences it cites.

    Exits with 1 when a claim is not supported.   Example: groundwire verify flood.md
    """
    from groundwire.flow.checking import verify_article
    from groundwire.flow.exports import read_article

    loaded = settings_of({"archive": archive})
    reopened = read_article(article)
    for note in reopened.notes:
        show.say(str(note))
    with archive_of(loaded, snapshot=snapshot) as opened:
        verdicts = verify_article(reopened.article, opened)
    show.as_json(verdicts) if json_ else show.verdicts(verdicts)
    sys.exit(EXIT_YES if all(verdict.support == "supported" for verdict in verdicts) else EXIT_NO)
