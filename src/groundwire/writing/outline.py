"""An outline that an editor writes as a small Markdown file: wished headline, headings, notes, lengths.

What the file looks like is told in ``docs/guides/writing.md``. A model is told it before it writes; the article of the
built-in writer is put into its order afterwards, and no claim is lost by that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.core.findings import StyleFinding
from groundwire.core.text import content_words, normalise
from groundwire.core.types import Article, Claim, Section
from groundwire.writing.write import renumbered

Likeness = Callable[[str, str], float]
"""How alike two texts are, from -1 to 1, such as the cosine of their vectors."""
LEAST_ALIKE = 0.5
"""A claim without a word of a heading or its notes goes under it when it is at least so alike, by given vectors."""

_HEADING = re.compile(r"(#+)[ \t]*(.*)")
_LIMIT = re.compile(r"[ \t]*[(（]\s*(?:max|最多)\s*(\d+)\s*(?:words?|字|詞|词)\s*[)）]\s*$", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LENGTH = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+(?:['’.,-][^\W_\u3400-\u9fff]+)*")
_LANGUAGES = {"en": 0, "zh-TW": 1, "zh-CN": 2}
_WORDS: Mapping[str, tuple[str, str, str]] = {
    "intro": (
        "Use exactly these section headings, in this order:",
        "請依序使用下列小標，不增不減：",
        "请依次使用下列小标题，不增不减：",
    ),
    "headline": ("The headline should go along these lines: {}", "標題方向：{}", "标题方向：{}"),
    "notes": (": {}", "：{}", "：{}"),
    "limit": (" (at most {} words)", "（最多 {} 字）", "（最多 {} 字）"),
    "absent": (
        "no claim stands under this heading; find sources for it, or take it out of the outline",
        "此小標下沒有任何內容；請補充來源，或自大綱刪去",
        "此小标题下没有任何内容；请补充来源，或从大纲中删去",
    ),
    "order": (
        "stands before a heading that should come first",
        "排在應在其前的小標之前",
        "排在应在其前的小标题之前",
    ),
    "long": ("{} words, where the outline has at most {}", "{} 字，大綱上限為 {} 字", "{} 字，大纲上限为 {} 字"),
}


@dataclass(frozen=True, slots=True)
class OutlineSection:
    """A heading, what belongs under it, and the most words (Chinese: characters) it may have; 0: any number."""

    heading: str
    notes: str = ""
    max_words: int = 0


@dataclass(frozen=True, slots=True)
class Outline:
    """Sections in order; ``headline`` is a wish, empty where there is none, and ``notes`` say more about it."""

    sections: tuple[OutlineSection, ...]
    headline: str = ""
    notes: str = ""


def read_outline(path: Path) -> Outline:
    """Read an outline.

    Raises:
        UnreadableInput: the file is not there or is not UTF-8.
        UsageError: it is not of the form of an outline; the message names the line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UnreadableInput(f"the outline {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnreadableInput(f"the outline {path} is not UTF-8; save it as UTF-8") from error
    return parse_outline(text, name=str(path))


def parse_outline(text: str, *, name: str = "the outline") -> Outline:
    """``read_outline`` of a text; ``name`` is what errors call it."""
    headline, notes = "", list[str]()
    sections: list[OutlineSection] = []
    seen_headline = False
    for number, line in enumerate(_COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text).splitlines(), start=1):
        found = _HEADING.match(line.strip())
        if found is None:
            _note(line, sections, notes, seen=seen_headline, place=f"{name}:{number}")
        elif len(found[1]) == 1:
            if seen_headline or sections:
                raise UsageError(f"{name}:{number}: a headline ('#') stands once, before the headings ('##')")
            headline, seen_headline = found[2].strip(), True
        else:
            sections.append(_section(found, sections, place=f"{name}:{number}"))
    if not sections:
        raise UsageError(f"{name} has no heading; write a line like '## What happened' for each section")
    return Outline(tuple(sections), headline, " ".join(notes))


def _note(line: str, sections: list[OutlineSection], notes: list[str], *, seen: bool, place: str) -> None:
    """Put a line of notes where it belongs."""
    said = line.strip().removeprefix("- ").strip()
    if not said:
        return
    if sections:
        last = sections[-1]
        sections[-1] = replace(last, notes=f"{last.notes} {said}".strip())
    elif seen:
        notes.append(said)
    else:
        raise UsageError(f"{place}: '{said[:40]}' stands under no heading; begin with '# headline' or '## heading'")


