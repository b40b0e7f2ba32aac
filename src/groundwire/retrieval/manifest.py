"""How an archive was made, as it is written down beside the archive."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from groundwire.core.errors import ArchiveError
from groundwire.core.folding import FOLDINGS, Folding
from groundwire.core.types import Context
from groundwire.retrieval.corpus import PASSAGE_TOKENS, SPLITTER

FORMAT = 3
"""Of the archives made here. 2: the words of passages are kept; 3: or not, and words may be folded. All are read."""
_PASSAGE_WORDS_SINCE = 2


@dataclass(frozen=True, slots=True)
class Manifest:
    """How an archive was made; another embedder, splitter or context does not fit into it.

    ``folding`` is how words are folded before they are counted (see ``core.folding``); without ``passage_words`` the
    words of whole passages cannot be counted.
    """

    embedder: str
    dimension: int
    context: Context = "passage"
    passage_tokens: int = PASSAGE_TOKENS
    splitter: str = SPLITTER
    engine: str = "memory"
    folding: Folding = ""
    passage_words: bool = True
    format: int = FORMAT

    def save(self, path: Path) -> None:
        """Write the manifest, whole or not at all."""
        draft = path.with_suffix(".tmp")
        draft.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
        draft.replace(path)

    @classmethod
    def load(cls, path: Path) -> Manifest:
        """Read a manifest; names that this version does not know are passed over.

        Raises:
            ArchiveError: it is not there, is broken, or is of a later format.
        """
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise ArchiveError(f"{path.parent} is not an archive: it has no {path.name}") from error
        except (OSError, ValueError, RecursionError) as error:
            raise _unreadable(path, str(error)) from error
        if not isinstance(found, dict):
            raise _unreadable(path, "it holds no JSON object")
        later = found.get("format")
        if isinstance(later, int) and later > FORMAT:
            raise ArchiveError(
                f"{path.parent} has format {later}, this groundwire reads up to {FORMAT}; install a newer one"
            )
        if wrong := _faults(found):
            raise _unreadable(path, wrong[0])
        if found.get("format", FORMAT) < _PASSAGE_WORDS_SINCE:
            found["passage_words"] = False
        return cls(**{name: found[name] for name in _FITS if name in found})


def _faults(found: Mapping[str, object]) -> list[str]:
    missing = [f"'{name}' is missing" for name in _REQUIRED if name not in found]
    return missing + [
        f"'{name}' is {found[name]!r}" for name, fits in _FITS.items() if name in found and not fits(found[name])
    ]


def _unreadable(path: Path, why: str) -> ArchiveError:
    return ArchiveError(f"{path} cannot be read ({why}); restore it or build the archive again")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


_REQUIRED = ("embedder", "dimension")
_FITS: Mapping[str, Callable[[object], bool]] = {
    "embedder": _is_text,
    "dimension": _is_count,
    "context": lambda value: value in get_args(Context),
    "passage_tokens": _is_count,
    "splitter": _is_text,
    "engine": _is_text,
    "folding": lambda value: value in FOLDINGS,
    "passage_words": lambda value: isinstance(value, bool),
    "format": _is_count,
}
"""The names of a manifest and what may stand there."""
