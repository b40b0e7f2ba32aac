"""What another tool sends to its judge for one answer: every prompt and reply of a stub, as JSON on stdout.

Usage: PYTHON_OF_A_VENV_WITH_THE_TOOL benchmarks/cost_rivals.py ragas|deepeval|ragchecker SAMPLE.json

Runs in an environment of its own, without groundwire. The stub finds the claims that the sample names, says yes to
everything, and fills whatever schema it is asked for, so that no call has to be made twice.
"""

# ruff: noqa: ANN401, ARG002 - classes of others, of which nothing is known here
from __future__ import annotations

import asyncio
import json
import os
import sys
import types
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ |= {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "RAGAS_DO_NOT_TRACK": "true",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}
SAID = "The text says so in its first sentence."


class Stub:
    """Replies, and keeps what it was asked under the name of the metric that is being computed."""

    def __init__(self, sample: dict[str, Any]) -> None:
        self.sample = sample
        self.metric = ""
        self.calls: list[dict[str, str]] = []

    def keep(self, prompt: str, reply: str) -> str:
        self.calls.append({"metric": self.metric, "prompt": prompt, "reply": reply})
        return reply

    def claims(self, prompt: str) -> list[str]:
        return self.sample["answer_claims" if self.sample["answer"] in prompt else "reference_claims"]

    def filled(self, prompt: str, schema: dict[str, Any]) -> Any:
        """An object of this schema."""
        return self._value(schema, schema.get("$defs", {}), "", prompt)

    def _value(self, schema: dict[str, Any], named: dict[str, Any], name: str, prompt: str) -> Any:
        if "$ref" in schema:
            return self._value(named[schema["$ref"].rsplit("/", 1)[-1]], named, name, prompt)
        if "enum" in schema or "anyOf" in schema:
            return schema["enum"][0] if "enum" in schema else self._value(schema["anyOf"][0], named, name, prompt)
        kind = schema.get("type", "object")
        if kind == "object":
            return {key: self._value(each, named, key, prompt) for key, each in schema.get("properties", {}).items()}
        if kind == "array":
            return self._listed(schema, named, name, prompt)
        if kind == "string":
            return "yes" if name == "verdict" else SAID
        return {"boolean": True, "integer": 1, "number": 1.0}.get(kind)

    def _listed(self, schema: dict[str, Any], named: dict[str, Any], name: str, prompt: str) -> list[Any]:
        """An entry a claim."""
        claims, items = self.claims(prompt), schema.get("items", {})
        if items.get("type") == "string":
            return claims
        made = [self._value(items, named, name, prompt) for _ in claims]
        for one, claim in zip(made, claims, strict=True):
            one.update({key: claim for key in ("statement", "claim") if key in one})
        return made


def run_ragas(stub: Stub) -> None:
    # ragas 0.4.3 imports a class that langchain-community no longer has; nothing here uses it.
    gone = types.ModuleType("langchain_community.chat_models.vertexai")
    gone.ChatVertexAI = type("ChatVertexAI", (), {})  # type: ignore[attr-defined]
    sys.modules.setdefault(gone.__name__, gone)
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.outputs import Generation, LLMResult
    from ragas import SingleTurnSample, metrics
    from ragas.embeddings import LangchainEmbeddingsWrapper
    from ragas.llms.base import BaseRagasLLM

    class Judge(BaseRagasLLM):  # type: ignore[misc]
        def generate_text(self, prompt: Any, n: int = 1, **_: Any) -> Any:
            text = prompt.to_string()
            at = text.rfind("JSON Schema:\n") + len("JSON Schema:\n")
            schema, _end = json.JSONDecoder().raw_decode(text[at:].lstrip())
            replies = [stub.keep(text, json.dumps(stub.filled(text, schema))) for _ in range(n)]
            return LLMResult(generations=[[Generation(text=reply) for reply in replies]])

        async def agenerate_text(self, prompt: Any, n: int = 1, **more: Any) -> Any:
            return self.generate_text(prompt, n)

        def is_finished(self, response: Any) -> bool:
            return True

    sample = SingleTurnSample(
        user_input=stub.sample["question"], response=stub.sample["answer"], reference=stub.sample["reference"],
        retrieved_contexts=stub.sample["contexts"],
    )  # fmt: skip
    judge, embeddings = Judge(), LangchainEmbeddingsWrapper(DeterministicFakeEmbedding(size=8))
    for make in (
        metrics.Faithfulness, metrics.ResponseRelevancy, metrics.LLMContextPrecisionWithReference,
        metrics.LLMContextRecall, metrics.FactualCorrectness, metrics.AnswerCorrectness, metrics.NoiseSensitivity,
    ):  # fmt: skip
        metric = make(llm=judge)
        if hasattr(metric, "embeddings"):
            metric.embeddings = embeddings
        if hasattr(metric, "answer_similarity"):
            metric.answer_similarity = metrics.SemanticSimilarity(embeddings=embeddings)
        stub.metric = make.__name__
        asyncio.run(metric.single_turn_ascore(sample))


