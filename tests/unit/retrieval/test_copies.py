from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.numerals import flatten
from groundwire.core.types import Document
from groundwire.retrieval.copies import Copies, find_copies, stories

FLOOD = (
    "At least 12 people were killed when the Tsengwen river broke its banks near Tainan on Monday night, rescue "
    "workers said. Soldiers carried families from their roofs with boats, and 3,400 homes were without power by "
    "dawn. The mayor, Huang Wei-che, said the dam upstream had released water at 2 a.m. without a warning to the "
    "villages below. Farmers in Annan expect that the rice harvest will fall by 40 percent. The weather bureau "
    "forecast rain until Thursday."
)
STRIKE = (
    "Dock workers in Rotterdam began a strike over pensions on Tuesday, halting cranes at the largest port of "
    "Europe. The union FNV said that 85 percent of its members had voted for a stoppage of two days. Maersk and "
    "MSC diverted ships to Antwerp and Hamburg, where queues grew. Employers called the demands unaffordable and "
    "asked a judge in The Hague to forbid further action before the summer."
)
ELECTION = (
    "Senegal counted ballots late into the night after a calm presidential vote, with turnout above 60 percent in"
    " Dakar. Observers from the African Union praised the patience of the queues. Two opposition candidates "
    "conceded before midnight, while the ruling coalition told its supporters to wait for the electoral "
    "commission, which meets on Friday."
)
OWN = (
    "Residents of Annan district waited on their roofs for hours before boats came, four of them told this "
    "newspaper. They blame the city for the deaths of at least 12 neighbours and ask why no siren was heard when "
    "the dam was opened."
)
NOTICE = (
    "We use cookies and similar technologies to improve our site, to analyse traffic and to show advertising that"
    " fits your interests. By continuing you accept our terms of service and our privacy policy, which you can "
    "read below at any time. Subscribe to our newsletter for the latest headlines every morning at 7 in your "
    "inbox, free of charge."
)
RIVER = (
    "（中央社台南1日電）曾文溪昨晚潰堤，台南市安南區至少12人死亡，3400戶停電。市長黃偉哲表示，上游水庫凌晨2時洩洪，"
    "並未通知下游各里。農民預估稻米收成將減少四成。氣象署預報大雨將持續到週四，軍方已出動橡皮艇救援受困民眾。"
)


def found(texts: dict[str, str]) -> Copies:
    return find_copies({name: Document(name, text) for name, text in texts.items()})


def groups(texts: dict[str, str]) -> list[tuple[str, ...]]:
    return [cluster.document_ids for cluster in found(texts).clusters]


def twelve_versions() -> dict[str, str]:
    cut = FLOOD.partition(" Farmers")[0]
    texts = {
        "v01": FLOOD,
        "v02": "Deadly flood strikes the south\n\n" + FLOOD,
        "v03": "By Jane Roe, staff writer\n\n" + FLOOD,
        "v04": "TAINAN (Agency) - " + cut,
        "v05": cut,
        "v06": FLOOD.partition(" The mayor")[0],
        "v07": "Rescue goes on\n\nFrom our correspondents\n\n" + cut,
        "v08": FLOOD.replace("12 people", "15 people"),
        "v09": FLOOD + "\n\n" + NOTICE,
        "v10": FLOOD.replace(". ", ".\n\n"),
        "v11": FLOOD.replace("Soldiers carried", "On Tuesday soldiers carried"),
        "v12": FLOOD.upper(),
    }
    return {**texts, "w1": OWN, "w2": STRIKE}


