"""Raters on real models, through ``rate`` and the ledger.

The smallest model runs with the other integration tests; the larger ones with ``make test-models``.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from groundwire.backends import model_files
from groundwire.backends.llama_models import LlamaModel
from groundwire.core.language import Message, Request
from groundwire.core.text import detect_language
from groundwire.core.types import Document, RaterName, Sentence, Source
from groundwire.flow.ledger import Ledger
from groundwire.flow.manifests import find_run
from groundwire.flow.pace import Limits
from groundwire.flow.rating import rate
from groundwire.flow.runs import How, Recording, recorded
from groundwire.flow.settings import Loaded, Settings
from groundwire.writing.raters import RaterSettings

SMALLEST = "smollm2-135m"
LARGER = ("qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b")
HOW = How(limits=Limits(at_first=1, at_once=1, timeout_seconds=600))
EVENTS = {
    "Flood relief in Tainan": (
        "Relief teams brought food and pumps to flooded homes in Tainan on Monday. Water stood two metres high.",
        "The museum in Berlin opens a show of old clocks next week. Tickets cost nine euros.",
    ),
    "臺南水災救援": (
        "救援隊週一將食物和抽水機送到臺南淹水的住家，積水高達兩公尺。",
        "柏林的博物館下週舉辦古鐘展，門票九歐元。",
    ),
}


def source(name: str, text: str) -> Source:
    return Source(Document(name, text), (), (Sentence(f"{name}#0", name, 0, 0, len(text), text),))


def sources(topic: str) -> list[Source]:
    return [source(name, text) for name, text in zip(("near", "far"), EVENTS[topic], strict=True)]


def run(ledger: Ledger, *, replay: bool = False) -> object:
    then = find_run(ledger, "last").manifest if replay else None
    return recorded(ledger, command=["write"], settings=Loaded(Settings(), {}), how=HOW, replay_of=then)


@pytest.fixture(params=LARGER)
def larger(request: pytest.FixtureRequest) -> Iterator[LlamaModel]:
    model = LlamaModel(model_files.path(request.param), name=request.param)
    yield model
    model.close()


@pytest.mark.integration
@pytest.mark.parametrize("how", ["expected", "likelihood"])
def test_the_smallest_model_rates_through_the_ledger_and_a_replay_is_byte_equal(how: RaterName, tmp_path: Path) -> None:
    topic = "Flood relief in Tainan"
    model = LlamaModel(model_files.path(SMALLEST), name=SMALLEST)

    def rated(recording: Recording) -> str:
        asked = recording.model(f"llama:{SMALLEST}", lambda: model)
        found = rate(topic, sources(topic), how=how, model=asked, recording=recording,
                     settings=RaterSettings(evidence_tokens=60))  # fmt: skip
        text = json.dumps([[each.source.document.id, each.relevance, each.reason] for each in found.scored])
        recording.output("rated.json", text.encode())
        return text

    with Ledger(tmp_path / "real.ledger") as ledger:
        with run(ledger) as recording:
            first = rated(recording)
        calls = ledger.bill().answered
        model.close()
        model._file = Path("gone")  # the engine could not start again
        with run(ledger, replay=True) as recording:
            again = rated(recording)
        differences, after = recording.differences, ledger.bill().answered

    assert first == again
    assert differences == ()
    assert calls == after >= 2
    if how == "likelihood":
        assert json.loads(first)[0][0] == "near"
        assert all(value is not None for _, value, _ in json.loads(first))


@pytest.mark.models
def test_a_larger_model_follows_a_schema(larger: LlamaModel) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "metres": {"type": "integer", "minimum": 0, "maximum": 9}},
        "required": ["city", "metres"],
        "additionalProperties": False,
    }
    asked = Message("user", f"{EVENTS['Flood relief in Tainan'][0]} Which city, and how many metres?")

    reply = larger.reply(Request((asked,), 60, schema=json.dumps(schema)), timeout_seconds=300)

    found = json.loads(reply.text)
    assert found == {"city": "Tainan", "metres": 2}


@pytest.mark.models
def test_a_larger_model_tells_how_likely_given_words_are(larger: LlamaModel) -> None:
    asked = (Message("user", "What is the capital of France? Reply with one word."),)

    right, wrong = (
        larger.reply(Request(asked, 1, given=text), timeout_seconds=300) for text in ("Paris", "Potato salad")
    )

    assert "".join(token.text for token in wrong.tokens) == "Potato salad"
    means = [sum(token.logprob for token in one.tokens) / len(one.tokens) for one in (right, wrong)]
    assert means[0] > -0.5
    assert means[1] < -4


@pytest.mark.models
@pytest.mark.parametrize("topic", EVENTS)
def test_a_larger_model_rates_by_expectation_and_by_likelihood(larger: LlamaModel, topic: str, tmp_path: Path) -> None:
    with Ledger(tmp_path / "real.ledger") as ledger, run(ledger) as recording:
        by = {
            how: rate(topic, sources(topic), how=how, model=larger, recording=recording)
            for how in ("expected", "likelihood")
        }

    for found in by.values():
        assert found.unscored == 0
        assert all(0 <= each.relevance <= 100 for each in found.scored)
    assert [each.source.document.id for each in by["likelihood"].scored] == ["near", "far"]
    assert all(re.search(r"on \d+% of the probability", each.reason) for each in by["expected"].scored)


@pytest.mark.models
def test_a_larger_model_replies_in_traditional_chinese(larger: LlamaModel) -> None:
    asked = (
        Message("system", "你是臺灣的新聞編輯，只用繁體中文回答。"),
        Message("user", f"用一句話說明這則報導：{EVENTS['臺南水災救援'][0]}"),
    )

    reply = larger.reply(Request(asked, 60), timeout_seconds=300)

    assert detect_language(reply.text) == "zh-TW"
    assert "臺南" in reply.text or "台南" in reply.text
