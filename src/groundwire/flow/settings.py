"""Settings: flag > environment > ``groundwire.toml`` > default; what is unknown is named with its nearest.

Every setting has a dotted name (``search.mode``), the same in the file (table ``[search]``, key ``mode``), in the
environment (``GROUNDWIRE_SEARCH_MODE``) and in the table that ``groundwire show settings`` prints.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from groundwire.core.errors import SettingError
from groundwire.core.folding import DEFAULT, Folding
from groundwire.core.types import Context, Fusion, Mode, Preset, RaterName, Shape
from groundwire.retrieval.search import PRESETS, SearchSettings

FILE_NAME = "groundwire.toml"
PREFIX = "GROUNDWIRE_"
_NOT_SETTINGS = {"GROUNDWIRE_MODELS", "GROUNDWIRE_SHARED"}
_STRICT = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class ReadSettings(BaseModel):
    """How files are read: ``map`` from our field names to theirs, ``date_order`` for dates such as 5/6/2024."""

    model_config = _STRICT
    map: dict[str, str] = {}
    date_order: Literal["day", "month"] | None = None


class IndexSettings(BaseModel):
    """How an archive is made; fixed when it is created."""

    model_config = _STRICT
    context: Context = "passage"
    passage_tokens: int = Field(default=200, ge=1)
    passage_words: bool = True
    folding: Folding = DEFAULT
    commit_sentences: int = Field(default=4000, ge=1)


class SearchOptions(BaseModel):
    """How an archive is searched; what ``preset`` sets is set unless it is given beside it."""

    model_config = _STRICT
    preset: Preset | None = None
    k: int = Field(default=30, ge=1)
    mode: Mode = "hybrid"
    sentence_weight: float = Field(default=0.6, ge=0, le=1)
    fusion: Fusion = "zscore"
    lexical_weight: float = Field(default=0.5, ge=0)
    candidates: int = Field(default=100, ge=1)
    shape: Shape = "sentences"
    neighbours: int = Field(default=1, ge=0)
    passages: int = Field(default=20, ge=1)
    threshold: float = Field(default=0.0, allow_inf_nan=False)
    diversity: float = Field(default=0.3, ge=0, le=1)
    passage_words: float = Field(default=0.0, ge=0, le=1)
    phrases: bool = False
    budget_tokens: int = Field(default=1200, ge=1)

    @model_validator(mode="before")
    @classmethod
    def _fill_from_preset(cls, given: object) -> object:
        return {**_of_preset(given.get("preset")), **given} if isinstance(given, dict) else given


def _of_preset(name: object) -> dict[str, object]:
    """What a preset sets, by the last part of the setting's name; nothing for none, and for an unknown one."""
    settings = next((how for known, how in PRESETS.items() if known == name), None)
    return {} if settings is None else {key: getattr(settings, key) for key in _PRESET_SETS}


_NOT_OF_A_PRESET = {"candidates", "phrases"}
_PRESET_SETS = tuple(
    each.name
    for each in fields(SearchSettings)
    if each.name in SearchOptions.model_fields and each.name not in _NOT_OF_A_PRESET
)


class PackOptions(BaseModel):
    """How evidence is packed under ``search.budget_tokens``."""

    model_config = _STRICT
    tokenizer: Literal["estimate", "embedder"] = "estimate"
    neighbours: int = Field(default=0, ge=0)
    headers: bool = False
    near_duplicates: float | None = Field(default=None, gt=0, le=1)
    per_source: int | None = Field(default=None, ge=1)
    per_story: int | None = Field(default=None, ge=1)


WritePreset = Literal["best", "scorerag", "plain", "zero-shot"]

WRITE_PRESETS: Mapping[WritePreset, Mapping[str, object]] = {
    "best": {"find": "sentences", "rater": "expected", "briefs": "facts", "cite": "sentences", "check": "gates"},
    "scorerag": {
        "find": "chunks", "rater": "readings", "briefs": "summaries", "cite": "sources", "check": "gates",
        "keep_at_least": 20.0, "keep_share": 0.0, "best_at_least": 20.0, "language": "zh-TW",
    },
    "plain": {"find": "sentences", "rater": "none", "briefs": "sentences", "cite": "sentences", "check": "gates"},
    "zero-shot": {"find": "none", "rater": "none", "briefs": "none", "cite": "none", "check": "gates"},
}  # fmt: skip
"""What the ways to write with a model set: ours, that of ScoreRAG (arXiv:2506.03704), and the two baselines."""


