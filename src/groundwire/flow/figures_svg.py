"""Figures of a report as inline SVG: small, without styles of their own, readable on a phone and in grey.

Every figure is 360 units wide, has a title and a text alternative, and tells nothing by colour alone. Texts of the data
are escaped, and control characters shown by their number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from groundwire.flow.page import _CONTROL

WIDTH = 360
_LEFT, _RIGHT = 8.0, 352.0
_LONGEST = 46
_MOST_NUMBERED = 7
"""Columns of a heat map up to which a number fits into a cell."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A system's values: how many fall into each of equal bins, and the mean with its interval."""

    name: str
    counts: tuple[int, ...]
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A labelled value with its interval, which may be nan; ``kind`` gives the shape: told, equivalent or open."""

    label: str
    mean: float
    low: float
    high: float
    kind: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A square of a heat map: what it says in one or two lines, and how strong it is, -1 to 1; nan is empty."""

    lines: tuple[str, ...]
    strength: float


@dataclass(frozen=True, slots=True)
class _Axis:
    low: float
    high: float
    left: float = _LEFT
    right: float = _RIGHT

    def at(self, value: float) -> float:
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.left + share * (self.right - self.left), 1)


def histograms(title: str, rows: Sequence[Spread], *, span: tuple[float, float], unit: str, told: str) -> str:
    """A histogram a system over one axis, each to its own height, with mean and interval beneath.

    Args:
        title: of the figure.
        rows: the systems.
        span: the axis, low below high.
        unit: what the axis shows.
        told: the text alternative.
    """
    axis = _Axis(*span)
    parts, y = [], 2.0
    for row in rows:
        parts.append(_text(_LEFT, y + 11, row.name, kind="name"))
        top, width = max(row.counts, default=0) or 1, (_RIGHT - _LEFT) / max(1, len(row.counts))
        bars = "".join(
            f"M{_LEFT + place * width:.1f} {y + 46}v{-28 * count / top:.1f}h{width - 0.6:.1f}V{y + 46}z"
            for place, count in enumerate(row.counts)
            if count
        )
        parts.append(f'<path class="bars" d="{bars}"/>')
        parts.append(_interval(axis, y + 51, (row.mean, row.low, row.high), kind="told"))
        y += 60
    return _svg(title, told, "".join(parts) + _scale(axis, y, unit), height=y + 32)


def forest(title: str, rows: Sequence[Estimate], *, margin: float | None, unit: str, told: str) -> str:
    """Differences with their intervals around a line at 0, and the margin of equivalence as a band."""
    edges = [abs(edge) for row in rows for edge in (row.mean, row.low, row.high) if math.isfinite(edge)]
    reach = 1.05 * max([*edges, margin or 0.0]) or 1.0
    axis = _Axis(-reach, reach)
    bottom = 2.0 + 30 * len(rows)
    parts = []
    if margin is not None:
        left, right = axis.at(-margin), axis.at(margin)
        parts.append(f'<rect class="band" x="{left}" y="2" width="{right - left:.1f}" height="{bottom - 2}"/>')
    parts.append(f'<path class="zero" d="M{axis.at(0)} 2V{bottom}"/>')
    for place, row in enumerate(rows):
        y = 2.0 + 30 * place
        parts.append(_text(_LEFT, y + 11, row.label, kind="name"))
        parts.append(_interval(axis, y + 20, (row.mean, row.low, row.high), kind=row.kind))
    return _svg(title, told, "".join(parts) + _scale(axis, bottom, unit), height=bottom + 32)


def heat_map(title: str, names: Sequence[str], *, cells: Sequence[Sequence[Cell]], told: str) -> str:
    """A square for each pair of names; columns have the numbers of the rows."""
    count = len(names)
    left = 118.0
    size = min(46.0, (_RIGHT - left) / max(1, count))
    parts = []
    for row, name in enumerate(names):
        y = 16 + row * size
        parts.append(_text(_LEFT, y + size / 2 + 4, f"{row + 1} {_cut(name, 16)}", kind="name"))
        parts.append(_text(left + row * size + size / 2, 12, str(row + 1), kind="middle"))
        parts += [
            _square(cells[row][column], left + column * size, y, size=size, written=count) for column in range(count)
        ]
    return _svg(title, told, "".join(parts), height=20 + count * size)


