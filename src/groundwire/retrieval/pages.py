"""The main text of a web page, without what its readers do not see."""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping
from typing import Protocol

from groundwire.core.errors import MissingExtra
from groundwire.retrieval.fields import date_in_address
from groundwire.retrieval.formats import Refused, Row, excerpt

_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]+)""", re.IGNORECASE)
_DECLARATION_BYTES = 4096

_HIDING = re.compile(
    r"(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|opacity:0*\.?0*(?=[;!]|$)|font-size:(?:0|[01](?:\.\d+)?px)"
    r"|(?:left|top|right|text-indent|margin-left):-\d{3,})"
)
_WHITE = re.compile(r"(?:^|;)color:(?:white|#fff(?:fff)?|transparent|rgba?\(255,255,255[^)]*\))(?=[;!]|$)")
_AT_BLOCK = re.compile(r"@[^{};]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_ONE_NAME = re.compile(r"(?:[A-Za-z][A-Za-z0-9]*)?([.#]-?[_A-Za-z][\w-]*)")
_NO_CHARACTER = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
    r"|&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01]|6553[45])(?!\d)|[xX]0*(?:[0-8bcefBCEF]|1[\da-fA-F]|[fF]{3}[efEF])(?![\da-fA-F]));?"
)
"""What XML cannot hold, as it is or by number; lxml reads it, but fails on moving it."""
_FURNITURE = frozenset(
    ("script", "style", "noscript", "title", "nav", "aside", "footer", "form", "button", "select", "iframe", "svg")
)
_BLOCKS = frozenset(
    (
        "address", "article", "blockquote", "center", "dd", "div", "dl", "dt", "figcaption", "figure", "h1", "h2", "h3",
        "h4", "h5", "h6", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table", "tr", "ul",
    )
)  # fmt: skip
"""Elements that begin and end a paragraph."""
_AFTER = {"br": "\n", "td": " ", "th": " "}
_NEVER_HIDDEN = ("html", "head", "body", "main", "article")
"""Pages that a script reveals hide these at first; taking them out would lose the whole text."""


class _Element(Protocol):
    """What is used of an element of lxml, which has no types of its own."""

    tag: str
    text: str | None
    tail: str | None
    attrib: MutableMapping[str, str]

    def get(self, key: str, default: str = "") -> str: ...

    def iter(self, tag: str) -> Iterator[_Element]: ...

    def drop_tree(self) -> None: ...

    def __iter__(self) -> Iterator[_Element]: ...


def declared_encoding(data: bytes) -> str:
    """The encoding that a page says it is in (``meta`` or XML declaration), or ``""``."""
    found = _DECLARED.search(data[:_DECLARATION_BYTES])
    return found.group(1).decode("ascii") if found else ""


def read_page(text: str) -> Row | Refused:
    """One document: main text, title, date, site, address and language of a page.

    Comments, templates and hidden elements (``hidden``, ``aria-hidden``, an inline style or a simple rule of the
    page's own style sheet that hides, white letters without a background) are taken out before the text is looked
    for; the row's notes say how many.

    Raises:
        MissingExtra: trafilatura is not installed.
    """
    try:
        from lxml import etree
        from trafilatura import bare_extraction, load_html
        from trafilatura.settings import Document as PageDocument
    except ImportError as error:
        raise MissingExtra("Reading HTML", extra="read") from error
    text = _NO_CHARACTER.sub("", text)
    tree = load_html(text)
    if tree is None:  # a fragment, which trafilatura takes for something else
        tree = load_html(f"<html><body>{text}</body></html>")
    if tree is None:
        return Refused("bad_html", "no HTML that can be parsed", None, excerpt(text))
    hidden = _take_out_hidden(tree)
    try:
        # Without extensive_search htmldate gives no date rather than one guessed from anywhere in the page.
        found = bare_extraction(
            tree,
            include_comments=False,
            with_metadata=True,
            date_extraction_params={"extensive_search": False, "original_date": True, "max_date": "2200-12-31"},
        )
    except (etree.LxmlError, AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
        return Refused("bad_html", f"trafilatura could not read the page: {type(error).__name__}", None, excerpt(text))
    if not isinstance(found, PageDocument) or not found.text:
        reason = f"no main text was found (hidden elements left out: {hidden})"
        return Refused("bad_html", reason, None, excerpt(text))
    values = {
        "title": found.title,
        "text": found.text,
        "published": found.date,
        "source": found.sitename,
        "url": found.url,
        "language": found.language or tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang"),
    }
    notes = [f"hidden elements left out: {hidden}"] if hidden else []
    in_address = date_in_address(found.url or "")
    if in_address and found.date == in_address.isoformat():  # where the library looks first
        notes.append("date: from the address of the page")
    return Row(values, named=True, notes=tuple(notes))


def read_fragment(html: str) -> tuple[str, int]:
    """All the text of a piece of HTML that a reader would see, and how many hidden elements were left out.

    For what holds no page around it (entries of feeds, mail): scripts, forms, menus and the like are taken out with
    what is hidden, and nothing is guessed about the rest. Paragraphs are parted by a blank line.

    Raises:
        MissingExtra: trafilatura is not installed.
    """
    try:
        from trafilatura import load_html
    except ImportError as error:
        raise MissingExtra("Reading HTML", extra="read") from error
    tree = load_html(f"<html><body>{_NO_CHARACTER.sub('', html)}</body></html>")
    if tree is None:
        return "", 0
    hidden = _take_out_hidden(tree)
    text = re.sub(r" {2,}", " ", "".join(_pieces(tree)))
    return re.sub(r"\n{3,}", "\n\n", re.sub(r" *\n *", "\n", text)).strip(), hidden


def _pieces(tree: _Element) -> Iterator[str]:
    """The text of a tree in order, with line ends where paragraphs and lines begin and end."""
    left: list[_Element | str] = [tree]
    while left:
        item = left.pop()
        if isinstance(item, str):
            yield item
            continue
        left.append(re.sub(r"\s+", " ", item.tail or ""))
        if isinstance(item.tag, str) and item.tag not in _FURNITURE:
            edge = "\n\n" if item.tag in _BLOCKS else _AFTER.get(item.tag, "")
            left += (edge, *reversed(list(item)), re.sub(r"\s+", " ", item.text or ""))
            left += ("\n\n",) if item.tag in _BLOCKS else ()


def _take_out_hidden(tree: _Element) -> int:
    """Remove templates and hidden elements with all they hold; how many hidden ones there were."""
    names = _hidden_names("".join(style.text or "" for style in tree.iter("style")))
    hidden = 0
    left = [tree]
    while left:
        element = left.pop()
        if element.tag == "template":
            element.drop_tree()
        elif element.tag not in _NEVER_HIDDEN and _is_hidden(element, names):
            hidden += 1
            element.drop_tree()
        else:
            left.extend(child for child in element if isinstance(child.tag, str))
    return hidden


def _hidden_names(sheet: str) -> frozenset[str]:
    """The classes (``.name``) and ids (``#name``) that a style sheet hides by a rule for them alone, on any medium."""
    names: set[str] = set()
    for selectors, body in _RULE.findall(_AT_BLOCK.sub("", re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL))):
        if _hides(body):
            found = (_ONE_NAME.fullmatch(selector.strip()) for selector in selectors.split(","))
            names.update(match.group(1) for match in found if match)
    return frozenset(names)


def _is_hidden(element: _Element, names: frozenset[str]) -> bool:
    if "hidden" in element.attrib or element.get("aria-hidden", "").strip().lower() == "true":
        return True
    own = {f".{name}" for name in element.get("class", "").split()} | {f"#{element.get('id', '')}"}
    return not names.isdisjoint(own) or _hides(element.get("style", ""))


def _hides(style: str) -> bool:
    plain = re.sub(r"\s+", "", style.lower())
    return bool(_HIDING.search(plain) or (_WHITE.search(plain) and "background" not in plain))
