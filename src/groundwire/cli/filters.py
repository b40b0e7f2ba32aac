"""The options that say what may be found, for every command that searches."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, TypeVar

import click

from groundwire.core.errors import UsageError

if TYPE_CHECKING:
    from groundwire.core.types import Filter

_LANGUAGES = {
    "zh": ("zh", "zh-TW", "zh-CN"), "zh-tw": ("zh-TW",), "zh-cn": ("zh-CN",),
    "en": ("en",), "ja": ("ja",), "ko": ("ko",),
}  # fmt: skip

Command = TypeVar("Command", bound=Callable[..., None])


def filters(command: Command) -> Command:
    """The options that say what may be found."""
    day = click.DateTime(["%Y-%m-%d"])
    for option in (
        click.option("--language", "languages", multiple=True, metavar="TAG", help="Only this language; repeatable."),
        click.option("--source", "sources", multiple=True, metavar="NAME", help="Only this outlet; repeatable."),
        click.option("--until", type=day, metavar="DAY", help="Published on this day or earlier (YYYY-MM-DD)."),
        click.option("--since", type=day, metavar="DAY", help="Published on this day or later (YYYY-MM-DD)."),
    ):
        command = option(command)
    return command


def where_of(since: date | None, until: date | None, *, sources: tuple[str, ...], languages: tuple[str, ...]) -> Filter:
    """What the options of ``filters`` allow.

    Raises:
        UsageError: the first day is after the last.
    """
    from datetime import datetime

    from groundwire.core.types import Filter

    first, last = (day.date() if isinstance(day, datetime) else day for day in (since, until))
    if first and last and first > last:
        raise UsageError(f"nothing is published since {first} and until {last}: the first day is the later one")
    tags = [tag for given in languages for tag in _LANGUAGES.get(given.lower(), (given,))]
    return Filter(first, last, sources, tuple(dict.fromkeys(tags)))