def curve(title: str, points: Sequence[tuple[float, float, float, float]], *, unit: str, told: str) -> str:
    """Shares over counts on a doubling axis: (count, share, low, high), with the span as a band."""
    counts = [point[0] for point in points]
    axis = _Axis(math.log2(min(counts)), math.log2(max(counts)) + (min(counts) == max(counts)), left=36)

    def height(share: float) -> float:
        return round(118 - 110 * share, 1)

    places = [axis.at(math.log2(count)) for count in counts]
    lows = [f"{x} {height(point[2])}" for x, point in zip(places, points, strict=True)]
    highs = [f"{x} {height(point[3])}" for x, point in zip(places, points, strict=True)]
    middle = [f"{x} {height(point[1])}" for x, point in zip(places, points, strict=True)]
    parts = [f'<path class="band" d="M{"L".join(lows + highs[::-1])}z"/>']
    for share in (0.0, 0.5, 1.0):
        parts.append(f'<path class="grid" d="M36 {height(share)}H{_RIGHT}"/>')
        parts.append(_text(32, height(share) + 4, f"{share:.0%}", kind="end"))
    parts.append(f'<path class="line" d="M{"L".join(middle)}"/>')
    for x, point in zip(places, points, strict=True):
        parts.append(f'<circle class="dot" cx="{x}" cy="{height(point[1])}" r="2.6"/>')
    last = -math.inf
    for x, count in zip(places, counts, strict=True):
        if x - last >= 34:
            parts.append(_text(min(x, _RIGHT - 12), 133, f"{count:g}", kind="middle"))
            last = x
    parts.append(_text(_RIGHT, 148, unit, kind="end"))
    return _svg(title, told, "".join(parts), height=152)


def density(
    title: str, counts: Sequence[Sequence[int]], *, spans: tuple[tuple[float, float], tuple[float, float]],
    units: tuple[str, str], told: str,
) -> str:  # fmt: skip
    """How many points lie in each cell of a grid, the darker the more; the first axis doubles.

    Args:
        title: of the figure.
        counts: by column of the first axis, then row of the second from below.
        spans: of the first axis in powers of two, of the second in its units.
        units: what the axes show.
        told: the text alternative.
    """
    across, up = _Axis(*spans[0], left=36), _Axis(*spans[1])
    most = max((count for column in counts for count in column), default=0) or 1
    wide, high = (_RIGHT - 36) / len(counts), 150 / len(counts[0])
    parts = [_text(_LEFT, 9, units[1], kind="name")]
    for place, column in enumerate(counts):
        for row, count in enumerate(column):
            if count:
                x, y = 36 + place * wide, 166 - (row + 1) * high
                strength = 0.12 + 0.88 * math.sqrt(count / most)
                parts.append(
                    f'<rect class="cell plus" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" '
                    f'fill-opacity="{strength:.2f}"/>'
                )
    for value in ticks(*spans[1]):
        y = 166 - 150 * (value - up.low) / (up.high - up.low)
        parts.append(_text(32, y + 4, f"{value:g}", kind="end"))
    whole = [power for power in ticks(*spans[0]) if power == int(power)]
    parts += [_text(across.at(power), 180, f"{2**power:g}", kind="middle") for power in whole]
    parts.append(f'<path class="zero" d="M36 16V166H{_RIGHT}"/>')
    parts.append(_text(_RIGHT, 195, units[0], kind="end"))
    return _svg(title, told, "".join(parts), height=199)


