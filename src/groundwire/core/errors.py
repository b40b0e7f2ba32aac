"""What can go wrong, as one tree.

::

    GroundwireError
    ├── UsageError          the request makes no sense as it stands (exit status 2)
    │   └── SettingError    a setting is unknown or out of range
    ├── NothingFound        the archive does not hold what was asked for (exit status 1)
    └── CannotDo            the request is fine, but could not be done here (exit status 3)
        ├── MissingExtra    an optional part of groundwire is not installed
        ├── ArchiveError    an archive is absent, broken or of another kind
        ├── ModelError      a model is not here or could not be fetched
        │   ├── ModelBusy       a call failed that may work later
        │   └── ModelRefused    a call failed that will never work like this
        ├── BudgetReached   the budget for model calls is spent; what was paid for is kept
        └── UnreadableInput a file or reply could not be read

A message says what is, what was asked and what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundwire.core.language import Usage


class GroundwireError(Exception):
    """The root of all errors that groundwire raises on purpose."""


class UsageError(GroundwireError):
    """The request makes no sense as it stands."""


class SettingError(UsageError):
    """A setting is unknown or out of range."""


class NothingFound(GroundwireError):  # noqa: N818 - an outcome rather than a fault
    """The archive does not hold what was asked for; ``searched`` lists what was looked at, line by line."""

    def __init__(self, message: str, *, searched: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.searched = searched


class CannotDo(GroundwireError):  # noqa: N818 - reads as the sentence it stands for
    """The request is fine, but could not be done here."""


class MissingExtra(CannotDo):
    """An optional part of groundwire is not installed."""

    def __init__(self, need: str, *, extra: str) -> None:
        super().__init__(
            f"{need} needs the extra '{extra}', which is not installed. Run: pip install 'groundwire[{extra}]'"
        )
        self.extra = extra


class ArchiveError(CannotDo):
    """An archive is absent, broken or of another kind."""


class ModelError(CannotDo):
    """A model is not here or could not be fetched.

    ``spent`` is what a failed call took all the same, as the server counted or estimated; None: nothing that is known.
    """

    spent: Usage | None = None


class ModelBusy(ModelError):  # noqa: N818 - what it says
    """A call failed that may work later.

    ``retry_after`` is how many seconds the server asked to wait, if it did; ``connected`` is False where no connection
    to it came about at all: no network, an unknown name, or nothing that listens. ``status`` is the HTTP status with
    which it turned the call down, 0 where it did not say.
    """

    def __init__(
        self, message: str, *, retry_after: float | None = None, connected: bool = True, status: int = 0
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.connected = connected
        self.status = status


class ModelRefused(ModelError):  # noqa: N818 - what it says
    """A call failed that will never work like this; ``status`` is the HTTP status, 0 where there was none."""

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class BudgetReached(CannotDo):
    """The budget for model calls is spent; what was paid for is kept."""


class UnreadableInput(CannotDo):
    """A file or a reply could not be read."""
