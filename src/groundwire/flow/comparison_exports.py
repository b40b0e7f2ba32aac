"""Comparisons as JSON (everything), CSV (a row a pair and measure) and LaTeX (a table with intervals and letters)."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib.metadata import version

import numpy as np

from groundwire.core.types import Interval
from groundwire.evaluation.comparisons import Comparison, MeasureComparison, PairComparison
from groundwire.flow.comparing import Compared

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a cell of a spreadsheet program must not begin with unless it is a number."""

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def comparison_json(compared: Compared) -> str:
    """Everything but the answers, as one JSON object with stable names; numbers that are none are null."""
    comparison = compared.comparison
    scales = {scale.measure: scale.words for scale in compared.scales}
    facts = {
        "groundwire": version("groundwire"),
        "systems": comparison.systems,
        "verdicts": [pair.words for measure in comparison.measures for pair in measure.pairs],
        "measures": [{**_plain_measure(one), "scale": scales.get(one.measure)} for one in comparison.measures],
        "mismatches": comparison.mismatches,
        "options": comparison.options,
        "unscored": compared.unscored,
        "costs": compared.mean_costs,
        "scales": compared.scales,
        "sources": compared.sources,
        "notes": (*compared.notes, *comparison.notes),
        "fits": compared.fits,
    }
    return json.dumps(_plain(facts), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _plain_measure(measure: MeasureComparison) -> dict[str, object]:
    pairs = [{**{one.name: getattr(pair, one.name) for one in fields(pair)}, "words": pair.words}
             for pair in measure.pairs]  # fmt: skip
    return {**{one.name: getattr(measure, one.name) for one in fields(measure)}, "pairs": pairs}


def _plain(value: object) -> object:
    """A value as JSON knows it: sets sorted, matrices as lists, nan and infinity null."""
    if is_dataclass(value) and not isinstance(value, type):
        return _plain({one.name: getattr(value, one.name) for one in fields(value)})
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, frozenset):
        return sorted(str(item) for item in value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def comparison_csv(compared: Compared) -> str:
    """One row a pair and measure; what is not there is an empty cell."""
    comparison = compared.comparison
    rows = [_pair_row(measure, pair, comparison) for measure in comparison.measures for pair in measure.pairs]
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    heads = list(rows[0]) if rows else ["measure"]
    writer.writerow(heads)
    writer.writerows([[_cell(row[head]) for head in heads] for row in rows])
    return out.getvalue()


def _pair_row(measure: MeasureComparison, pair: PairComparison, comparison: Comparison) -> dict[str, object]:
    standings = {one.system: one for one in measure.standings}
    one, other = standings[pair.one], standings[pair.other]
    gap, equal = pair.difference, pair.at_equal_length
    return {
        "measure": pair.measure, "one": pair.one, "other": pair.other, "decision": pair.decision,
        "mean_one": one.mean.mean, "mean_other": other.mean.mean,
        "difference": gap.mean, "low": gap.low, "high": gap.high, "level": gap.level, "n": gap.n,
        "p_adjusted": pair.p, "p_tail": pair.tail, "test": measure.how, "permutations": measure.permutations,
        "d_z": pair.d_z, "d_av": pair.d_av, "tukey": pair.tukey,
        "wins": pair.wins, "ties": pair.ties, "losses": pair.losses,
        "margin": pair.margin, "more_items": pair.more,
        "at_equal_length": equal and equal.mean, "at_equal_length_low": equal and equal.low,
        "at_equal_length_high": equal and equal.high,
        "unscored_one": one.coverage.unscored, "unscored_other": other.coverage.unscored,
        "missing_one": one.coverage.missing, "missing_other": other.coverage.missing,
        "left_out": measure.left_out, "seed": comparison.options.seed, "judge": "; ".join(measure.judges),
    }  # fmt: skip


def _cell(value: object) -> object:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value


def comparison_latex(compared: Compared) -> str:
    """A booktabs table: a row a system, a column a measure with mean, letters and interval, and how they came about."""
    comparison = compared.comparison
    measures = [measure for measure in comparison.measures if measure.pairs]
    heads = " & ".join(["System", *(_escaped(measure.measure) for measure in measures)])
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_caption(compared, measures)}}}",
        rf"\begin{{tabular}}{{l{'r' * len(measures)}}}",
        r"\toprule",
        rf"{heads} \\",
        r"\midrule",
    ]
    for system in comparison.systems:
        cells = [_standing_cell(measure, system) for measure in measures]
        lines.append(" & ".join([_escaped(system), *cells]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"


def _caption(compared: Compared, measures: list[MeasureComparison]) -> str:
    options = compared.comparison.options
    counts = "; ".join(
        f"{_escaped(measure.measure)}: n = {measure.items}, {measure.left_out} left out, {_test(measure)}"
        for measure in measures
    )
    return (
        f"Means with {100 * options.level:g}\\,\\% bootstrap intervals ({options.resamples} resamples, seed "
        f"{options.seed}). Systems that share a letter in a column were not told apart. {counts}."
    )


def _test(measure: MeasureComparison) -> str:
    named = {
        "exact": "exact randomised Tukey HSD",
        "monte carlo": f"randomised Tukey HSD with {measure.permutations} permutations",
        "holm": "two-system randomisation tests adjusted by Holm",
        "bridged": "bridged between judges, adjusted by Holm",
    }
    return named.get(measure.how, measure.how)


def _standing_cell(measure: MeasureComparison, system: str) -> str:
    standing = next((one for one in measure.standings if one.system == system), None)
    if standing is None or math.isnan(standing.mean.mean):
        return "--"
    places = decimals(measure)
    mean = standing.mean
    letters = f"$^{{\\mathrm{{{_escaped(standing.letters)}}}}}$" if standing.letters else ""
    around = "" if math.isnan(mean.low) else f" [{mean.low:z.{places}f}, {mean.high:z.{places}f}]"
    return f"{mean.mean:z.{places}f}{letters}{around}"


def decimals(measure: MeasureComparison) -> int:
    """How many decimals suit the values of a measure: 3 up to 1, 2 up to 10, else 1."""
    largest = max((abs(edge) for one in measure.standings for edge in _edges(one.mean)), default=0.0)
    return 3 if largest <= 1 else 2 if largest <= 10 else 1


def _edges(mean: Interval) -> list[float]:
    return [edge for edge in (mean.mean, mean.low, mean.high) if not math.isnan(edge)]


def _escaped(text: str) -> str:
    """A text for LaTeX; control characters become spaces."""
    return "".join(_LATEX.get(letter, letter if letter.isprintable() else " ") for letter in text)
