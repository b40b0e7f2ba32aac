"""Is a judge of the family of what it judges? Judges favour their like, so that must be said beside their values."""

from __future__ import annotations

import re
from collections.abc import Mapping

_BACKEND = re.compile(r"^(?:llama|http|scripted|ollama|openai|azure):")
_FAMILIES: Mapping[str, str] = {
    "qwen": r"qwen|qwq|tongyi",
    "llama": r"(?<!o)llama|vicuna",
    "gpt": r"gpt|davinci|(?<![a-z0-9])o[1-9](?![a-z0-9])",
    "claude": r"claude",
    "gemini": r"gemini|gemma|(?<![a-z])palm",
    "mistral": r"mistral|mixtral|ministral|codestral|magistral",
    "smollm": r"smollm",
    "deepseek": r"deepseek",
    "phi": r"(?<![a-z])phi(?![a-z])",
    "glm": r"glm",
    "yi": r"(?<![a-z])yi(?![a-z])",
    "command": r"(?<![a-z])command(?![a-z])|(?<![a-z])aya(?![a-z])",
    "granite": r"granite",
    "falcon": r"falcon",
    "olmo": r"olmo",
    "grok": r"grok",
    "kimi": r"kimi|moonshot",
}
"""Family -> the words in the names of its models, makers' sister lines (Gemma, Codestral) among them."""


def families(model: str) -> frozenset[str]:
    """The families that a model's name speaks of; none where it is of none that is known.

    A distilled model is of two (``deepseek-r1-distill-qwen``). The kind of backend does not count (``llama:``).
    """
    name = _BACKEND.sub("", model.casefold())
    return frozenset(family for family, pattern in _FAMILIES.items() if re.search(pattern, name))


def kinship(judge: str, *, writers: Mapping[str, str]) -> tuple[str, ...]:
    """What must be said about a judge of texts that a model of its own family wrote.

    Args:
        judge: the model's id.
        writers: system -> id of the model that wrote; ``builtin``, or nothing where nobody knows.

    Returns:
        A line a system whose writer is of the judge's family, or of a family that cannot be told; the built-in writer
        and an unknown one get none.

    Source: the bias is measured by Panickssery et al. 2024 (arXiv:2404.13076).
    """
    lines = [_line(judge, system, writer) for system, writer in sorted(writers.items())]
    return tuple(filter(None, lines))


def _line(judge: str, system: str, writer: str) -> str:
    if writer in ("", "builtin"):
        return ""
    if writer == judge:
        return f"'{judge}' judges what it wrote itself (system '{system}'); take another judge"
    ours, theirs = families(judge), families(writer)
    shared = ", ".join(sorted(ours & theirs))
    if shared:
        return (
            f"'{judge}' judges its own family ({shared}: system '{system}' by '{writer}'); judges favour their like, so"
            " take one of another family"
        )
    unknown = "" if ours and theirs else writer if ours else judge
    return f"the family of '{unknown}' is not known, so judge and writer of '{system}' may be kin" if unknown else ""