class WriteOptions(BaseModel):
    """How an article is written; what ``preset`` sets is set unless it is given beside it."""

    model_config = _STRICT
    preset: WritePreset | None = None
    model: str = ""
    find: Literal["sentences", "chunks", "none"] = "sentences"
    rater: RaterName | Literal["none"] = "builtin"
    briefs: Literal["sentences", "facts", "summaries", "none"] = "sentences"
    cite: Literal["sentences", "sources", "none"] = "sentences"
    check: Literal["gates", "model"] = "gates"
    readings: int = Field(default=3, ge=1)
    bands: tuple[float, float, float] = (70.0, 50.0, 30.0)
    outline: str = ""
    house_rules: str = ""
    as_of: date | None = None
    max_words: int = Field(default=400, ge=40)
    repair: bool = False
    k: int = Field(default=100, ge=1)
    candidates: int = Field(default=20, ge=1)
    keep_at_least: float = Field(default=20, ge=0, le=100)
    keep_share: float = Field(default=0.3, ge=0, le=1)
    best_at_least: float = Field(default=30, ge=0, le=100)
    language: str = ""
    max_tokens: int = Field(default=900, ge=40)
    max_sources: int = Field(default=8, ge=1)

    @model_validator(mode="before")
    @classmethod
    def _fill_from_preset(cls, given: object) -> object:
        return {**_of_write_preset(given.get("preset")), **given} if isinstance(given, dict) else given

    @model_validator(mode="after")
    def _bands_fall(self) -> WriteOptions:
        if not 100 >= self.bands[0] > self.bands[1] > self.bands[2] >= 0:
            raise ValueError("three thresholds from 100 to 0, each lower than the one before")
        return self


def _of_write_preset(name: object) -> Mapping[str, object]:
    return next((sets for known, sets in WRITE_PRESETS.items() if known == name), {})


class AnswerOptions(BaseModel):
    """How a question is answered: by ``model``, or without one in sentences of the archive."""

    model_config = _STRICT
    model: str = ""
    form: Literal["sentences", "short"] = "sentences"
    least_coverage: float = Field(default=0.35, ge=0, le=1)
    language: str = ""


class SystemOptions(BaseModel):
    """What a system of ``groundwire run`` sets in ``search``, ``pack`` and ``answer``; the rest is as for all."""

    model_config = _STRICT
    search: dict[str, str | int | float | bool] = {}
    pack: dict[str, str | int | float | bool] = {}
    answer: dict[str, str | int | float | bool] = {}


class JudgeOptions(BaseModel):
    """How answers are judged and how intervals are drawn; without an embedder words alone are compared."""

    model_config = _STRICT
    embedder: str = ""
    map: dict[str, str] = {}
    resamples: int = Field(default=10_000, ge=100)
    level: float = Field(default=0.95, gt=0, lt=1)
    seed: int = Field(default=0, ge=0)


class ModelOptions(BaseModel):
    """A language model behind an endpoint: ``[models.NAME]`` is called ``http:NAME``; its key is never a setting."""

    model_config = _STRICT
    base_url: str
    model: str
    key_variable: str = ""
    context_tokens: int | None = Field(default=None, ge=1)
    input_price: float | None = Field(default=None, ge=0)
    output_price: float | None = Field(default=None, ge=0)
    currency: str = "USD"
    max_concurrency: int = Field(default=4, ge=1)
    timeout_seconds: float = Field(default=120, gt=0)
    connect_seconds: float = Field(default=0.9, gt=0)
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    extra: str = ""


class TrafficOptions(BaseModel):
    """How language models are called; a model's own ``max_concurrency`` counts as well."""

    model_config = _STRICT
    at_first: int = Field(default=2, ge=1)
    at_once: int = Field(default=8, ge=1)
    attempts: int = Field(default=6, ge=1)
    timeout_seconds: float = Field(default=600, gt=0)
    deadline_seconds: float | None = Field(default=None, gt=0)
    failures_in_a_row: int = Field(default=10, ge=1)
    pause_seconds: float = Field(default=30, ge=0)
    seed: int = Field(default=0, ge=0)