def run_deepeval(stub: Stub) -> None:
    from deepeval import metrics
    from deepeval.models import DeepEvalBaseLLM
    from deepeval.test_case import LLMTestCase

    class Judge(DeepEvalBaseLLM):  # type: ignore[misc]
        def load_model(self, *_: Any, **__: Any) -> Any:
            return self

        def get_model_name(self, *_: Any, **__: Any) -> str:
            return "stub"

        def generate(self, prompt: str, schema: Any = None, **_: Any) -> Any:
            if schema is None:
                return stub.keep(prompt, SAID)
            value = stub.filled(prompt, schema.model_json_schema())
            stub.keep(prompt, json.dumps(value))
            return schema(**value)

        async def a_generate(self, prompt: str, schema: Any = None, **_: Any) -> Any:
            return self.generate(prompt, schema)

    case = LLMTestCase(
        input=stub.sample["question"], actual_output=stub.sample["answer"], expected_output=stub.sample["reference"],
        retrieval_context=stub.sample["contexts"],
    )  # fmt: skip
    for make in (
        metrics.FaithfulnessMetric, metrics.AnswerRelevancyMetric, metrics.ContextualPrecisionMetric,
        metrics.ContextualRecallMetric, metrics.ContextualRelevancyMetric,
    ):  # fmt: skip
        stub.metric = make.__name__
        make(model=Judge(), async_mode=False).measure(case, _show_indicator=False)


def run_ragchecker(stub: Stub) -> None:
    from ragchecker import RAGChecker, RAGResults
    from ragchecker.metrics import all_metrics

    def ask(prompts: list[str]) -> list[str]:
        stub.metric = "all"
        replies = []
        for prompt in prompts:
            if "Entailment" in prompt and "Contradiction" in prompt:
                replies.append(stub.keep(prompt, "\n".join(["Entailment"] * 5)))
            else:
                triplets = [json.dumps([claim, "is", "so"]) for claim in stub.claims(prompt)]
                replies.append(stub.keep(prompt, "\n".join(triplets).replace("[", "(").replace("]", ")")))
        return replies

    row = {
        "query_id": "1", "query": stub.sample["question"], "gt_answer": stub.sample["reference"],
        "response": stub.sample["answer"],
        "retrieved_context": [{"doc_id": str(n), "text": text} for n, text in enumerate(stub.sample["contexts"])],
    }  # fmt: skip
    results = RAGResults.from_dict({"results": [row]})
    RAGChecker(extractor_name="stub", checker_name="stub", custom_llm_api_func=ask).evaluate(results, all_metrics)
    result = results.results[0]
    stub.sample["found"] = [len(result.response_claims), len(result.gt_answer_claims)]


def main() -> None:
    tool, path = sys.argv[1:]
    stub = Stub(json.loads(Path(path).read_text(encoding="utf-8")))
    {"ragas": run_ragas, "deepeval": run_deepeval, "ragchecker": run_ragchecker}[tool](stub)
    out = {"version": version(tool), "calls": stub.calls, "claims": stub.sample.get("found")}
    print(json.dumps(out, ensure_ascii=False))


if __name__ == "__main__":
    main()
