"""What a blind sheet looks like: its questions in words, as a table for spreadsheet programs, and as a page.

What a spreadsheet would run as a formula is quoted; the page loads nothing, sends nothing, and escapes every text.
"""

from __future__ import annotations

import csv
import io
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from groundwire.core.errors import UsageError
from groundwire.core.prompts import load
from groundwire.core.text import detect_language
from groundwire.core.types import Item
from groundwire.evaluation.articles import PROMPT
from groundwire.evaluation.sheets import LEFT, PREFERENCE, RIGHT, TIE, Asked, Key, Task, questions
from groundwire.flow import page
from groundwire.flow.links import mend_surrogates
from groundwire.flow.wording import LANGUAGES

if TYPE_CHECKING:
    from jinja2 import Template

GUIDE = "#guide"
"""The id of the row under the head that says what the questions mean."""

_MOST_IN_A_CELL = 32_767
_NEED_SOURCES = frozenset(("accuracy", "contextual_coherence"))
_NEED_REFERENCE = frozenset(("answer_correctness", "information_recall"))
_RISKY = re.compile(r"[=+\-@\t\r＝＋－＠]")
_LEVEL = re.compile(r"(\d)[:：]\s*(.*?)(?=\s*\d[:：]|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"[^.。]+[.。]?")


@dataclass(frozen=True, slots=True)
class Worded:
    """A question as a person sees it; ``anchors`` say what each level from 1 means, where there are levels."""

    name: str
    title: str
    asks: str
    anchors: tuple[str, ...]
    choices: tuple[Mapping[str, str], ...]
    low: int
    high: int


def worded_questions(form: str, language: str) -> tuple[Worded, ...]:
    """The questions of a form in words, with the anchors that a judge is given too.

    Raises:
        UsageError: there is no such form.
    """
    words = sheet_words(language)
    asked = questions(form)
    if form == PREFERENCE:
        shown = ((LEFT, words["better_left"]), (RIGHT, words["better_right"]), (TIE, words["tie"]))
        choices = tuple({"value": value, "shown": text, "anchor": ""} for value, text in shown)
        return (Worded(PREFERENCE, words["preference"], words["which"], (), choices, 0, 0),)
    if form == "scorerag":
        return tuple(_levelled(one, language) for one in asked)
    return tuple(_numbered(one, language) for one in asked)


@cache
def sheet_words(language: str) -> Mapping[str, str]:
    """The fixed words of sheets in one of ``LANGUAGES``."""
    rows = tomllib.loads((files("groundwire.flow") / "templates" / "sheet.toml").read_text(encoding="utf-8"))
    return {name: row[LANGUAGES.index(language)] for name, row in rows.items()}


def safe_cell(text: str) -> str:
    """A text for a cell; what a spreadsheet program would take for a formula has an apostrophe before it."""
    return f"'{text}" if _RISKY.match(text) else text


@dataclass(frozen=True, slots=True)
class Sheet:
    """A key with the texts it stands for; ``language`` is that of the fixed words."""

    key: Key
    items: Mapping[tuple[str, str], Item]
    texts: Mapping[tuple[str, str], str]
    language: str

    def table(self, annotator: int) -> str:
        """As CSV with a byte order mark; a row under the head says what the questions mean."""
        asked = worded_questions(self.key.form, self.language)
        words, pair = sheet_words(self.language), self.key.form == PREFERENCE
        heads = ["id", "question", "sources", *((LEFT, RIGHT) if pair else ("answer",)), "reference",
                 *(one.name for one in asked), "comment"]  # fmt: skip
        rows = [[GUIDE, words["csv_guide"], *[""] * (3 if pair else 2), "", *(_guide(one, words) for one in asked), ""]]
        for task in self.key.of(annotator):
            first = self.items[task.item_id, task.systems[0]]
            held = (first.question, _listed(self._contexts(task)), *self._shown(task), first.reference or "")
            rows.append([task.id, *held, *[""] * len(asked), ""])
        written = io.StringIO()
        csv.writer(written).writerows([heads, *([safe_cell(cell) for cell in row] for row in rows)])
        return "\ufeff" + written.getvalue()

    def page(self, annotator: int, *, name: str) -> str:
        """As one HTML file; the same key gives the same bytes."""
        words = sheet_words(self.language)
        asked = worded_questions(self.key.form, self.language)
        css, js = page._asset("sheet.css"), page._asset("sheet.js")
        made = _template().render(
            words=words,
            lang=self.language,
            policy=page._policy(css, js),
            css=page._trusted(css),
            js=page._trusted(js),
            sheet=self.key.sheet,
            annotator=annotator,
            file=page._bare(name),
            columns=" ".join(one.name for one in asked),
            questions=asked,
            tasks=[self._task(task, words) for task in self.key.of(annotator)],
        )
        return mend_surrogates(made) + "\n"

    def notes(self, *, table: bool) -> tuple[str, ...]:
        """What the person who made the sheet must know."""
        shown = {(task.item_id, system) for task in self.key.tasks for system in task.systems}
        named = sum(_names(self.texts[item, system], system) for item, system in shown)
        notes = [f"drawn {self.key.draw}"]
        if named:
            notes.append(f"{named} of {len(shown)} texts hold the name of their system: they are not blind")
        names = {one.name for one in questions(self.key.form)}
        for what, needing, lacking in (
            ("sources", _NEED_SOURCES, [not self.items[place].contexts for place in shown]),
            ("a reference", _NEED_REFERENCE, [not self.items[place].reference for place in shown]),
        ):
            if names & needing and any(lacking):
                needed = ", ".join(sorted(names & needing))
                notes.append(f"{sum(lacking)} of {len(shown)} texts come without {what}, needed for {needed}")
        long = [text for place in shown for text in (self.texts[place], _listed(self.items[place].contexts))]
        if table and (over := sum(len(text) > _MOST_IN_A_CELL for text in long)):
            notes.append(
                f"{over} cells hold more than the {_MOST_IN_A_CELL:,} characters a spreadsheet keeps; make .html"
            )
        return tuple(notes)

    def _shown(self, task: Task) -> list[str]:
        return [self.texts[task.item_id, system] for system in task.systems]

    def _contexts(self, task: Task) -> tuple[str, ...]:
        """The sources of the texts that are shown, each once."""
        return tuple(
            dict.fromkeys(text for system in task.systems for text in self.items[task.item_id, system].contexts)
        )

    def _task(self, task: Task, words: Mapping[str, str]) -> dict[str, object]:
        first = self.items[task.item_id, task.systems[0]]
        heads = (words["left"], words["right"]) if len(task.systems) > 1 else (words["text"],)
        texts = [
            {"head": head, "words": text, "lang": detect_language(text)}
            for head, text in zip(heads, self._shown(task), strict=True)
        ]
        return {"id": task.id, "question": first.question, "texts": texts, "sources": self._contexts(task),
                "reference": first.reference}  # fmt: skip


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["shown"] = page._shown
    return environment.from_string(page._asset("sheet.html.j2"))


def _levelled(asked: Asked, language: str) -> Worded:
    """A criterion with its anchors, as the prompt of the judge has them."""
    system = load(PROMPT, language).system
    found = re.search(rf"^{asked.name}(?:（(.+?)）)?[:：]\s*(.+)\n(1[:：].+)$", system, re.MULTILINE)
    if found is None:
        raise UsageError(f"the prompt {PROMPT}.{language}.md does not say what '{asked.name}' means")
    anchors = tuple(_begun(text.strip()) for _, text in _LEVEL.findall(found[3]))
    choices = tuple(
        {"value": str(level), "shown": str(level), "anchor": anchor} for level, anchor in enumerate(anchors, 1)
    )
    title = found[1] or asked.name.capitalize()
    return Worded(asked.name, title, _begun(found[2]), anchors, choices, int(asked.lowest), int(asked.highest))


def _numbered(asked: Asked, language: str) -> Worded:
    """A rubric of CCRS, as the prompt of the judge has it; what that prompt says of ``null`` is for judges only."""
    system = load("rubrics-ccrs-shared", language).system
    found = re.search(rf"^- {asked.name}(?:（(.+?)）)?[:：]\s*(.+)$", system, re.MULTILINE)
    if found is None:
        raise UsageError(f"the prompt rubrics-ccrs-shared.{language}.md does not say what '{asked.name}' means")
    asks = "".join(part for part in _SENTENCE.findall(found[2]) if "null" not in part).strip()
    title = found[1] or asked.name.replace("_", " ").capitalize()
    return Worded(asked.name, title, _begun(asks), (), (), int(asked.lowest), int(asked.highest))


def _names(text: str, system: str) -> bool:
    """Whether a text holds the name of a system as a word of its own."""
    return bool(system) and re.search(rf"(?<!\w){re.escape(system)}(?!\w)", text, re.IGNORECASE) is not None


def _begun(text: str) -> str:
    """A text that begins with a capital."""
    return text[:1].upper() + text[1:]


def _guide(one: Worded, words: Mapping[str, str]) -> str:
    anchors = " ".join(f"{level}: {text}" for level, text in enumerate(one.anchors, 1))
    how = words["csv_choices"] if one.name == PREFERENCE else words["from_to"].format(low=one.low, high=one.high)
    return " ".join(filter(None, (one.asks, f"({how})", anchors)))


def _listed(contexts: Sequence[str]) -> str:
    return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(contexts, 1))
