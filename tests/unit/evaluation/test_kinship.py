"""Families of models by name, and what is said where judge and writer are kin."""

import pytest

from groundwire.evaluation.kinship import families, kinship


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("llama:qwen2.5-coder-1.5b", {"qwen"}),
        ("http:qwen2.5:7b", {"qwen"}),
        ("qwen2.5:7b", {"qwen"}),
        ("llama:smollm2-135m", {"smollm"}),
        ("http:llama-3.3-70b", {"llama"}),
        ("ollama:mistral", {"mistral"}),
        ("gpt-4o-mini", {"gpt"}),
        ("o3-mini", {"gpt"}),
        ("http:foo3-mini", set()),
        ("claude-3-5-sonnet", {"claude"}),
        ("google/gemma-3-4b", {"gemini"}),
        ("Mixtral-8x7B", {"mistral"}),
        ("deepseek-r1-distill-qwen-7b", {"deepseek", "qwen"}),
        ("phi-4", {"phi"}),
        ("dolphin-2", set()),
        ("command-r-plus", {"command"}),
        ("yi-34b", {"yi"}),
        ("builtin", set()),
        ("http:our-own", set()),
    ],
)
def test_a_models_name_tells_its_families(name: str, expected: set[str]) -> None:
    assert families(name) == expected


def test_a_judge_of_the_writers_family_is_warned_of() -> None:
    (line,) = kinship("http:qwen2.5-72b", writers={"best": "llama:qwen2.5-coder-1.5b"})

    assert "judges its own family (qwen: system 'best' by 'llama:qwen2.5-coder-1.5b')" in line


def test_a_judge_of_its_own_words_is_warned_of() -> None:
    (line,) = kinship("http:our-own", writers={"best": "http:our-own"})

    assert "judges what it wrote itself (system 'best')" in line


@pytest.mark.parametrize(
    ("judge", "writer", "unknown"),
    [("gpt-4o", "our-own", "our-own"), ("our-own", "gpt-4o", "our-own"), ("our-own", "their-own", "our-own")],
)
def test_a_family_that_is_not_known_is_said(judge: str, writer: str, unknown: str) -> None:
    (line,) = kinship(judge, writers={"best": writer})

    assert line == f"the family of '{unknown}' is not known, so judge and writer of 'best' may be kin"


def test_other_families_the_builtin_writer_and_nobody_get_no_line() -> None:
    assert kinship("gpt-4o", writers={"a": "llama:qwen2.5-0.5b", "b": "builtin", "c": ""}) == ()