def test_twelve_versions_and_two_reports_are_three_sources_and_the_new_number_stands_out() -> None:
    copies = found(twelve_versions())

    assert copies.independent == 3
    assert [len(cluster.document_ids) for cluster in copies.clusters] == [12, 1, 1]
    assert copies.standing_out == ("v08",)
    (difference,) = copies.clusters[0].differences
    assert (difference.numbers, difference.others, difference.shared_by) == (("15",), ("12",), 11)
    assert FLOOD.replace("12 people", "15 people")[difference.span.start : difference.span.end] == difference.text


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"a": FLOOD, "b": flatten(FLOOD)}, [("a", "b")]),
        ({"a": RIVER, "b": flatten(RIVER)}, [("a", "b")]),
        ({"a": RIVER, "b": "【本報綜合報導】" + flatten(RIVER).replace("12人", "15人")[12:90]}, [("a", "b")]),
        ({"a": FLOOD, "b": STRIKE, "c": ELECTION}, [("a",), ("b",), ("c",)]),
        ({"a": "The river rose.", "b": "The river rose."}, [("a",), ("b",)]),
        ({"a": "", "b": ""}, [("a",), ("b",)]),
        ({}, []),
        # one story below a notice, another below the same one
        ({"a": FLOOD + "\n\n" + NOTICE, "b": STRIKE + "\n\n" + NOTICE}, [("a",), ("b",)]),
        ({"a": FLOOD[:120] + NOTICE, "b": STRIKE[:120] + NOTICE}, [("a",), ("b",)]),
        ({"a": NOTICE + FLOOD, "b": NOTICE + STRIKE, "c": NOTICE + ELECTION}, [("a",), ("b",), ("c",)]),
        (
            {"a": NOTICE + FLOOD[:200], "b": NOTICE + STRIKE[:200], "c": NOTICE + ELECTION[:200], "d": FLOOD},
            [("a", "d"), ("b",), ("c",)],
        ),
        # the same in the middle of versions: they stay together
        ({"a": FLOOD + "\n\n" + NOTICE, "b": FLOOD, "c": STRIKE + "\n\n" + NOTICE}, [("a", "b"), ("c",)]),
        # a cut version with a notice of its own beside the full one
        ({"a": FLOOD[:330] + "\n\n" + NOTICE, "b": FLOOD}, [("a", "b")]),
        # what holds two stories is a version of neither
        ({"a": FLOOD, "b": STRIKE, "both": FLOOD + "\n\n" + STRIKE}, [("a",), ("b",), ("both",)]),
        # versions of versions count
        ({"a": FLOOD[:330], "b": FLOOD, "c": FLOOD[100:]}, [("a", "b", "c")]),
    ],
)
def test_versions_are_found_and_what_is_printed_with_everything_glues_nothing(
    texts: dict[str, str], expected: list[tuple[str, ...]]
) -> None:
    assert groups(texts) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([("", ""), ("", ""), ("12 people", "15 people")], {"2": (("15",), ("12",))}),
        ([("", ""), ("", ""), ("12 people", "twelve people")], {}),
        ([("", ""), ("", ""), ("3,400", "3400")], {}),
        ([("", ""), ("", ""), ("40 percent", "45%")], {"2": (("45%",), ("40 percent",))}),
        ([("", ""), ("", ""), ("12 people were killed", "15 people died")], {"2": (("15",), ("12",))}),
        ([("", ""), ("", ""), ("Annan expect", "Annan now expect")], {}),
        # one against one: both
        (
            [("", ""), ("12 people", "15 people")],
            {"0": (("12",), ("15",)), "1": (("15",), ("12",))},
        ),
        # dates and names with digits are compared as they are written
        ([("Monday night", "May 6"), ("Monday night", "May 6"), ("Monday night", "May 7")], {"2": (("7",), ("6",))}),
    ],
)
def test_numbers_that_most_versions_do_not_have_stand_out(
    changes: list[tuple[str, str]], expected: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
) -> None:
    copies = found({str(at): FLOOD.replace(*change) if change[0] else FLOOD for at, change in enumerate(changes)})

    assert copies.independent == 1
    assert {one.document_id: (one.numbers, one.others) for one in copies.clusters[0].differences} == expected


