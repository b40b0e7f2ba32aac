"""What the gates say, as kinds and values, so that a page can word it in its own language.

A check carries its reason as an English sentence; ``reasons.toml`` has the form of each in English, Traditional and
Simplified Chinese. ``read_reason`` finds kind and values again, also in an article reopened from an export.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from groundwire.core.types import Check, Verdict

_LANGUAGES = {"en": 0, "zh-TW": 1, "zh-CN": 2}
_KINDS = {
    "quotation": ("quotation", "引文", "引文"),
    "number": ("number", "數字", "数字"),
    "date": ("date", "日期", "日期"),
    "name": ("name", "名稱", "名称"),
    "speaker": ("speaker", "發言者", "发言者"),
    "direction": ("direction", "方向", "方向"),
    "negation": ("negation", "否定", "否定"),
    "subject": ("subject", "主體", "主体"),
}


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason as a kind (a key of ``reasons.toml``) and its values; an unknown one has kind "" and itself as value."""

    kind: str
    values: tuple[str, ...] = ()


@cache
def _table() -> Mapping[str, tuple[str, str, str]]:
    text = (files("groundwire.writing") / "reasons.toml").read_text(encoding="utf-8")
    return {kind: (forms[0], forms[1], forms[2]) for kind, forms in tomllib.loads(text).items()}


@cache
def _forms() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The English forms as patterns, the longest fixed text first, so that the closest form is found."""
    found = sorted(_table().items(), key=lambda item: -len(item[1][0].replace("{}", "")))
    return tuple((kind, re.compile(re.escape(forms[0]).replace(r"\{\}", "(.+?)"), re.DOTALL)) for kind, forms in found)


def read_reason(reason: str) -> Reason:
    """Kind and values of a check's reason."""
    for kind, form in _forms():
        if match := form.fullmatch(reason):
            return Reason(kind, match.groups())
    return Reason("", (reason,)) if reason else Reason("")


def worded(reason: Reason, language: str) -> str:
    """A reason in a language: ``en``, ``zh-TW`` or ``zh-CN``; English for any other."""
    if not reason.kind:
        return "".join(reason.values)
    return _filled(_table()[reason.kind][_LANGUAGES.get(language, 0)], reason.values)


def _filled(form: str, values: tuple[str, ...]) -> str:
    """A form with its values, in order (``{}``) or by number (``{1}``); a value is put in as it stands."""
    places = iter(range(len(values)))
    return re.sub(r"\{(\d?)\}", lambda found: values[int(found[1]) if found[1] else next(places)], form)


def note(kind: str, *values: object) -> str:
    """A note on an article in English, of a kind of ``reasons.toml``; ``worded_note`` has it in other languages."""
    return worded(Reason(kind, tuple(map(str, values))), "en")


def worded_note(said: str, language: str) -> str:
    """A note in a language, also one behind the name of its document (``Name: note``); others stay as they are."""
    if language not in ("zh-TW", "zh-CN"):
        return said
    places = [0, *(found.end() for found in re.finditer(": ", said))]
    for place in reversed(places):  # what a form leaves open would take a name in
        if (reason := read_reason(said[place:])).kind:
            return f"{said[:place].removesuffix(': ')}{'：' if place else ''}{worded(reason, language)}"
    return said


def worded_check(check: Check, language: str) -> str:
    """A check's reason in a language, with the words it looked at where the reason does not say them itself."""
    reason = worded(read_reason(check.reason), language)
    if check.kind in ("wording", "citation") or not reason:
        return reason
    number = _LANGUAGES.get(language, 0)
    return (
        f"{_KINDS[check.kind][number]} {check.item!r}: {reason}"
        if not number
        else f"{_KINDS[check.kind][number]}「{check.item}」：{reason}"
    )


def worded_verdict(verdict: Verdict, language: str) -> str:
    """A verdict's reason in a language; in English it is ``verdict.reason`` itself."""
    if language not in ("zh-TW", "zh-CN"):
        return verdict.reason
    failed = [check for check in verdict.checks if not check.passed]
    moved = [check for check in verdict.checks if check.kind == "citation" and check.passed and check.reason]
    if not failed or verdict.support in ("supported", "background"):
        own, *_ = verdict.reason.split("; source changed: ")
        said = [worded(read_reason(own), language)]
    else:
        said = [worded_check(check, language) for check in failed]
    return "；".join(dict.fromkeys((*said, *(worded_check(check, language) for check in moved))))
