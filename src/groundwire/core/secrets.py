"""Keys that cannot be printed: whatever is done with one gives stars, except the one method that is asked for it."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Iterable, Mapping
from typing import NoReturn, SupportsIndex
from urllib.parse import quote

from groundwire.core.errors import SettingError

STARS = "***"
_SHORT = 8
"""A key below this many characters is hidden only where it stands as a word: it may be a plain word such as EMPTY."""
_KEY_SHAPES = re.compile(r"\bsk-[\w-]{8,}|(?<=\bBearer )[^\s'\"*]{8,}")


class Secret(str):
    """A text that reads ``***``: printed, formatted, logged, as JSON, pickled, copied, in ``asdict``.

    The value itself comes from ``reveal`` alone. A copy, and what a pickle gives back, is the stars and nothing more:
    another process takes the key from its own environment.
    """

    __slots__ = ("_value",)
    _value: str

    def __new__(cls, value: str) -> Secret:
        """Hide a value; white space around it, as pasted, is taken off.

        Raises:
            SettingError: it is empty, or holds what no HTTP header can carry (the message does not show it).
        """
        value = value.strip()
        if not value or not value.isascii() or not value.isprintable():
            raise SettingError(
                "a key must have one character or more, all of them printable ASCII; this one has not. Copy it again"
            )
        secret = super().__new__(cls, STARS)
        secret._value = value
        return secret

    @classmethod
    def from_environment(cls, variable: str, environment: Mapping[str, str]) -> Secret | None:
        """The key that a variable of the environment holds; None where it is not set or blank.

        Raises:
            SettingError: what it holds cannot be a key.
        """
        value = environment.get(variable, "")
        if not value.strip():
            return None
        try:
            return cls(value)
        except SettingError as error:
            raise SettingError(f"the environment variable {variable}: {error}") from None

    def reveal(self) -> str:
        """The value itself."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret('{STARS}')"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self._value, other._value)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[type[str], tuple[str]]:
        return str, (STARS,)

    def __getstate__(self) -> NoReturn:
        raise TypeError("a secret has no state to show")


def hide(text: str, secrets: Iterable[Secret] = ()) -> str:
    """A text with stars in place of these secrets, plain, as JSON or in an address, and of what looks like a key."""
    for secret in secrets:
        value = secret.reveal()
        for form in sorted({value, json.dumps(value)[1:-1], quote(value, safe="")}, key=len, reverse=True):
            found = re.escape(form)
            text = re.sub(rf"(?<!\w){found}(?!\w)" if len(value) < _SHORT else found, STARS, text)
    return _KEY_SHAPES.sub(STARS, text)