def _section(found: re.Match[str], sections: Sequence[OutlineSection], *, place: str) -> OutlineSection:
    if len(found[1]) > 2:
        raise UsageError(f"{place}: '{found[1]}' is a heading inside a section, which articles do not have; use '##'")
    limit = _LIMIT.search(found[2])
    heading = " ".join((found[2][: limit.start()] if limit else found[2]).split())
    if not heading:
        raise UsageError(f"{place}: a heading without words; write them behind '##'")
    if any(_same(heading, known.heading) for known in sections):
        raise UsageError(f"{place}: the heading '{heading}' stands twice; give each its own words")
    return OutlineSection(heading, max_words=int(limit[1]) if limit else 0)


def outline_of(article: Article) -> str:
    """An outline file with the headline and headings of an article, to start from."""
    headings = list(dict.fromkeys(" ".join(section.heading.split()) for section in article.sections))
    own = [f"# {' '.join(article.headline.text.split())}", *(f"## {heading}" for heading in headings if heading)]
    return "\n\n".join(own) + "\n"


def outline_in_words(outline: Outline, language: str) -> str:
    """An outline as a writing model is told it, in English, Traditional or Simplified Chinese."""
    lines = [_worded("headline", language, " ".join(filter(None, (outline.headline, outline.notes))))]
    lines = lines if outline.headline or outline.notes else []
    lines.append(_worded("intro", language))
    for section in outline.sections:
        limit = _worded("limit", language, section.max_words) if section.max_words else ""
        notes = _worded("notes", language, section.notes) if section.notes else ""
        lines.append(f"## {section.heading}{limit}{notes}")
    return "\n".join(lines)


def follow_outline(article: Article, outline: Outline, *, likeness: Likeness | None = None) -> Article:
    """The claims of an article sorted under the headings of an outline; no claim is lost, and none is changed.

    A claim goes under the heading whose words and notes it shares most of, rare words counting more; of equals, the
    first. What stands under a heading of the outline already stays there; what shares no word stays in its own section,
    behind those of the outline. Headline and lede stay.

    Args:
        article: its claims and sources are numbered again in the new order.
        outline: a heading under which nothing comes is left out; ``check_outline`` names it.
        likeness: decides for a claim that shares no word with any heading, where given.
    """
    placed: list[list[Claim]] = [[] for _ in outline.sections]
    left: list[Section] = []
    told = [f"{section.heading} {section.notes}" for section in outline.sections]
    terms = [frozenset(content_words(text)) for text in told]
    for section in article.sections:
        kept: list[Claim] = []
        own_place = next((n for n, wish in enumerate(outline.sections) if _same(wish.heading, section.heading)), None)
        for claim in section.claims:
            place = _place(claim.text, told, terms=terms, likeness=likeness) if own_place is None else own_place
            (kept if place is None else placed[place]).append(claim)
        left += [Section(section.heading, tuple(kept))] if kept else []
    own = [
        Section(wish.heading, tuple(claims)) for wish, claims in zip(outline.sections, placed, strict=True) if claims
    ]
    return renumbered(replace(article, sections=(*own, *left)), {})


def _place(
    claim: str, told: Sequence[str], *, terms: Sequence[frozenset[str]], likeness: Likeness | None
) -> int | None:
    """The section of the outline that a claim belongs in; None where none is alike."""
    held = Counter(word for each in terms for word in each)
    said = frozenset(content_words(claim))
    worth = [sum(1 / held[word] for word in sorted(said & each)) for each in terms]
    if any(worth):
        return worth.index(max(worth))
    alike = [likeness(claim, text) for text in told] if likeness else []
    return alike.index(max(alike)) if alike and max(alike) >= LEAST_ALIKE else None


def check_outline(article: Article, outline: Outline) -> tuple[StyleFinding, ...]:
    """The headings of an outline that an article has nothing under, too much under, or has in another order."""
    language, found = article.language, []
    places: list[int] = []
    for wish in outline.sections:
        number = next((n for n, own in enumerate(article.sections) if _same(own.heading, wish.heading)), None)
        claims = article.sections[number].claims if number is not None else ()
        size = sum(len(_LENGTH.findall(claim.text)) for claim in claims)
        if number is None or not claims:
            found.append(StyleFinding("outline", wish.heading, _worded("absent", language)))
            continue
        if places and number < max(places):
            found.append(StyleFinding("outline", wish.heading, _worded("order", language), claims[0].id))
        if wish.max_words and size > wish.max_words:
            advice = _worded("long", language, size, wish.max_words)
            found.append(StyleFinding("outline", wish.heading, advice, claims[0].id))
        places.append(number)
    return tuple(found)


def _same(one: str, two: str) -> bool:
    return normalise(one) == normalise(two)


def _worded(key: str, language: str, *values: str | int) -> str:
    form, *others = _WORDS[key][_LANGUAGES.get(language, 0)].split("{}")
    return form + "".join(f"{value}{rest}" for value, rest in zip(values, others, strict=True))