def test_a_sentence_that_occurs_twice_is_compared_place_by_place() -> None:
    twice = FLOOD + " The count was 5 on one day. The count was 7 on one day."

    assert found({"a": twice, "b": twice, "c": twice}).standing_out == ()
    assert found({"a": twice, "b": twice, "c": twice.replace("was 7", "was 9")}).standing_out == ("c",)


WORDS = tuple(
    f"{first}{last}" for first in ("ba", "ke", "lo", "mi", "nu") for last in ("ral", "ster", "tin", "vo", "zen")
)


@settings(deadline=None, max_examples=6)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 4))
def test_the_order_of_documents_changes_nothing_and_copies_stay_with_their_story(
    seed: int, count: int, versions: int
) -> None:
    rng = np.random.default_rng(seed)
    texts = {}
    for story in range(count):
        terms = [f"{WORDS[at]}{chr(97 + story)}" for at in rng.integers(0, len(WORDS), 60)]
        for version in range(versions):
            texts[f"{story}/{version}"] = " ".join(terms[: int(rng.integers(30, 61))])
    backwards = dict(reversed(texts.items()))

    assert groups(texts) == groups(backwards)
    assert groups(texts) == [tuple(f"{story}/{version}" for version in range(versions)) for story in range(count)]


def test_every_document_has_the_smallest_id_of_its_story() -> None:
    texts = {"d": FLOOD, "b": "TAINAN (Agency) - " + FLOOD, "c": FLOOD.partition(" Farmers")[0], "own": OWN}
    documents = {name: Document(name, text) for name, text in texts.items()}

    assert stories(documents) == {"b": "b", "c": "b", "d": "b", "own": "own"}


QUAKE = (
    "An earthquake of magnitude {} struck off the coast of Hualien at {} on {} May, the weather bureau said. Its "
    "centre lay at a depth of {} kilometres. Trains were halted for {} minutes while the tracks were checked, and "
    "nobody was hurt."
)


def test_bulletins_of_one_form_are_not_versions_of_one_story() -> None:
    texts = {
        "a": QUAKE.format("4.5", "06:12", "3", "12.5", "20"),
        "b": QUAKE.format("5.1", "23:40", "9", "31.0", "35"),
        "c": "By Jane Roe.\n\n" + QUAKE.format("5.1", "23:40", "9", "31.0", "45"),
    }

    assert groups(texts) == [("a",), ("b", "c")]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (RIVER.partition("）")[2], ("（中央社台南1日電）", "【本報綜合報導】", "（北線社新加坡2日電）")),
        (FLOOD, ("TAINAN, 6 May (Agency) - ", "LONDON -- ", "")),
    ],
)
def test_a_dateline_with_a_number_of_its_own_hides_no_difference(text: str, lines: tuple[str, ...]) -> None:
    texts = {str(place): line + text for place, line in enumerate(lines)}
    texts["new"] = lines[0] + text.replace("12", "15", 1)

    (cluster,) = found(texts).clusters

    assert [(one.document_id, one.numbers, one.others, one.shared_by) for one in cluster.differences] == [
        ("new", ("15",), ("12",), 3)
    ]
    assert cluster.differences[0].text.startswith(lines[0])


def test_a_story_told_on_beside_one_that_turns_to_something_else_stays_a_version_of_it() -> None:
    told_on = (
        "Rescue workers in boats searched villages near Tainan until dawn, and soldiers carried families from homes "
        "below the dam. Farmers in Annan told the mayor that water broke the banks without warning on Monday night."
    )

    assert groups({"a": f"{FLOOD} {told_on}", "b": f"{FLOOD} {STRIKE}"}) == [("a", "b")]


def test_sentences_with_another_count_of_numbers_are_not_laid_side_by_side() -> None:
    texts = {"a": FLOOD, "b": FLOOD.replace("At least 12 people", "At least 12 people and 30 cattle")}

    (cluster,) = found(texts).clusters

    assert (cluster.document_ids, cluster.differences) == (("a", "b"), ())
