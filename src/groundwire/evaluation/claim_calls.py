"""Ask models for the claims of a text and whether another text entails them, and read what they say.

Claims are held against a text in batches of five, as RAGChecker does, or one by one. A verdict that does not come back
is asked for once more, and stays open after that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from groundwire.core import prompts
from groundwire.core.answers import Answer
from groundwire.core.errors import UsageError
from groundwire.core.language import Capabilities, Request
from groundwire.core.prompts import Material
from groundwire.core.replies import Reading, read_object, read_verdicts, repair_request
from groundwire.core.text import count_tokens, detect_language
from groundwire.evaluation.claim_measures import Claims, Truth

WORDS = ("supported", "contradicted", "not_found")
PROMPTS = ("claims", "entail", "verify")

_TOKENS_A_VERDICT, _TOKENS_AROUND, _THINKING_TOKENS = 40, 64, 2048


@dataclass(frozen=True, slots=True)
class ClaimJudge:
    """Who takes texts apart, and who decides what entails a claim; both may be one model.

    Attributes:
        extractor: id of the model that finds claims.
        checker: id of the model that decides.
        extractor_able: what the extractor can do.
        checker_able: what the checker can do.
        batch: claims a call; 1 asks about each by itself.
        prompts: a folder with prompts of the user's own.

    Raises:
        UsageError: the batch is empty.
    """

    extractor: str
    checker: str
    extractor_able: Capabilities
    checker_able: Capabilities
    batch: int = 5
    prompts: Path | None = None

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise UsageError(f"a batch of {self.batch} claims was asked for; ask for 1 or more")

    @property
    def fingerprint(self) -> str:
        """Names extractor, checker, batch and prompts; begins as ``claim_measures.BUILTIN`` does."""
        used = [
            prompts.load(name, tag, folder=self.prompts).fingerprint for name in PROMPTS for tag in prompts.LANGUAGES
        ]
        digest = hashlib.sha256(json.dumps([self.batch, used]).encode()).hexdigest()[:12]
        return f"RAGChecker, computed by groundwire/1: claims {self.extractor}, checked {self.checker}, {digest}"


@dataclass(frozen=True, slots=True)
class Check:
    """Claims that one request holds against one text, numbered from 1 in this order."""

    text: str
    claims: tuple[str, ...]
    request: Request
    single: bool


def extraction(judge: ClaimJudge, text: str) -> Request:
    """The call that asks for the claims of a text."""
    able = judge.extractor_able
    prompt = prompts.load("claims", _language(text), folder=judge.prompts)
    rendered = prompts.render(prompt, {"text": Material(text)}, system=able.system)
    tokens = _TOKENS_AROUND + 2 * count_tokens(text) + (_THINKING_TOKENS if able.thinking else 0)
    return Request(
        rendered.messages, tokens, schema=prompt.schema if able.schema else "", prompt=rendered.fingerprint,
        purpose="finding claims",
    )  # fmt: skip


def read_claims(answer: Answer) -> Reading[tuple[str, ...]]:
    """The claims of a reply, each once; none is a reading too."""
    if answer.reply is None:
        return Reading(None, "unreadable", _no_reply(answer))
    found = read_object(answer.reply, json.loads(prompts.load("claims", "en").schema))
    if not isinstance(found.value, Mapping):
        return Reading(None, found.outcome, found.reason, found.text)
    listed = found.value["claims"]
    stripped = [str(claim).strip() for claim in listed] if isinstance(listed, tuple) else []
    return Reading(tuple(dict.fromkeys(stripped)), found.outcome, found.reason, found.text)


def extraction_again(judge: ClaimJudge, answer: Answer, *, reading: Reading[tuple[str, ...]]) -> Request | None:
    """The one further call for claims that could not be read; None where there is nothing to repair."""
    if reading.value is not None or answer.reply is None:
        return None
    return repair_request(answer.request, reading, language=_asked_in(answer.request), folder=judge.prompts)


def claims_of(reading: Reading[tuple[str, ...]]) -> Claims:
    """Claims as measures take them."""
    if reading.value is None:
        return Claims((), reading.outcome, f"no claims could be read: {reading.reason}")
    return Claims(reading.value, reading.outcome, reading.reason)


def checks(judge: ClaimJudge, text: str, /, claims: Sequence[str]) -> tuple[Check, ...]:
    """The calls that hold claims against one text, in order."""
    runs = [tuple(claims[at : at + judge.batch]) for at in range(0, len(claims), judge.batch)]
    return tuple(_check(judge, text, claims=run) for run in runs)


def _check(judge: ClaimJudge, text: str, *, claims: tuple[str, ...]) -> Check:
    able, single = judge.checker_able, judge.batch == 1
    prompt = prompts.load("entail" if single else "verify", _language(claims[0]), folder=judge.prompts)
    values: dict[str, prompts.Value] = {"evidence": Material(text)}
    if single:
        values["claim"] = Material(claims[0])
    else:
        lines = prompts.id_lines((f"{number}.", claim) for number, claim in enumerate(claims, 1))
        values["claims"] = Material(lines)
    rendered = prompts.render(prompt, values, system=able.system)
    tokens = _TOKENS_AROUND + _TOKENS_A_VERDICT * len(claims) + (_THINKING_TOKENS if able.thinking else 0)
    request = Request(
        rendered.messages, tokens, schema=prompt.schema if able.schema else "", prompt=rendered.fingerprint,
        purpose="checking claims",
    )  # fmt: skip
    return Check(text, claims, request, single)


def read_check(check: Check, answer: Answer) -> tuple[Reading[str], ...]:
    """The word for each claim of a call; open where there is none, or two."""
    if answer.reply is None:
        return tuple(Reading[str](None, "unreadable", _no_reply(answer)) for _ in check.claims)
    if not check.single:
        return read_verdicts(answer.reply, count=len(check.claims), allowed=WORDS).readings
    found = read_object(answer.reply, json.loads(prompts.load("entail", "en").schema))
    word = str(found.value["verdict"]) if isinstance(found.value, Mapping) else None
    return (Reading(word, found.outcome, found.reason, found.text),)


def check_again(
    judge: ClaimJudge, check: Check, /, answer: Answer, *, readings: Sequence[Reading[str]]
) -> Check | None:
    """The one further call: about the claims without a word alone, or where none has one, with what is wrong.

    None where every claim has a word, or no reply came at all.
    """
    missing = tuple(claim for claim, one in zip(check.claims, readings, strict=True) if one.value is None)
    if not missing or answer.reply is None:
        return None
    if len(missing) < len(check.claims):
        return _check(judge, check.text, claims=missing)
    request = repair_request(check.request, readings[0], language=_asked_in(check.request), folder=judge.prompts)
    return Check(check.text, missing, request, check.single)


def truths(check: Check, readings: Sequence[Reading[str]]) -> dict[str, Truth]:
    """Whether the text entails each claim of a call; None where no word could be read."""
    return {
        claim: None if one.value is None else one.value == "supported"
        for claim, one in zip(check.claims, readings, strict=True)
    }


def _no_reply(answer: Answer) -> str:
    return f"no reply: {answer.failure.reason if answer.failure else 'none came'}"


def _asked_in(request: Request) -> str:
    return _language(request.messages[-1].text)


def _language(text: str) -> str:
    return prompts.nearest_language(detect_language(text))
