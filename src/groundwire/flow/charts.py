"""Curves as SVG or PNG. Nothing is told by colour alone: every line has its own marker, dashes and name."""

from __future__ import annotations

from pathlib import Path

from groundwire.core.errors import MissingExtra, UsageError
from groundwire.flow.tuning import Curve, TuneReport

SUFFIXES = (".svg", ".png")
_STYLES = (
    ("o", "-", "#1b1b1b"),
    ("s", "--", "#00639c"),
    ("^", ":", "#a33c00"),
    ("D", "-.", "#4d6b00"),
    ("v", (0, (7, 2)), "#6b3fa0"),
)
"""Marker, dashes and a colour that keeps its contrast on white and in grey."""
_INCHES, _DOTS = (8.0, 5.0), 100


def require_chart(path: Path) -> None:
    """Refuse early what could not be drawn in the end.

    Raises:
        UsageError: the file is to be neither SVG nor PNG.
        MissingExtra: matplotlib is not installed.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path} is to hold a curve; its name must end in {' or '.join(SUFFIXES)}")
    try:
        import matplotlib  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise MissingExtra("drawing a curve", extra="plot") from error


def save_curves(report: TuneReport, path: Path) -> None:
    """Draw the curves of a report, with intervals, and write them; 800 x 500 px.

    Raises:
        UsageError: the file is to be neither SVG nor PNG, or the grid varied nothing that a curve can run over.
        MissingExtra: matplotlib is not installed.
    """
    require_chart(path)
    if not report.curves:
        raise UsageError("there is no curve to draw: the grid varied no setting that is a number")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    # The same numbers give the same file, with its words as text.
    with rc_context(
        {"svg.hashsalt": "groundwire", "svg.fonttype": "none", "font.family": "DejaVu Sans", "font.size": 12}
    ):
        figure = Figure(figsize=_INCHES, dpi=_DOTS, layout="constrained")
        axes = figure.add_subplot()
        for place, curve in enumerate(report.curves):
            marker, dashes, colour = _STYLES[place % len(_STYLES)]
            x, means, reach = _drawn(curve, shift=place - (len(report.curves) - 1) / 2)
            axes.errorbar(
                x, means, yerr=reach, marker=marker, linestyle=dashes, color=colour, capsize=3, label=curve.name,
                elinewidth=1, markersize=6,
            )  # fmt: skip
        axes.set_xlabel(report.axis)
        axes.set_ylabel(f"{report.measure}, mean of {report.questions} questions")
        level = report.tuned.held_out.level
        axes.set_title(f"{report.measure} over {report.axis}, with {level:.0%} intervals", fontsize=13)
        axes.grid(visible=True, color="#d9d9d9", linewidth=0.6)
        axes.legend(handlelength=4)
        figure.savefig(path, format=path.suffix.lower()[1:], metadata=_metadata(path))


def _metadata(path: Path) -> dict[str, str | None]:
    """No date in the file, and no version of what drew it."""
    return {"Date": None, "Creator": "groundwire"} if path.suffix.lower() == ".svg" else {"Software": "groundwire"}


def _drawn(curve: Curve, *, shift: float) -> tuple[list[float], list[float], list[list[float]]]:
    """Places, means and the reach of the intervals; curves stand a little apart, so that their intervals can be told.

    Where there are too few clusters for an interval, none is drawn.
    """
    places = [x for x, _ in curve.points]
    apart = (places[-1] - places[0]) / 200 * shift
    means = [interval.mean for _, interval in curve.points]
    below = [max(0.0, interval.mean - interval.low) for _, interval in curve.points]
    above = [max(0.0, interval.high - interval.mean) for _, interval in curve.points]
    return [place + apart for place in places], means, [below, above]
