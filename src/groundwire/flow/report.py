"""A comparison as one self-contained page: the verdict first, figures, and everything down to what a judge said.

No request leaves it, it works without scripts, and every text of the data is escaped and isolated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING
from urllib.parse import quote

from groundwire.core.errors import UsageError
from groundwire.evaluation.comparisons import Comparison, MeasureComparison
from groundwire.evaluation.joins import Joined
from groundwire.flow import page
from groundwire.flow.comparing import Compared
from groundwire.flow.links import mend_surrogates
from groundwire.flow.report_figures import (
    Figure,
    Scene,
    correlations,
    cost_figures,
    figures_of,
    judged_again,
    span_of,
    variance_figure,
)
from groundwire.flow.report_items import TOP, Chosen, choose_items
from groundwire.flow.report_views import LANGUAGES, Facts, MeasureView, Words, measure_view, report_words

if TYPE_CHECKING:
    from jinja2 import Template

_MOST_LISTED = 8
_MOST_REJECTS = 50


@dataclass(frozen=True, slots=True)
class _Misfit:
    """Items that a system lacks or has twice, under one or several measures."""

    system: str
    what: str
    measures: tuple[str, ...]
    listed: tuple[str, ...]
    more: int


def render_report(compared: Compared, *, language: str = "en", created: str = "", values_file: str = "") -> str:
    """The comparison as one HTML file; the same input gives the same bytes.

    Args:
        compared: what to show.
        language: of the fixed words, ``en`` or ``zh-TW``.
        created: the date to print, as the caller gives it; none: no date.
        values_file: the name of a file beside the page that holds every judgement, to link to; none: no link.

    Raises:
        UsageError: there are no words in this language.
    """
    if language not in LANGUAGES:
        raise UsageError(f"reports are in {' and '.join(LANGUAGES)}; '{language}' was asked for")
    words = report_words(language)
    tables = _tables(compared)
    views = _views(compared, tables, words=words)
    comparison, options = compared.comparison, compared.comparison.options
    wanted = [gap.item for view in views for pair in view.pairs for gap in pair.gaps]
    chosen = choose_items(compared, wanted, seed=options.seed)
    css, js = page._asset("report.css"), page._asset("report.js")
    able = [tables[one.measure] for one in comparison.measures if one.measure in tables]
    text = _template().render(
        words=words,
        lang=language,
        policy=page._policy(css, js),
        css=page._trusted(css),
        js=page._trusted(js),
        title=words["title"].format(n=len(comparison.systems)),
        created=created,
        measures=views,
        correlation=_trusted_figure(correlations(able, options, words=words)),
        costs=[_trusted_figure(one) for one in cost_figures(compared, words=words)],
        scale_notes=[scale.note for scale in compared.scales if scale.note],
        misfits=_misfits(comparison),
        notes=(*compared.notes, *comparison.notes),
        chosen=chosen,
        said_of_items=_said_of_items(chosen, seed=options.seed, words=words),
        link=quote(values_file),
        values_file=values_file,
        sources=compared.sources,
        most_rejects=_MOST_REJECTS,
        facts=_facts(comparison, created, words=words),
    )
    return mend_surrogates(text) + "\n"


def values_jsonl(compared: Compared) -> str:
    """Every judgement, one JSON object a line, which ``compare`` and ``label agree`` read."""
    lines = (json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in compared.judgements)
    return mend_surrogates("".join(lines))


def _tables(compared: Compared) -> Mapping[str, Joined]:
    """The values of each measure that was compared from one table; bridged measures have none."""
    able = {one.measure for one in compared.comparison.measures if one.pairs}
    return {table.measure: table for table in compared.comparison.tables if table.measure in able}


def _views(compared: Compared, tables: Mapping[str, Joined], *, words: Words) -> list[MeasureView]:
    scales = {scale.measure: scale.words for scale in compared.scales}
    lower = compared.comparison.options.lower_is_better
    again = judged_again(compared.judgements)
    return [
        measure_view(
            measure,
            Facts(place, tables.get(measure.measure), scales.get(measure.measure, "0 to 100"), measure.measure in lower,
                  _figures(compared, measure, tables.get(measure.measure), again=measure.measure in again,
                           words=words)),
            words=words,
        )
        for place, measure in enumerate(compared.comparison.measures, start=1)
    ]  # fmt: skip


def _figures(
    compared: Compared, measure: MeasureComparison, table: Joined | None, *, again: bool, words: Words
) -> tuple[Figure, ...]:
    found: list[Figure | None] = []
    if table is not None:
        scene = Scene(measure, table, span_of(table), compared.comparison.options, words)
        found += figures_of(scene, compared.lengths)
    if again:
        found.append(variance_figure(measure.measure, compared.judgements, words=words))
    return tuple(figure for one in found if (figure := _trusted_figure(one)) is not None)


def _trusted_figure(figure: Figure | None) -> Figure | None:
    """A drawing is ours, with every text in it escaped where it was written."""
    return None if figure is None else Figure(figure.title, page._trusted(figure.svg), figure.note)


def _said_of_items(chosen: Chosen, *, seed: int, words: Words) -> str:
    held = len(chosen.views)
    if held == chosen.total:
        return words["items_all"].format(n=f"{held:,}")
    return words["items_some"].format(
        n=f"{held:,}", all=f"{chosen.total:,}", top=TOP, seed=seed, left_out=f"{chosen.total - held:,}"
    )


def _misfits(comparison: Comparison) -> list[_Misfit]:
    """What is missing or twice, once where it is the same in several measures."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for one in comparison.mismatches:
        found.setdefault((one.system, one.what), {}).setdefault(one.measure, []).append(one.item_id)
    made = []
    for (system, what), by_measure in sorted(found.items()):
        grouped: dict[tuple[str, ...], list[str]] = {}
        for measure, ids in by_measure.items():
            grouped.setdefault(tuple(ids), []).append(measure)
        for ids_of, measures in grouped.items():
            listed = ids_of[:_MOST_LISTED]
            made.append(_Misfit(system, what.replace(" ", "_"), tuple(measures), listed, len(ids_of) - len(listed)))
    return made


def _facts(comparison: Comparison, created: str, *, words: Words) -> Sequence[tuple[str, str]]:
    options = comparison.options
    judges = sorted({judge for measure in comparison.measures for judge in measure.judges})
    said = words["statistics_words"].format(
        level=f"{100 * options.level:.4g} %", resamples=f"{options.resamples:,}",
        permutations=f"{options.permutations:,}", adjust=options.adjust, tolerance=f"{options.tolerance:g}",
        seed=options.seed,
    )  # fmt: skip
    dated = ((words["created"], created),) if created else ()
    return (*dated, (words["version"], f"groundwire {version('groundwire')}"),
            *((words["judged_by"], judge) for judge in judges), (words["statistics"], said))  # fmt: skip


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["shown"] = page._shown
    environment.filters["bare"] = page._bare
    return environment.from_string(page._asset("report.html.j2"))
