"""Instructions to models as files: load one, put values into it, and know its fingerprint.

A file ``NAME.LANGUAGE.md`` has a head between two lines ``---`` (``purpose``, ``slots``, ``version``, ``schema``) and
sections: ``== system ==``, ``== user ==``, and where one file serves several calls, ``== part NAME ==`` for what
``{part}`` becomes. ``{slot}`` is the only thing that is replaced, once: what a value holds is never looked at again.

Texts of the archive and of other models are *material*: each is fenced by two lines that carry a code, made from a
hash of everything in the call, so that no text can know it, and checked to occur in none of them. Invisible characters
are taken out, control characters shown, and what a model's server could take for its own marks is changed; each is
noted.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.core.language import Message

RENDERER = "1"
"""Changes whenever the same file and values come to be rendered differently."""
LANGUAGES = ("en", "zh-TW", "zh-CN")

_SLOT = re.compile(r"\{([a-z_]+)\}")
_SECTION = re.compile(r"^== (system|user|part ([a-z_]+)) ==$", re.MULTILINE)
_DECLARED = re.compile(r"([a-z_]+)(\*?)(\??)")
_HEAD_KEYS = ("purpose", "slots", "version", "schema")
_LABEL = re.compile(r"[A-Za-z0-9 ._-]{0,40}")

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_BREAK = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# What chat templates and servers take for a turn, a thought or a fence.
_MARK = re.compile(
    r"<(?=[|｜])|(?<=[|｜])>|<(?=/?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|think|thinking|tool_call|tool_response"
    r"|system|user|assistant|sys)>)|\[(?=/?INST\])|<{2,}|>{2,}",
    re.IGNORECASE,
)
_SHOWN_MARK = str.maketrans("<>[", "‹›［")


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a value: ``material`` is fenced, other values are cleaned and stand on one line."""

    name: str
    material: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Material:
    """A text of somebody else; ``label`` is ours (``S3``): up to 40 ASCII letters, digits, spaces, ``._-``."""

    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Lines:
    """A text of the user's own, such as an outline, whose lines are kept; blank ones go."""

    text: str


Value = str | int | Lines | Material | Sequence[Material]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt file, read and checked.

    ``schema`` is that of the reply as JSON text (empty: free text), ``origin`` the file's path, or ``built in``.
    """

    name: str
    language: str
    purpose: str
    version: str
    slots: tuple[Slot, ...]
    system: str
    user: str
    parts: Mapping[str, str]
    schema: str
    text: str
    origin: str

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits of the file's content and of the renderer's version."""
        content = "\0".join((RENDERER, self.name, self.language, self.schema, self.text))
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def used(self, part: str = "") -> tuple[Slot, ...]:
        """The slots that a call uses."""
        names = set(_SLOT.findall("\n".join((self.system, self.user, self.parts.get(part, "")))))
        return tuple(slot for slot in self.slots if slot.name in names)


@dataclass(frozen=True, slots=True)
class Rendered:
    """Messages that are ready to be sent, the prompt's fingerprint, and what was changed in the values."""

    messages: tuple[Message, ...]
    fingerprint: str
    notes: tuple[str, ...] = ()


def names() -> tuple[str, ...]:
    """The names of all prompts, sorted."""
    found = {path.name.partition(".")[0] for path in files("groundwire").joinpath("prompts").iterdir()}
    return tuple(sorted(found))


def nearest_language(tag: str) -> str:
    """Which of ``LANGUAGES`` serves a BCP 47 tag: Chinese by its script or region (``zh`` alone: zh-TW), else en."""
    parts = tag.replace("_", "-").lower().split("-")
    if parts[0] not in ("zh", "yue", "cmn"):
        return "en"
    return "zh-CN" if {"cn", "sg", "my", "hans"} & set(parts) and "hant" not in parts else "zh-TW"


def load(name: str, language: str = "en", *, folder: Path | None = None) -> Prompt:
    """Read a prompt.

    Args:
        name: one of ``names()``.
        language: one of ``LANGUAGES``.
        folder: of the user's own prompts; a file ``NAME.LANGUAGE.md`` there takes the place of ours. It may leave out
            its head; slots and schema are always those of ours.

    Raises:
        UsageError: there is no such prompt, language or folder, or the user's file asks for a slot that the prompt
            does not have, or leaves out one that it needs.
        UnreadableInput: the user's file is not UTF-8.
    """
    ours = _built_in(name, language)
    path = None if folder is None else own_file(name, language, folder=folder)
    if path is None or not path.exists():
        return ours
    return _own(ours, path)


def own_file(name: str, language: str, *, folder: Path) -> Path:
    """Where the user's own version of a prompt would be.

    Raises:
        UsageError: the folder is not there.
    """
    if not folder.is_dir():
        raise UsageError(f"the folder of your prompts, {folder}, is not there. Make it, or take the setting back")
    return folder / f"{name}.{language}.md"


