"""Markdown to a row: the plain text that its readers see, and the fields of its front matter.

What is quoted from an archive is what a document says, not how it was typed: marks of emphasis, the addresses of links
and pictures are left out, and offsets count in the plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from groundwire.retrieval.fields import COMMON_NAMES
from groundwire.retrieval.formats import Row
from groundwire.retrieval.pages import read_fragment

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(
    r"\A\s*(?P<mark>---|\+\+\+)[ \t]*\r?\n(?P<lines>(?:(?!(?P=mark)).*\r?\n){0,200}?)(?P=mark)[ \t]*(?:\r?\n|\Z)"
)
_FRONT_ENTRY = re.compile(r"(?P<key>[^\W\d_][\w -]*?)[ \t]*(?::(?:[ \t]+|(?=[\"']))|[：=][ \t]*)(?P<value>\S.*)$")
_COMMENT = re.compile(r"\s+#(?:\s.*)?\Z")
_BLOCK_MARKS = ("", "|", ">", "|-", ">-", "|+", ">+")
"""Values that stand on the next lines of the front matter, which are not read."""


def read_markdown(text: str) -> Row:
    """One document: ``key: value`` lines between two ``---`` give fields, else the first ``#`` heading the title.

    TOML between ``+++`` is read as well. The text is what follows the front matter, headings included: paragraphs,
    headings and list items parted by a blank line, the cells of a table by `` | ``, code as it stands.

    Raises:
        MissingExtra: there is HTML in it, and trafilatura is not installed.
    """
    from markdown_it import MarkdownIt

    front = _FRONT_MATTER.match(text)
    values: dict[str, object] = dict(_entries(front["lines"])) if front else {}
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = parser.parse(text[front.end() :] if front else text)
    title = next(
        (
            _line(tokens[at + 1])
            for at, token in enumerate(tokens)
            if token.type == "heading_open" and token.tag == "h1"
        ),
        "",
    )
    if title and not any(key.lower() in COMMON_NAMES["title"] for key in values):
        values["title"] = title
    notes = []
    if any(_is_html(token) for token in tokens):
        values["text"], hidden = read_fragment(str(parser.renderer.render(tokens, parser.options, {})))
        notes += [f"hidden elements left out: {hidden}"] if hidden else []
    else:
        values["text"] = "".join(_pieces(tokens)).strip("\n")
    pictures = sum(child.type == "image" for token in tokens for child in token.children or ())
    notes += [f"pictures left out: {pictures}"] if pictures else []
    return Row(values, named=True, notes=tuple(notes))


def _entries(lines: str) -> Iterator[tuple[str, str]]:
    for line in lines.splitlines():
        entry = _FRONT_ENTRY.match(line)
        value = entry["value"].strip() if entry else ""
        quoted = re.fullmatch(r"""(["'])(?P<inside>.*?)\1(?:\s+#.*)?""", value)
        value = quoted["inside"] if quoted else _COMMENT.sub("", value)
        if entry and value not in _BLOCK_MARKS:
            yield entry["key"], value


def _is_html(token: Token) -> bool:
    return token.type == "html_block" or any(child.type == "html_inline" for child in token.children or ())


def _line(inline: Token) -> str:
    """The text of a run of words, without its marks; a line end of the source stays one."""
    shown = {"softbreak": "\n", "hardbreak": "\n", "image": ""}
    return "".join(shown.get(child.type, child.content) for child in inline.children or ()).strip()


def _pieces(tokens: Sequence[Token]) -> Iterator[str]:
    """The text of the blocks in order, each with a blank line behind it."""
    number, in_cell = "", False
    for token in tokens:
        if token.type == "list_item_open":
            number = f"{token.info}{token.markup} " if token.info else ""
        elif token.type in ("th_open", "td_open"):
            yield " | " if in_cell else ""
            in_cell = True
        elif token.type in ("tr_close", "table_close"):
            in_cell = False
            yield "\n"
        elif token.type == "inline":
            text = _line(token)
            yield number + text + ("" if in_cell or not text else "\n\n")
            number = ""
        elif token.type in ("fence", "code_block"):
            yield f"{token.content}\n"
