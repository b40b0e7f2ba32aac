"""Count the calls and tokens that RAGAS, DeepEval, RAGChecker and CCRS in its two modes take for one answer.

Usage: python benchmarks/count_costs.py --rivals PYTHON_OF_A_VENV_WITH_ALL_THREE

Every tool runs as it is released, on one sample of 666 tokens with five contexts, before a stub judge that finds the
same claims for all (7 in the answer, 4 in the reference), says yes and fills every schema at once: calls that real
judges make anew after an unreadable reply come on top. All tokens, in and out, are counted by one tokenizer, that of
Qwen2.5 (through llama.cpp), without what a chat template adds. Replies of stubs are short; compare what goes in.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from groundwire.core.language import Request
from groundwire.core.types import Item
from groundwire.evaluation.comparisons import Options
from groundwire.evaluation.model_judge import JudgeSettings
from groundwire.evaluation.rubrics import CCRS
from groundwire.flow.judging import JudgePlan, judge_by_models
from groundwire.flow.ledger import Ledger
from groundwire.flow.registry import model as model_named
from groundwire.flow.runs import recorded
from groundwire.flow.settings import Loaded, Settings
from groundwire.testing import ScriptedModel
from record import save_result

TOOLS = ("ragas", "deepeval", "ragchecker")
TOKENIZER = "llama:qwen2.5-coder-0.5b"
QUESTION = "Why was the Marl valley railway closed in 1964, and what became of its track bed?"
CONTEXTS = (
    (
        "The Marl valley railway opened in 1871 to carry slate from the quarries above Tennick to the harbour at "
        "Sallow Point. At its height, in 1902, eleven trains ran each day in both directions, and the line "
        "employed 214 people. Passenger trains were added in 1880, after the parish council of Tennick had asked "
        "for them in three petitions."
    ),
    (
        "Traffic fell after the war. By 1958 the quarries sent four fifths of their slate by lorry, and the line "
        "lost 38,000 pounds a year. The board put off a decision twice, in 1959 and in 1961, because the road "
        "through the gorge was closed by snow for five weeks in most winters and the villages had no other way "
        "out."
    ),
    (
        "On 12 November 1963 the viaduct at Corrow was damaged by a flood that carried two of its piers away. "
        "Engineers put the repair at 190,000 pounds, five times what the line lost in a year. The minister "
        "refused the money in February 1964, and the last train ran on 28 March of that year, with 300 people on "
        "board."
    ),
    (
        "The rails were lifted in 1966 and sold for scrap. The county bought the track bed for one pound in 1972. "
        "Between 1978 and 1983 volunteers turned 17 of its 23 kilometres into a path for walkers and cyclists; "
        "the rest, above Tennick, was built over when the reservoir was made. The path had 140,000 visitors in "
        "2019."
    ),
    (
        "Sallow Point has a small museum of the railway in the former engine shed, with one of the four engines, "
        "Heron, and a carriage of 1884. It is open from April to October. A plan of 1995 to lay narrow rails "
        "along the path came to nothing, since the walkers' union and the anglers of the lower river objected to "
        "it. The harbour itself was filled in after the storm of 1987, and the stone quay that had been built for "
        "the slate now stands some 40 metres from the sea. A second museum at Tennick closed in 2004."
    ),
)
ANSWER = (
    "The line was closed because a flood damaged the viaduct at Corrow in November 1963 and the minister refused to pay"
    " the 190,000 pounds for its repair, when the railway was losing 38,000 pounds a year already. The rails were"
    " lifted in 1966. The county bought the track bed in 1972, and most of it is now a path for walkers and cyclists."
)
REFERENCE = (
    "A flood in 1963 destroyed part of the Corrow viaduct and the state would not pay for the repair of a line that"
    " lost money. Most of the track bed became a path for walkers and cyclists; the upper part was built over."
)
ANSWER_CLAIMS = (
    "A flood damaged the viaduct at Corrow in November 1963.",
    "The minister refused to pay for the repair of the viaduct.",
    "The repair would have cost 190,000 pounds.",
    "The railway was losing 38,000 pounds a year.",
    "The rails were lifted in 1966.",
    "The county bought the track bed in 1972.",
    "Most of the track bed is now a path for walkers and cyclists.",
)
REFERENCE_CLAIMS = (
    "A flood in 1963 destroyed part of the Corrow viaduct.",
    "The state would not pay for the repair of the line.",
    "Most of the track bed became a path for walkers and cyclists.",
    "The upper part of the track bed was built over.",
)
SAMPLE = {
    "question": QUESTION, "contexts": CONTEXTS, "answer": ANSWER, "reference": REFERENCE,
    "answer_claims": ANSWER_CLAIMS, "reference_claims": REFERENCE_CLAIMS,
}  # fmt: skip
ITEM = Item("1", QUESTION, CONTEXTS, ANSWER, REFERENCE, "one")
CountOf = Callable[[str], int]
Call = dict[str, str]


def counting() -> CountOf:
    """Counts the tokens of a text; the engine reads no prompt."""
    engine = model_named(TOKENIZER, profiles={}, environment={})

    def count(text: str) -> int:
        return len(engine._tokens(text, special=False, deadline=time.monotonic() + 600))  # type: ignore[attr-defined]

    return count


def of_rival(python: Path, tool: str) -> tuple[str, list[Call], list[int] | None]:
    with tempfile.TemporaryDirectory() as folder:
        sample = Path(folder) / "sample.json"
        sample.write_text(json.dumps(SAMPLE), encoding="utf-8")
        script = Path(__file__).with_name("cost_rivals.py")
        done = subprocess.run(
            [python, "-W", "ignore", script, tool, sample], capture_output=True, text=True, check=True, timeout=300
        )
    found = json.loads(done.stdout.splitlines()[-1])
    return found["version"], found["calls"], found["claims"]


def scripted(metric: str, calls: list[Call]) -> ScriptedModel:
    """The same stub for our own calls."""

    def reply(request: Request) -> str:
        prompt = "\n".join(message.text for message in request.messages)
        if request.purpose == "finding claims":
            text = json.dumps({"claims": ANSWER_CLAIMS if ANSWER in prompt else REFERENCE_CLAIMS})
        elif request.purpose == "checking claims":
            numbers = [n for n in range(1, 8) if f"\n{n}. " in prompt]
            verdicts = {"verdicts": [{"number": n, "verdict": "supported"} for n in numbers]}
            text = json.dumps(verdicts if numbers else {"verdict": "supported"})
        elif request.stop:
            text = '{"score": 80, '
        else:
            text = json.dumps({"evidence": "The text says so in its first sentence.",
                               **{rubric.name: 80 for rubric in CCRS}})  # fmt: skip
        calls.append({"metric": metric, "prompt": prompt, "reply": text})
        return text

    return ScriptedModel(reply, name="stub")


def of_ours(name: str, plan: JudgePlan) -> list[Call]:
    calls: list[Call] = []
    with (
        Ledger(":memory:") as ledger,
        recorded(ledger, command=["bench"], settings=Loaded(Settings(), {})) as recording,
    ):
        judged = judge_by_models([ITEM], models=[scripted(name, calls)], recording=recording, plan=plan)
    assert all(row.value is not None for row in judged.judgements), judged.judgements
    return calls


def bill(calls: Sequence[Call], count: CountOf) -> dict[str, object]:
    def row(some: Sequence[Call]) -> dict[str, int]:
        return {
            "calls": len(some),
            "input tokens": sum(count(call["prompt"]) for call in some),
            "output tokens": sum(count(call["reply"]) for call in some),
        }

    metrics = dict.fromkeys(call["metric"] for call in calls)
    each = {metric: row([call for call in calls if call["metric"] == metric]) for metric in metrics}
    return {**row(calls), **({"by metric": each} if len(each) > 1 else {})}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rivals", type=Path, help="a Python that has ragas, deepeval and ragchecker")
    arguments = parser.parse_args()
    few = Options(resamples=100, permutations=100)
    ours = {
        "groundwire, CCRS shared": JudgePlan(JudgeSettings(mode="shared"), options=few),
        "groundwire, CCRS paper": JudgePlan(JudgeSettings(mode="paper"), options=few),
        "groundwire, claims in batches of 5": JudgePlan(rubrics=(), claims=True, options=few),
        "groundwire, claims one by one": JudgePlan(rubrics=(), claims=True, batch=1, options=few),
    }
    calls = {name: of_ours(name, plan) for name, plan in ours.items()}
    notes = {}
    for tool in TOOLS if arguments.rivals else ():
        version, found, claims = of_rival(arguments.rivals, tool)
        calls[f"{tool} {version}"] = found
        if claims:
            notes[tool] = f"found {claims[0]} claims in the answer, {claims[1]} in the reference"
    count = counting()
    sample = sum(map(count, (QUESTION, *CONTEXTS, ANSWER, REFERENCE)))
    figures = {
        "sample": {"tokens": sample, "contexts": len(CONTEXTS), "answers": 1, "tokenizer": TOKENIZER,
                   "claims": [len(ANSWER_CLAIMS), len(REFERENCE_CLAIMS)]},
        "tools": {name: bill(found, count) for name, found in calls.items()},
        "notes": notes,
    }  # fmt: skip
    print(json.dumps(figures, indent=1))
    save_result("costs", figures)


if __name__ == "__main__":
    main()
