"""Where settings come from, and what is refused."""

from pathlib import Path

import pytest

from groundwire.core.errors import SettingError
from groundwire.core.types import Preset
from groundwire.flow.searches import search_settings
from groundwire.flow.settings import SearchOptions, Settings, load, mapping, names, value_of
from groundwire.retrieval.search import PRESETS, SearchSettings


def write(folder: Path, text: str) -> Path:
    (folder / "groundwire.toml").write_text(text, encoding="utf-8")
    return folder


def test_without_any_source_every_setting_has_its_default(tmp_path: Path) -> None:
    loaded = load(folder=tmp_path, environment={}, flags={"search.k": None})

    assert loaded.settings == Settings()
    assert loaded.origins == {}


def test_a_flag_beats_the_environment_which_beats_the_file(tmp_path: Path) -> None:
    folder = write(tmp_path, 'embedder = "hash:64"\n[search]\nk = 1\nmode = "dense"\nfusion = "rrf"\n')

    loaded = load(
        folder=folder,
        environment={"GROUNDWIRE_SEARCH_K": "2", "GROUNDWIRE_SEARCH_MODE": "lexical"},
        flags={"search.k": 3},
    )

    assert (loaded.settings.search.k, loaded.settings.search.mode, loaded.settings.search.fusion) == (
        3,
        "lexical",
        "rrf",
    )
    assert loaded.origins == {
        "embedder": "groundwire.toml",
        "search.k": "flag",
        "search.mode": "environment",
        "search.fusion": "groundwire.toml",
    }


def test_a_preset_sets_what_belongs_to_it_and_settings_beside_it_win(tmp_path: Path) -> None:
    folder = write(tmp_path, "[search]\npreset = 'passages'\nsentence_weight = 0.2\n")

    loaded = load(folder=folder, environment={}, flags={})

    search = loaded.settings.search
    assert (search.mode, search.shape, search.sentence_weight) == ("dense", "passages", 0.2)
    assert loaded.origins["search.shape"] == "preset passages (groundwire.toml)"
    assert loaded.origins["search.sentence_weight"] == "groundwire.toml"
    assert "search.k" not in loaded.origins


def test_a_preset_of_a_higher_layer_beats_what_a_lower_one_says(tmp_path: Path) -> None:
    folder = write(tmp_path, "[search]\npreset = 'window'\nmode = 'lexical'\nk = 7\n")

    loaded = load(folder=folder, environment={"GROUNDWIRE_SEARCH_LEXICAL_WEIGHT": "2"}, flags={"search.preset": "best"})

    assert search_settings(loaded.settings.search) == PRESETS["best"]
    assert "search.candidates" not in loaded.origins
    assert (loaded.settings.search.k, loaded.origins["search.mode"]) == (7, "preset best (flag)")
    assert search_settings(load(folder=folder, environment={}, flags={}).settings.search).mode == "lexical"


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_means_the_same_in_the_settings_as_in_search(name: Preset) -> None:
    options = SearchOptions(preset=name)

    assert search_settings(options) == PRESETS[name]
    assert SearchOptions(preset=name, diversity=0.9).diversity == 0.9


def test_without_a_preset_search_is_as_it_was() -> None:
    assert search_settings(SearchOptions()) == SearchSettings()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[search]\npreset = 'bset'\n", "search.preset is 'bset' (groundwire.toml)"),
        ("[search]\nmodes = 'dense'\n", "the nearest that exists is 'search.mode'"),
        ("embeder = 'x'\n", "the nearest that exists is 'embedder'"),
        ("[zzz]\nqqq = 1\n", "lists all"),
        ("[search]\nk = 0\n", "search.k is 0"),
        ("[search]\nsentence_weight = 1.5\n", "search.sentence_weight is 1.5 (groundwire.toml)"),
        ("search = 3\n", "has the setting 'search'"),
        ("[search\n", "not readable as TOML"),
    ],
)
def test_what_the_file_says_wrongly_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SettingError) as caught:
        load(folder=write(tmp_path, text), environment={}, flags={})

    assert said in str(caught.value)


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "groundwire.toml").write_bytes(b'archive = "\xff"')

    with pytest.raises(SettingError, match=r"groundwire\.toml"):
        load(folder=tmp_path, environment={}, flags={})


def test_an_unknown_variable_is_named_with_its_nearest(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="GROUNDWIRE_SEARCH_MODE"):
        load(folder=tmp_path, environment={"GROUNDWIRE_SEARCH_MODES": "dense"}, flags={})


def test_variables_that_are_no_settings_are_left_alone(tmp_path: Path) -> None:
    environment = {"GROUNDWIRE_MODELS": "/models", "PATH": "/bin"}

    assert load(folder=tmp_path, environment=environment, flags={}).origins == {}


def test_a_bad_value_names_the_source_it_came_from(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"search\.k is 'many' \(environment\)"):
        load(folder=tmp_path, environment={"GROUNDWIRE_SEARCH_K": "many"}, flags={})


def test_field_names_may_be_mapped_in_the_file_and_in_the_environment(tmp_path: Path) -> None:
    folder = write(tmp_path, '[read.map]\ntitle = "news_title"\n')

    from_file = load(folder=folder, environment={}, flags={})
    from_environment = load(folder=folder, environment={"GROUNDWIRE_READ_MAP": "text=body"}, flags={})

    assert from_file.settings.read.map == {"title": "news_title"}
    assert from_environment.settings.read.map == {"text": "body"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("title=a", {"title": "a"}),
        (" title = a , text=b.c ", {"title": "a", "text": "b.c"}),
        ("", {}),
        ("a=b=c", {"a": "b=c"}),
    ],
)
def test_a_mapping_reads_as_pairs(text: str, expected: dict[str, str]) -> None:
    assert mapping(text) == expected


@pytest.mark.parametrize("text", ["title", "=a", "title="])
def test_half_a_pair_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="ours=theirs"):
        mapping(text)


def test_every_name_leads_to_a_value() -> None:
    assert names() == tuple(sorted(names()))
    assert {name: value_of(Settings(), name) for name in names()}["search.sentence_weight"] == 0.6
