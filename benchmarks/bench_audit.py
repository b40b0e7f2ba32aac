"""What the audit finds out about the built-in judge, and what it makes of four kinds of padding.

python benchmarks/bench_audit.py [--embedder local:e5-small]

Data: the 24 items of ``groundwire audit``. Writes ``results/audit.json`` and prints the tables of docs/method/ccrs.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from groundwire.evaluation.audit import AuditItem, AuditPlan, audit_items
from groundwire.evaluation.audit_figures import Figure
from groundwire.evaluation.judge import BuiltinJudge
from groundwire.evaluation.rubrics import CCRS
from groundwire.flow.auditing import Audit, AuditSource, BuiltIn, audit, sample_items
from groundwire.flow.registry import embedder
from record import save_result

STOCK = {
    False: "It is important to note that there are many things to consider. I hope this helps.",
    True: "值得注意的是，這是很多人都在問的事。總而言之，希望對您有幫助。",
}
SAYS_NOTHING = "sentences on the topic that say nothing"


def fillers(items: Sequence[AuditItem]) -> Mapping[str, list[AuditItem]]:
    """The same items, padded with other words: stock phrases, the question again, talk, claims about other things."""
    again = audit_items([one.item for one in items])
    return {
        "stock phrases": [replace(one, filler=STOCK[one.chinese]) for one in items],
        "the question again": [replace(one, filler=other.filler) for one, other in zip(items, again, strict=True)],
        SAYS_NOTHING: list(items),
        "claims that no context holds": [replace(one, filler=f"{one.wrong} {other.wrong}".strip())
                                         for one, other in zip(items, again, strict=True)],
    }  # fmt: skip


def slopes(judge: BuiltIn) -> dict[str, list[Figure]]:
    """Points for twice the length, rubric by rubric, for each kind of filler."""
    source = sample_items()
    found = {}
    for kind, items in fillers(source.items).items():
        one = audit(judge, AuditSource(kind, tuple(items)), plan=AuditPlan(probes=("length",)))
        found[kind] = [figure for figure in one.figures if figure.what.startswith("for twice the length")]
    return found


def cell(figure: Mapping[str, Any]) -> str:
    """A value of the results with its interval, shares in per cent."""
    value = figure["value"]
    scale, places, unit = (1, 1, "") if figure["unit"] == "points" else (100, 0, " %")
    mean, low, high = (f"{value[name] * scale:z.{places}f}" for name in ("mean", "low", "high"))
    return f"{mean} [{low}, {high}]{unit}"


def probe_table(found: Mapping[str, Any]) -> list[str]:
    """A row a probe and figure, a column a rubric, as Markdown."""
    heads = [rubric.title.lower() for rubric in CCRS]
    lines = [f"| what was done | n | {' | '.join(heads)} |", f"|---|---|{'---|' * len(heads)}"]
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    for one in found["figures"]:
        rows.setdefault(f"{one['probe']}: {one['what']}", {})[one["rubric"]] = one
    for what, by in rows.items():
        n = next(iter(by.values()))["value"]["n"]
        if "" in by:
            lines.append(f"| {what} | {n} | {cell(by[''])}, all together |{' |' * (len(heads) - 1)}")
        else:
            lines.append(
                f"| {what} | {n} | {' | '.join(cell(by[one.name]) if one.name in by else '' for one in CCRS)} |"
            )
    return lines


def padding_table(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """A row a kind of filler, a column a rubric, as Markdown."""
    heads = [rubric.title.lower() for rubric in CCRS]
    lines = [f"| filler behind the answer | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
    for kind, figures in found.items():
        by = {str(one["rubric"]): one for one in figures}
        lines.append(f"| {kind} | {' | '.join(cell(by[one.name]) for one in CCRS)} |")
    return lines


def plain(figures: Sequence[Figure]) -> list[dict[str, Any]]:
    """Figures as they stand in the results."""
    return [
        {"probe": one.probe, "what": one.what, "rubric": one.rubric, "unit": one.unit, "missed": one.missed,
         "value": asdict(one.value)}
        for one in figures
    ]  # fmt: skip


def results(judge: BuiltinJudge) -> dict[str, Any]:
    """Everything that is kept; seconds depend on the machine."""
    asked = BuiltIn(judge)
    whole: Audit = audit(asked, sample_items())
    return {
        "judge": whole.fingerprint,
        "source": whole.source,
        "items": whole.items,
        "answers": whole.answers,
        "seconds_per_answer": whole.spent.per_answer["seconds"],
        "resamples": whole.plan.resamples,
        "beware": whole.beware,
        "notes": whole.notes,
        "figures": plain(whole.figures),
        "padding": {kind: plain(found) for kind, found in slopes(asked).items()},
    }


def main() -> None:
    """Audit, keep, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", default="")
    options = parser.parse_args()
    found = results(BuiltinJudge(embedder(options.embedder) if options.embedder else None))
    save_result("-".join(filter(None, ("audit", options.embedder.replace(":", "-")))), found, seed=0)
    print("\n".join([*probe_table(found), "", *padding_table(found["padding"])]))


if __name__ == "__main__":
    main()
