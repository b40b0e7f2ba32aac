"""A pytest fixture that holds results to conditions: passed, failed and undecided are three different outcomes.

Nothing of groundwire is loaded before a test uses the fixture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import pytest

if TYPE_CHECKING:
    from groundwire.evaluation.conditions import Condition, GateOptions, GateResult
    from groundwire.flow.settings import Settings

    Values = Mapping[str, float | None] | Sequence[float | None]
    Results = str | Path | Sequence[str | Path] | Values

WhenUndecided = Literal["fail", "skip", "xfail"]

MARKER = (
    "groundwire(new, old, undecided='fail', level=0.95, coverage=0.8, lower=(), bridge=None): what the fixture "
    "groundwire_gate of this test takes for granted; undecided is 'fail', 'skip' or 'xfail'"
)
_KNOWN = ("new", "old", "undecided", "level", "coverage", "lower", "bridge")


class Undecided(AssertionError):  # noqa: N818 - an outcome rather than a fault
    """The values cannot tell whether the condition holds; the message says how many more would."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Holds results to conditions, each call to one; the fixture ``groundwire_gate``.

    Results are a result file, several files with repeats of one run, or values: by item id, or in the order of the
    items. ``new`` and ``old`` of a call go before those of the marker. Every method returns what it found, raises
    AssertionError where the condition is failed, and where it cannot be decided does what ``undecided`` says: ``fail``
    raises ``Undecided``.
    """

    options: GateOptions
    undecided: WhenUndecided = "fail"
    new: Results | None = None
    old: Results | None = None

    def at_least(self, measure: str, bound: float, *, new: Results | None = None) -> GateResult:
        """The mean of a measure is this or more."""
        __tracebackhide__ = True
        return self._held("at_least", measure, bound=bound, new=new)

    def at_most(self, measure: str, bound: float, *, new: Results | None = None) -> GateResult:
        """The mean of a measure is this or less."""
        __tracebackhide__ = True
        return self._held("at_most", measure, bound=bound, new=new)

    def better(self, measure: str, *, new: Results | None = None, old: Results | None = None) -> GateResult:
        """The new results are better than the old ones, paired by item."""
        __tracebackhide__ = True
        return self._held("better", measure, new=new, old=old)

    def not_worse(
        self, measure: str, *, margin: float, new: Results | None = None, old: Results | None = None
    ) -> GateResult:
        """The new results are not worse than the old ones by more than a margin, paired by item."""
        __tracebackhide__ = True
        return self._held("not_worse", measure, bound=margin, new=new, old=old)

    def hold(
        self, conditions: Sequence[Condition], *, new: Results | None = None, old: Results | None = None
    ) -> GateResult:
        """Several conditions on result files at once: Holm's steps, and the worst of them counts.

        Raises:
            UsageError: values were given in the place of files, or as ``gate.gate_files``.
        """
        __tracebackhide__ = True
        from groundwire.core.errors import GroundwireError, UsageError
        from groundwire.flow.gate import GateFiles, gate_files

        mine, theirs = (_files(given) for given in (_first(new, self.new), _first(old, self.old)))
        if not mine or theirs is None:
            raise UsageError("several conditions take result files; give new='new.jsonl', and old where they compare")
        try:
            found = gate_files(conditions, files=GateFiles(mine, theirs), settings=_settings(), options=self.options)
        except GroundwireError as error:
            raise error.with_traceback(None) from None  # the test's line and the reason, not our insides
        return self._said(found)

    def _held(
        self,
        kind: Literal["at_least", "at_most", "not_worse", "better"],
        measure: str,
        *,
        bound: float = 0.0,
        new: Results | None,
        old: Results | None = None,
    ) -> GateResult:
        __tracebackhide__ = True
        from groundwire.core.errors import GroundwireError, UsageError
        from groundwire.evaluation.conditions import Condition

        try:
            condition = Condition(kind, measure, bound)
            mine, theirs = _first(new, self.new), _first(old, self.old) if condition.compares else None
            if mine is None or (condition.compares and theirs is None):
                raise UsageError(f"'{condition.words}' has no results; give new=, and old= where it compares")
            found = self._found(condition, mine, theirs=theirs)
        except GroundwireError as error:
            raise error.with_traceback(None) from None  # the test's line and the reason, not our insides
        return self._said(found)

    def _found(self, condition: Condition, mine: Results, *, theirs: Results | None) -> GateResult:
        from groundwire.core.errors import UsageError
        from groundwire.flow.gate import GateFiles, gate_files, gate_values

        files = _files(mine), _files(theirs)
        if files[0] and files[1] is not None:
            return gate_files([condition], files=GateFiles(files[0], files[1]), settings=_settings(),
                              options=self.options)  # fmt: skip
        if files[0] is None and not files[1]:
            return gate_values(condition, new=mine, old=theirs, options=self.options)  # type: ignore[arg-type]  # told apart above
        raise UsageError("one side is files and the other values; give both as files, or both as values")

    def _said(self, found: GateResult) -> GateResult:
        __tracebackhide__ = True
        if found.outcome == "failed":
            raise AssertionError(found.words)
        if found.outcome == "undecided":
            if self.undecided == "skip":
                pytest.skip(found.words)
            if self.undecided == "xfail":
                pytest.xfail(found.words)
            raise Undecided(found.words)
        return found


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", MARKER)


@pytest.fixture
def groundwire_gate(request: pytest.FixtureRequest) -> Gate:
    """Holds results to conditions, with what the marker ``groundwire`` of the test takes for granted."""
    return gate_of(list(request.node.iter_markers("groundwire")))


def gate_of(markers: Sequence[pytest.Mark]) -> Gate:
    """The gate that markers describe, the nearest first; what it names goes before what the others name.

    Raises:
        UsageError: a marker holds something that it does not take.
    """
    from groundwire.core.errors import UsageError
    from groundwire.evaluation.conditions import GateOptions

    given: dict[str, object] = {}
    for marker in reversed(markers):
        if marker.args:
            raise UsageError(f"the marker groundwire takes names, as in new='new.jsonl', and was given {marker.args}")
        given |= marker.kwargs
    unknown = sorted(given.keys() - set(_KNOWN))
    if unknown or given.get("undecided", "fail") not in get_args(WhenUndecided):
        raise UsageError(f"the marker groundwire was given {given}; it takes {MARKER}")
    options = {name: given[name] for name in ("level", "coverage", "bridge") if name in given}
    lower = frozenset(given.get("lower", ()))  # type: ignore[call-overload]  # as the marker's author wrote it
    sides = {name: given[name] for name in ("undecided", "new", "old") if name in given}
    return Gate(GateOptions(lower_is_better=lower, **options), **sides)  # type: ignore[arg-type]  # as written there


def _first(given: Results | None, otherwise: Results | None) -> Results | None:
    return otherwise if given is None else given


def _files(given: Results | None) -> tuple[str | Path, ...] | None:
    """The files among results: none where there are no results, None where they are values."""
    if given is None:
        return ()
    if isinstance(given, str | Path):
        return (given,)
    if not isinstance(given, Mapping) and given and all(isinstance(one, str | Path) for one in given):
        return tuple(given)  # type: ignore[arg-type]  # checked in the line above
    return None


def _settings() -> Settings:
    from groundwire.flow.settings import Settings

    return Settings()