def bars(title: str, rows: Sequence[tuple[str, float, str]], *, told: str) -> str:
    """A bar for each (name, value of 0 or more, value in words), all from 0 and to one scale."""
    most = max((value for _, value, _ in rows if math.isfinite(value)), default=0.0) or 1.0
    parts = []
    for place, (name, value, words) in enumerate(rows):
        y = 2.0 + 30 * place
        long = 250 * value / most if math.isfinite(value) else 0.0
        parts.append(_text(_LEFT, y + 11, name, kind="name"))
        parts.append(f'<rect class="bars" x="{_LEFT}" y="{y + 15}" width="{long:.1f}" height="9"/>')
        parts.append(_text(_LEFT + long + 5, y + 24, words, kind="value"))
    return _svg(title, told, "".join(parts), height=6 + 30 * len(rows))


def ticks(low: float, high: float) -> tuple[float, ...]:
    """Round numbers from low to high, three to nine of them."""
    rough = (high - low) / 8
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * times for times in (1, 2, 5, 10) if unit * times >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return tuple(round((first + n) * step, 10) + 0.0 for n in range(int((high - first * step) / step + 1e-9) + 1))


def _square(cell: Cell, x: float, y: float, *, size: float, written: int) -> str:
    if math.isnan(cell.strength):
        return f'<rect class="empty" x="{x:.1f}" y="{y:.1f}" width="{size:.1f}" height="{size:.1f}"/>'
    side = "plus" if cell.strength >= 0 else "minus"
    made = (
        f'<rect class="cell {side}" x="{x:.1f}" y="{y:.1f}" width="{size:.1f}" height="{size:.1f}" '
        f'fill-opacity="{0.75 * abs(cell.strength):.2f}"/>'
    )
    if written > _MOST_NUMBERED:
        return f"{made[:-2]}><title>{_plain(', '.join(cell.lines))}</title></rect>"
    middle = y + size / 2 + 4 - 5.5 * (len(cell.lines) - 1)
    return made + "".join(
        _text(x + size / 2, middle + 11 * place, line, kind="small") for place, line in enumerate(cell.lines)
    )


def _interval(axis: _Axis, y: float, held: tuple[float, float, float], *, kind: str) -> str:
    """A line from low to high, and a mark at the mean whose shape says how it was decided."""
    mean, low, high = held
    if not math.isfinite(mean):
        return ""
    x = axis.at(mean)
    line = ""
    if math.isfinite(low) and math.isfinite(high):
        line = f'<path class="line" d="M{axis.at(low)} {y}H{axis.at(high)}"/>'
    shape = {
        "told": f'<rect class="dot" x="{x - 3:.1f}" y="{y - 3}" width="6" height="6"/>',
        "equivalent": f'<path class="dot" d="M{x} {y - 4.5}l4.5 4.5l-4.5 4.5l-4.5 -4.5z"/>',
    }.get(kind, f'<circle class="hollow" cx="{x}" cy="{y}" r="3.2"/>')
    return line + shape


def _scale(axis: _Axis, y: float, unit: str) -> str:
    parts = [f'<path class="zero" d="M{_LEFT} {y}H{_RIGHT}"/>']
    for value in ticks(axis.low, axis.high):
        x = axis.at(value)
        parts.append(f'<path class="zero" d="M{x} {y}v4"/>')
        parts.append(_text(min(max(x, 14), _RIGHT - 8), y + 15, f"{value:g}", kind="middle"))
    return "".join(parts) + _text(_RIGHT, y + 29, unit, kind="end")


def _svg(title: str, told: str, body: str, *, height: float) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" xmlns="http://www.w3.org/2000/svg">'
        f"<title>{_plain(title)}</title><desc>{_plain(told)}</desc>{body}</svg>"
    )


def _text(x: float, y: float, text: str, *, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{_plain(_cut(text, _LONGEST))}</text>'


def _cut(text: str, longest: int) -> str:
    """A text cut so that it fits; what is wide, like Chinese, counts twice."""
    room = float(longest)
    for place, letter in enumerate(text):
        room -= 1.75 if letter > "\u2e7f" else 1
        if room < 0:
            return f"{text[:place]}…"
    return text


def _plain(text: str) -> str:
    return escape(_CONTROL.sub(lambda found: f"U+{ord(found[0]):04X}", text))
