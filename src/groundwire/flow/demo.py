"""The sample archive, indexed, written about and checked: what ``make demo`` shows."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from groundwire.flow.adding import add_files
from groundwire.flow.archives import open_archive, opened
from groundwire.flow.exports import save
from groundwire.flow.pipeline import write_article
from groundwire.flow.settings import Settings

STORIES = "stories.jsonl"
TOPICS = (("typhoon", "Typhoon Corva floods Wangchao"), ("temple-bell", "瀾福宮古鐘歸還"))


def run_demo(folder: Path, *, settings: Settings, say: Callable[[str], None]) -> tuple[str, ...]:
    """Put the sample into a folder, index it, and write and check an English and a Chinese article.

    Returns:
        The paths of the pages, one a line.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stories = folder / STORIES
    stories.write_bytes(files("groundwire.sample").joinpath(STORIES).read_bytes())
    pages = []
    with opened(
        open_archive(folder / "sample.archive", embedder=settings.embedder, threads=settings.threads)
    ) as archive:
        added = add_files(archive, [str(stories)], settings=settings)
        for line in added.lines():
            say(line)
        for name, topic in TOPICS:
            written = write_article(archive, topic, settings=settings)
            for suffix in (".html", ".md", ".json"):
                save(archive, written, path=folder / f"{name}{suffix}", settings=settings)
            supported = sum(verdict.support == "supported" for verdict in written.verdicts)
            say(f"'{topic}': {supported} of {len(written.verdicts)} claims supported")
            pages.append((folder / f"{name}.html").resolve().as_uri())
    say("Open these pages in a browser:")
    return tuple(pages)
