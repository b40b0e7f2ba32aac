"""The files of a house: its rules and the outline of an article, read once and used before and after writing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from groundwire.core.findings import StyleFinding
from groundwire.core.types import Article, Document
from groundwire.flow.settings import WriteOptions
from groundwire.writing.house_rules import HouseRules, check_house, read_house_rules, rules_in_words
from groundwire.writing.outline import Outline, check_outline, follow_outline, outline_in_words, read_outline
from groundwire.writing.script import check_days, check_script


@dataclass(frozen=True, slots=True)
class House:
    """What a house asks of an article; None where it has no such file."""

    rules: HouseRules | None = None
    outline: Outline | None = None

    def rules_in_words(self, language: str) -> str:
        """The rules as a writing model is told them; empty where there are none."""
        return rules_in_words(self.rules, language) if self.rules else ""

    def outline_in_words(self, language: str) -> str:
        """The outline as a writing model is told it; empty where there is none."""
        return outline_in_words(self.outline, language) if self.outline else ""

    def followed(self, article: Article) -> Article:
        """The article of a writer that knows no outline, put into the order of it."""
        return follow_outline(article, self.outline) if self.outline else article

    def check(self, article: Article, documents: Mapping[str, Document]) -> tuple[StyleFinding, ...]:
        """What in an article is against the rules, the outline or its script, and days that only sources explain."""
        found = (*check_script(article, documents), *check_days(article, documents))
        if self.rules:
            found += check_house(article, self.rules)
        if self.outline:
            found += check_outline(article, self.outline)
        return found


def house_of(options: WriteOptions) -> House:
    """Read the files that the settings name.

    Raises:
        UnreadableInput, SettingError, UsageError: a file is not there, or not as it should be.
    """
    return House(
        read_house_rules(Path(options.house_rules)) if options.house_rules else None,
        read_outline(Path(options.outline)) if options.outline else None,
    )