class Settings(BaseModel):
    """All settings; frozen, unknown names refused."""

    model_config = _STRICT
    archive: str = "groundwire.archive"
    embedder: str = "local:e5-small"
    ledger: str = "groundwire.ledger"
    prompts: str = ""
    models: dict[str, ModelOptions] = {}
    traffic: TrafficOptions = TrafficOptions()
    threads: int = Field(default=1, ge=1)
    read: ReadSettings = ReadSettings()
    index: IndexSettings = IndexSettings()
    search: SearchOptions = SearchOptions()
    pack: PackOptions = PackOptions()
    write: WriteOptions = WriteOptions()
    answer: AnswerOptions = AnswerOptions()
    systems: dict[str, SystemOptions] = {}
    judge: JudgeOptions = JudgeOptions()

    @property
    def prompts_folder(self) -> Path | None:
        """Where the user keeps prompts of their own; None where nobody said."""
        return Path(self.prompts).expanduser() if self.prompts else None


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings with where each value that is not a default came from, by dotted name."""

    settings: Settings
    origins: Mapping[str, str]


def load(*, folder: Path, environment: Mapping[str, str], flags: Mapping[str, object]) -> Loaded:
    """Settings from a folder's file, the environment and flags (dotted names; None: not given).

    A preset counts where it is given: it beats what lower layers say, and what its own or a higher layer says beats it.

    Raises:
        SettingError: a name is unknown, a value out of range, or the file is not TOML.
    """
    layers = [
        (FILE_NAME, _from_file(folder / FILE_NAME)),
        ("environment", dict(_from_environment(environment))),
        ("flag", {name: value for name, value in flags.items() if value is not None}),
    ]
    told = [(origin, part) for layer in layers for origin, part in _with_preset(*layer)]
    merged = {name: value for _, values in told for name, value in values.items()}
    origins = {name: origin for origin, values in told for name in values}
    try:
        return Loaded(Settings.model_validate(_tables(merged)), origins)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        where = origins.get(name, FILE_NAME)
        raise SettingError(f"{name} is {first['input']!r} ({where}): {first['msg']}") from error


def _with_preset(origin: str, values: Mapping[str, object]) -> list[tuple[str, Mapping[str, object]]]:
    """A layer, and before it what its preset sets."""
    found = []
    for table, sets in (("search", _of_preset), ("write", _of_write_preset)):
        name = values.get(f"{table}.preset")
        found.append((f"preset {name} ({origin})", {f"{table}.{key}": value for key, value in sets(name).items()}))
    return [*found, (origin, values)]


def system_settings(settings: Settings, name: str) -> Settings:
    """The settings of a system: those of all, with what its table sets; a preset of its own beats theirs.

    Raises:
        SettingError: there is no such system, or its table sets what there is not.
    """
    if name not in settings.systems:
        known = ", ".join(settings.systems) or "none"
        raise SettingError(f"there is no [systems.{name}]; the settings have: {known}")
    own = settings.systems[name]
    tables = settings.model_dump(mode="json")
    tables["search"] |= {**_of_preset(own.search.get("preset")), **own.search}
    tables["pack"] |= own.pack
    tables["answer"] |= own.answer
    try:
        return Settings.model_validate(tables)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise SettingError(f"systems.{name}.{where} is {first['input']!r}: {first['msg']}") from error


def names() -> tuple[str, ...]:
    """The dotted names of all settings, sorted."""
    return tuple(sorted(_leaves(Settings(), "")))


def value_of(settings: Settings, name: str) -> object:
    """The value of a setting by its dotted name."""
    found: object = settings
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _leaves(model: BaseModel, prefix: str) -> Iterator[str]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name


def _from_file(path: Path) -> dict[str, object]:
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{path} is not readable as TOML: {error}") from error
    known = set(names())
    flat = dict(_flattened(tree, "", known))
    for name in flat:
        _require_known(name, known, f"{path} has the setting '{name}'")
    return flat


def _flattened(tree: Mapping[str, object], prefix: str, known: set[str]) -> Iterator[tuple[str, object]]:
    for key, value in tree.items():
        if isinstance(value, dict) and prefix + key not in known:
            yield from _flattened(value, f"{prefix}{key}.", known)
        else:
            yield prefix + key, value


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, object]]:
    variables = {PREFIX + name.upper().replace(".", "_"): name for name in names()}
    for variable in sorted(environment):
        if variable.startswith(PREFIX) and variable not in _NOT_SETTINGS:
            _require_known(variable, set(variables), f"the environment has {variable}, which is no setting")
            name = variables[variable]
            value = environment[variable]
            yield name, mapping(value) if name.endswith(".map") else value


def mapping(text: str) -> dict[str, str]:
    """Read ``title=news_title,text=news_content`` as a mapping.

    Raises:
        SettingError: a part is not of the form ``ours=theirs``.
    """
    pairs: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        ours, sign, theirs = part.partition("=")
        if not (sign and ours.strip() and theirs.strip()):
            raise SettingError(f"'{part}' is not of the form ours=theirs, such as title=news_title")
        pairs[ours.strip()] = theirs.strip()
    return pairs


def _require_known(name: str, known: set[str], sentence: str) -> None:
    if name in known:
        return
    near = get_close_matches(name, sorted(known), n=1, cutoff=0.5)
    hint = f"the nearest that exists is '{near[0]}'" if near else "'groundwire show settings' lists all"
    raise SettingError(f"{sentence}; {hint}")


def _tables(values: Mapping[str, object]) -> dict[str, object]:
    """Dotted names as the tables that the file would have."""
    top: dict[str, object] = {}
    tables: dict[str, dict[str, object]] = {}
    for name, value in values.items():
        table, dot, key = name.rpartition(".")
        (tables.setdefault(table, {}) if dot else top)[key] = value
    return {**top, **tables}