def render(prompt: Prompt, values: Mapping[str, Value], *, part: str = "", system: bool = True) -> Rendered:
    """Put values into a prompt.

    Args:
        prompt: what ``load`` read.
        values: by slot; a slot of material takes one text or several, any other a short text, a whole number or lines.
        part: which part of the file, where it has parts.
        system: False for a model without a system's turn: its text then begins the user's.

    Raises:
        UsageError: a slot has no value, a value no slot, the part is unknown, or a label is not of the allowed form.
    """
    _check_part(prompt, part)
    slots = {slot.name: slot for slot in prompt.used(part)}
    _check_values(prompt, slots, values)
    notes: list[str] = []
    cleaned = {name: list(_cleaned(slot, values[name], notes)) for name, slot in slots.items() if name in values}
    fence = _fence(prompt.fingerprint, cleaned)
    filled = {
        name: _fenced(cleaned[name], fence) if slots[name].material else cleaned[name][0].text for name in cleaned
    }

    def fill(text: str) -> str:
        return _SLOT.sub(lambda found: filled.get(found[1], ""), text).strip()

    user = prompt.user.replace("{part}", prompt.parts.get(part, ""))
    turns = [Message("system", fill(prompt.system)), Message("user", fill(user))]
    if not system:
        turns = [Message("user", "\n\n".join(turn.text for turn in turns if turn.text))]
    return Rendered(tuple(turn for turn in turns if turn.text), prompt.fingerprint, tuple(notes))


def id_lines(pairs: Iterable[tuple[str, str]]) -> str:
    """Sentences under their ids, one a line, for one ``Material``: a text cannot begin a line of its own."""
    return "\n".join(f"{name} {' '.join(text.split())}" for name, text in pairs)


def _check_part(prompt: Prompt, part: str) -> None:
    known = ", ".join(prompt.parts) or "none"
    if bool(prompt.parts) != bool(part) or (part and part not in prompt.parts):
        raise UsageError(f"the prompt '{prompt.name}' has no part '{part}'; it has {known}")


def _check_values(prompt: Prompt, slots: Mapping[str, Slot], values: Mapping[str, Value]) -> None:
    about = f"the prompt '{prompt.name}' ({prompt.language})"
    missing = sorted(name for name, slot in slots.items() if not slot.optional and name not in values)
    if missing:
        raise UsageError(f"{about} needs a value for {', '.join(missing)}")
    unknown = sorted(set(values) - {slot.name for slot in prompt.slots})
    if unknown:
        raise UsageError(f"{about} has no slot {', '.join(unknown)}; it has {', '.join(s.name for s in prompt.slots)}")


def _cleaned(slot: Slot, value: Value, notes: list[str]) -> Iterator[Material]:
    """A slot's texts, cleaned; what was changed is added to the notes."""
    if slot.material:
        if isinstance(value, Lines):
            raise UsageError(f"the slot '{slot.name}' takes material, not lines of the user's own")
        given = (value,) if isinstance(value, str | int | Material) else tuple(value)
        texts = [each if isinstance(each, Material) else Material(str(each)) for each in given]
    elif isinstance(value, str | int | Lines):
        lines = value.text.splitlines() if isinstance(value, Lines) else (str(value),)
        texts = [Material("\n".join(filter(None, (" ".join(line.split()) for line in lines))))]
    else:
        raise UsageError(f"the slot '{slot.name}' takes a short text, not material")
    for each in texts:
        if not _LABEL.fullmatch(each.label):
            raise UsageError(
                f"'{each.label[:60]}' is no label: use up to 40 ASCII letters, digits, spaces, '.', '_', '-'"
            )
        text, changed = _clean(each.text)
        where = f"{slot.name} {each.label}".strip()
        notes += [f"{where}: {change}" for change in changed]
        yield Material(text, each.label)


def _clean(text: str) -> tuple[str, list[str]]:
    """A text as a model may see it, and what was changed in it."""
    changed: list[str] = []
    gone = Counter(_INVISIBLE.findall(text))
    if gone:
        listed = ", ".join(f"U+{ord(character):04X}" for character in sorted(gone)[:8])
        changed.append(f"{gone.total()} invisible characters were taken out ({listed})")
        text = _INVISIBLE.sub("", text)
    text = _BREAK.sub("\n", text)
    text, shown = _CONTROL.subn(lambda found: _picture(found.group()), text)
    if shown:
        changed.append(f"{shown} control characters are shown")
    text, marks = _MARK.subn(lambda found: found.group().translate(_SHOWN_MARK), text)
    if marks:
        changed.append(f"{marks} marks of chats or fences were changed")
    return text, changed


def _picture(character: str) -> str:
    """A control character as something to be seen."""
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd" if unicodedata.category(character) == "Cs" else f"‹U+{code:04X}›"


def _fence(fingerprint: str, cleaned: Mapping[str, Sequence[Material]]) -> str:
    """A code that only somebody who has all texts of the call can work out, and that stands in none of them."""
    listed = [[name, each.label, each.text] for name in sorted(cleaned) for each in cleaned[name]]
    content = json.dumps([fingerprint, listed], ensure_ascii=False)
    for attempt in range(1000):  # one is enough; a second is needed once in 2 ** 48 texts
        code = hashlib.sha256(f"{attempt}\0{content}".encode()).hexdigest()[:12]
        if code not in content:
            return code
    raise UnreadableInput("the texts of a call hold every code that could fence them")


