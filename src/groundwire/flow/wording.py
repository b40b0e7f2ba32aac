"""The fixed words of exports: English, Traditional Chinese (Taiwan) and Simplified Chinese."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

Words = Mapping[str, str]

LANGUAGES = ("en", "zh-TW", "zh-CN")
"""The languages the fixed words are in, by column of ``word_table``."""


@cache
def word_table() -> Mapping[str, tuple[str, ...]]:
    """Every fixed word of an export by its key, a column for each of ``LANGUAGES``."""
    text = (files("groundwire.flow") / "templates" / "words.toml").read_text(encoding="utf-8")
    return {key: tuple(row) for key, row in tomllib.loads(text).items()}


def fixed_words(language: str) -> Words:
    """The fixed words for an article's language; English where there are none of its own."""
    column = LANGUAGES.index(words_language(language))
    return {key: row[column] for key, row in word_table().items()}


def words_language(language: str) -> str:
    """Which of ``en``, ``zh-TW`` and ``zh-CN`` the fixed words of an article in this language are in."""
    tag = language.lower().split("-")
    if tag[0] != "zh":
        return "en"
    return "zh-TW" if {"tw", "hk", "mo", "hant"} & set(tag[1:]) else "zh-CN"
