"""Do means from few labels and a judge hold what they promise? Draws of sheets from answers that people labelled whole.

python benchmarks/bench_labels.py SHARED_DATA [--draws 200] [--labelled 100]

Data: judge-evouna, in which people called every answer of two systems right or wrong. Each draw is one of
``label make``; the judge is token F1 with the reference. The truth is the mean of all of people's labels.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from groundwire.core.types import Item, Judgement
from groundwire.evaluation.measures import token_f1
from groundwire.evaluation.people import judge_agreement
from groundwire.evaluation.sheets import Key, Label, SheetPlan, draw_tasks
from record import save_result

SYSTEMS = ("chatgpt", "gpt4")
RUBRIC = "answer_correctness"


def answers(folder: Path) -> Iterator[tuple[Item, float]]:
    """Each answer with what people said of it, 0 or 100; questions that either system's label lacks are left out."""
    for line in (folder / "judge-evouna" / "judgements.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["improper"] or any(row["human"][system] is None or not row["answers"][system] for system in SYSTEMS):
            continue
        for system in SYSTEMS:
            item = Item(str(row["id"]), row["question"], (), row["answers"][system], row["gold"], system)
            yield item, 100.0 * row["human"][system]


def golds(item: Item) -> list[str]:
    """The answers that count as right."""
    return (item.reference or "").split("/")


def labels(key: Key, people: dict[tuple[str, str], float]) -> list[Label]:
    """What people had said of the texts of a sheet."""
    return [
        Label(task.item_id, task.systems, RUBRIC, people[task.item_id, task.systems[0]], "read", "", 1, task.id,
              bool(task.repeat_of), key.draw)
        for task in key.tasks
    ]  # fmt: skip


def main() -> None:
    """Draw, estimate, and count how often the interval holds the truth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--labelled", type=int, default=100)
    options = parser.parse_args()
    given = list(answers(options.data))
    items = [item for item, _ in given]
    people = {(item.id, item.system): value for item, value in given}
    judged = [
        Judgement(
            one.id, one.system, RUBRIC, 100 * max(token_f1(one.answer, gold) for gold in golds(one)), "read", "F1"
        )
        for one in items
    ]
    means = {name: sum(v for (_, s), v in people.items() if s == name) / (len(items) / 2) for name in SYSTEMS}
    truth = {(name,): mean for name, mean in means.items()} | {SYSTEMS: means[SYSTEMS[0]] - means[SYSTEMS[1]]}
    held = dict.fromkeys(truth, 0)
    alone = dict.fromkeys(truth, 0)
    widths: dict[tuple[str, ...], list[float]] = {name: [] for name in truth}
    for seed in range(options.draws):
        key = draw_tasks(items, form=RUBRIC, plan=SheetPlan(options.labelled, seed, repeated=0))
        (beside,) = judge_agreement(labels(key, people), judged, seed=seed)
        for one in beside.powered:
            found, true = one.found, truth[one.systems]
            assert found is not None
            held[one.systems] += found.low <= true <= found.high
            alone[one.systems] += found.people_only[1] <= true <= found.people_only[2]
            widths[one.systems].append((found.high - found.low) / (found.people_only[2] - found.people_only[1]))
    figures = {
        " minus ".join(name): {
            "truth": round(truth[name], 2),
            "held": held[name] / options.draws,
            "held by people alone": alone[name] / options.draws,
            "width against people alone": round(sum(widths[name]) / options.draws, 4),
        }
        for name in truth
    }
    print(json.dumps(figures, indent=2))
    save_result(
        "labels",
        {"items": len(items) // 2, "labelled": options.labelled, "draws": options.draws, "unscored": 0, **figures},
        seed=0,
    )


if __name__ == "__main__":
    main()