def _fenced(texts: Sequence[Material], fence: str) -> str:
    return "\n".join(f"<<<{f'{fence} {each.label}'.rstrip()}\n{each.text}\n{fence}>>>" for each in texts)


@lru_cache(maxsize=256)
def _built_in(name: str, language: str) -> Prompt:
    if name not in names():
        raise UsageError(f"there is no prompt '{name}'; there are {', '.join(names())}")
    if language not in LANGUAGES:
        raise UsageError(f"there is no prompt in '{language}'; there are {', '.join(LANGUAGES)}")
    path = files("groundwire").joinpath("prompts", f"{name}.{language}.md")
    text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
    where = f"{name}.{language}.md"
    head, body = _split(text, where)
    lacking = [key for key in _HEAD_KEYS[:3] if key not in head]
    if lacking:
        raise UsageError(f"{where} has no {', '.join(lacking)} in its head")
    slots = tuple(_slot(each.strip(), where) for each in head["slots"].split(",") if each.strip())
    system, user, parts = _sections(body, where)
    prompt = Prompt(name, language, head["purpose"], head["version"], slots, system, user, parts,
                    head.get("schema", ""), text, "built in")  # fmt: skip
    _check_slots(prompt, slots)
    return prompt


def _own(ours: Prompt, path: Path) -> Prompt:
    """The user's file in the place of ours."""
    try:
        text = path.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UnreadableInput(
            f"{path} is not UTF-8 ({error.reason} at byte {error.start}); save it as UTF-8"
        ) from error
    head, body = _split(text, str(path))
    system, user, parts = _sections(body, str(path))
    lacking = sorted(set(ours.parts) - set(parts))
    if lacking:
        raise UsageError(f"{path} lacks the part {', '.join(lacking)}")
    prompt = Prompt(ours.name, ours.language, head.get("purpose", ours.purpose), head.get("version", ""), ours.slots,
                    system, user, parts, ours.schema, text, str(path))  # fmt: skip
    needed = {slot.name: slot for part in ours.parts or ("",) for slot in ours.used(part) if not slot.optional}
    _check_slots(prompt, tuple(needed.values()))
    return prompt


def _split(text: str, where: str) -> tuple[dict[str, str], str]:
    """Head and body of a file; a file may have no head."""
    if not text.startswith("---\n"):
        return {}, text
    head, mark, body = text[4:].partition("\n---\n")
    if not mark:
        raise UsageError(f"the head of {where} is not closed by a line '---'")
    read: dict[str, str] = {}
    for line in filter(str.strip, head.split("\n")):
        key, colon, value = line.partition(":")
        if not colon or key.strip() not in _HEAD_KEYS:
            raise UsageError(f"the head of {where} has the line '{line[:60]}'; it may have {', '.join(_HEAD_KEYS)}")
        read[key.strip()] = value.strip()
    return read, body


def _slot(declared: str, where: str) -> Slot:
    found = _DECLARED.fullmatch(declared)
    if found is None:
        raise UsageError(f"'{declared}' is no slot of {where}: a name, * for material, ? where it may be left out")
    return Slot(found[1], material=bool(found[2]), optional=bool(found[3]))


def _sections(body: str, where: str) -> tuple[str, str, Mapping[str, str]]:
    """The system's text, the user's and the parts."""
    marks = list(_SECTION.finditer(body))
    before = body[: marks[0].start()] if marks else body
    if before.strip() or not marks:
        raise UsageError(f"{where} has text outside its sections, which begin with '== system ==' or '== user =='")
    ends = [*(mark.start() for mark in marks[1:]), len(body)]
    read: dict[str, str] = {}
    for mark, end in zip(marks, ends, strict=True):
        if mark[1] in read:
            raise UsageError(f"{where} has the section '{mark[1]}' twice")
        read[mark[1]] = body[mark.end() : end].strip()
    user = read.pop("user", "")
    parts = {name.removeprefix("part "): text for name, text in read.items() if name.startswith("part ")}
    if not user or bool(parts) != ("{part}" in user):
        raise UsageError(f"{where} needs a section 'user', with {{part}} in it if and only if it has parts")
    return read.get("system", ""), user, MappingProxyType(parts)


def _check_slots(prompt: Prompt, needed: Sequence[Slot]) -> None:
    """Every slot that the file asks for is one of the prompt's, and every needed one is asked for."""
    asked = set(_SLOT.findall("\n".join((prompt.system, prompt.user, *prompt.parts.values())))) - {"part"}
    known = {slot.name for slot in prompt.slots}
    about = f"{prompt.name}.{prompt.language}.md ({prompt.origin})"
    if asked - known:
        raise UsageError(
            f"{about} asks for {', '.join(sorted(asked - known))}; its slots are {', '.join(sorted(known))}"
        )
    lacking = sorted({slot.name for slot in needed} - asked)
    if lacking:
        raise UsageError(f"{about} has no place for {', '.join(lacking)}")
