"""A comparison as a page: verdict first, everything behind it, nothing of the data taking effect."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from groundwire.core.errors import UsageError
from groundwire.evaluation.comparisons import Options
from groundwire.flow import report_items
from groundwire.flow.comparing import Compared, ComparePlan, compare_files
from groundwire.flow.report import render_report, values_jsonl
from groundwire.flow.settings import JudgeOptions, Settings

HOSTILE = "<script>document.title='run'</script><img src=https://evil.example/x onerror=alert(1)>\u202e{{ 7*7 }}"
VOID = {"meta", "input", "br"}
FEW = Options(permutations=200, resamples=100)


class Page(HTMLParser):
    """Elements with attributes and their text; tags must balance."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def named(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


def rows(shift: float, *, n: int = 30, **more: object) -> list[dict]:
    return [
        {"id": f"q{i}", "question": f"What of {i}?", "contexts": [f"Passage {i}."],
         "answer": f"Answer {i} " * (i % 4 + 1),
         "reference": f"Truth {i}", "f1": 40 + 7 * (i % 5) + shift + i % 3, "recall": 50.0 + i + shift / 2, **more}
        for i in range(n)
    ]  # fmt: skip


def written(path: str, content: list[dict]) -> str:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")
    return path


def compared(*files: str, options: Options = FEW) -> Compared:
    settings = Settings(judge=JudgeOptions(resamples=100))
    return compare_files(files, settings=settings, plan=ComparePlan((), "", options))


def two(**more: object) -> Compared:
    return compared(written("new.jsonl", rows(9, **more)), written("old.jsonl", rows(0, **more)))


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_verdict_comes_first_in_words_with_figures_behind_it() -> None:
    page = Page(render_report(two(tokens=120, seconds=2.5), created="2026-12-01"))

    assert page.text.index("new is better") < page.text.index("Standings")
    assert "new is better than old: +9 [9, 9], p < .001, 30 items" in page.text
    assert "2026-12-01" in page.text
    for title in ("How the values lie", "Differences of pairs", "Pairs: difference and p", "Ties, and values at the",
                  "Pairs told apart, by number of items", "Value against length", "Correlations of the measures",
                  "Cost per answer", "tokens", "seconds"):  # fmt: skip
        assert title in page.text
    assert "120 (30 of 30 answers say so)" in page.text


def test_chinese_reports_have_chinese_words_throughout() -> None:
    page = Page(render_report(two(), language="zh-TW"))

    assert page.named("html")[0]["lang"] == "zh-TW"
    assert "new 優於 old：差 +9 [9, 9]，p < .001，30 題" in page.text
    for word in ("Verdict", "Standings", "Provenance", "items that"):
        assert word not in page.text
    with pytest.raises(UsageError, match="'fr' was asked for"):
        render_report(two(), language="fr")


def test_the_same_comparison_gives_the_same_bytes() -> None:
    assert render_report(two(), created="x") == render_report(two(), created="x")


def test_the_page_asks_for_nothing_and_only_our_style_and_script_pass() -> None:
    page = Page(render_report(two()))

    assert {tag for tag, _ in page.elements}.isdisjoint({"link", "img", "iframe", "object", "embed", "form", "base"})
    assert not [a for _, held in page.elements for a in held if a.startswith("on") or a in ("src", "style")]
    policy = page.named("meta")[1]["content"]
    for kind in ("style", "script"):
        (content,) = page.texts[kind]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    assert all(link["href"].startswith("#") for link in page.named("a"))


def test_every_link_leads_to_an_anchor_that_is_there_once() -> None:
    page = Page(render_report(two()))

    ids = [held["id"] for _, held in page.elements if "id" in held]
    assert len(ids) == len(set(ids))
    assert {link["href"][1:] for link in page.named("a")} <= set(ids)


def test_every_number_leads_down_to_question_answer_contexts_and_reply() -> None:
    found = two()
    spoken = tuple(replace(one, reason="It said so.", parts=(("terms", 0.25),)) for one in found.judgements)
    page = Page(render_report(replace(found, judgements=spoken)))

    for words in ("What of 7?", "Passage 7.", "Answer 7", "Truth 7", "It said so.", "terms 0.25"):
        assert words in page.text
    assert "All 30 items." in page.text


def test_text_of_the_data_is_shown_and_takes_no_effect() -> None:
    bad = {"question": HOSTILE, "answer": HOSTILE, "contexts": [HOSTILE], "reference": HOSTILE}
    text = render_report(compared(written("a.jsonl", rows(9, **bad, system=f"A{HOSTILE}")),
                                  written("b.jsonl", rows(0, **bad, system=f"B{HOSTILE}"))))  # fmt: skip
    page = Page(text)

    assert len(page.named("script")) == 1
    assert not page.named("img")
    assert "\u202e" not in text
    assert "U+202E" in page.text
    assert "{{ 7*7 }}" in page.text
    assert not any("evil" in value for _, held in page.elements for value in held.values())


def test_unscored_is_said_with_its_outcome_and_never_shown_as_0() -> None:
    gone = rows(9)
    gone[3]["f1"] = None
    page = Page(render_report(compared(written("a.jsonl", gone), written("b.jsonl", rows(0)))))

    assert "29 items that all systems have a value of" in page.text
    assert "unscored" in page.text
    assert re.search(r"f1 ?: ?unscored \(\w+", page.text)


def test_missing_items_rejected_rows_notes_and_hashes_are_named() -> None:
    short = rows(0)[:-2]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(9)) + "not json\n", encoding="utf-8")
    found = compared("a.jsonl", written("b.jsonl", short))
    page = Page(render_report(replace(found, notes=("a note of ours",))))

    assert "What does not fit" in page.text
    assert "b (f1, recall): missing: q28, q29" in page.text
    assert "1 rejected" in page.text
    assert "row 31:" in page.text
    assert "a note of ours" in page.text
    assert hashlib.sha256(Path("a.jsonl").read_bytes()).hexdigest() in page.text


def test_many_misfits_and_rejects_are_cut_with_their_number() -> None:
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(9)) + "not json\n" * 60, encoding="utf-8")
    page = Page(render_report(compared("a.jsonl", written("b.jsonl", rows(0)[:-12]))))
    assert "and 4 more" in page.text
    assert "and 10 more" in page.text


def test_another_scale_is_warned_of_before_the_verdict() -> None:
    small = [{"id": row["id"], "f1": row["f1"] / 100} for row in rows(0)]
    large = [{"id": row["id"], "f1": row["f1"]} for row in rows(9)]
    page = Page(render_report(compared(written("a.jsonl", small), written("b.jsonl", large))))
    assert page.text.index("Beware") < page.text.index("Verdict")


def test_files_of_values_alone_make_a_report_without_answers_or_lengths() -> None:
    bare = [{"id": row["id"], "f1": row["f1"]} for row in rows(0, n=6)]
    better = [{**row, "f1": row["f1"] + 1} for row in bare]
    page = Page(render_report(compared(written("a.jsonl", bare), written("b.jsonl", better))))

    assert "Value against length" not in page.text
    assert "Pairs told apart, by number" not in page.text
    assert "Correlations" not in page.text
    assert "q3" in page.text


def test_a_measure_with_one_item_is_named_with_nothing_to_compare() -> None:
    one = [{"id": "q0", "f1": 50}, {"id": "q1", "f1": None}]
    found = compared(written("a.jsonl", one), written("b.jsonl", one))
    assert "nothing to compare" in Page(render_report(found)).text


def test_margins_and_measures_of_which_less_is_better_are_said() -> None:
    options = replace(FEW, margins=(("f1", 20.0),), lower_is_better=frozenset({"recall"}))
    page = Page(render_report(compared(written("a.jsonl", rows(9)), written("b.jsonl", rows(0)), options=options)))

    assert "a and b are equivalent within 20" in page.text
    assert "Band: the margin of ±20." in page.text
    assert "less is better" in page.text
    assert "b is better" in page.text


def test_bridged_judges_have_verdicts_and_no_figures_of_values() -> None:
    files = []
    for system, shift in (("a", 9), ("b", 0)):
        held = [{"id": row["id"], "f1": row["f1"], "system": system} for row in rows(shift)]
        cheap = [{**row, "f1": row["f1"] + 5 + place % 2, "judge": "cheap"} for place, row in enumerate(held)]
        files.append(written(f"{system}1.jsonl", cheap))
        files.append(written(f"{system}2.jsonl", [{**row, "judge": "dear"} for row in held[:25]]))
    found = compared(*files, options=replace(FEW, bridge="dear"))
    page = Page(render_report(found))

    assert "bridged between judges" in page.text
    assert "no figures of single values" in page.text
    assert "How the values lie" not in page.text
    assert "Where the variance comes from" in page.text


def test_the_file_of_values_is_linked_and_holds_every_judgement() -> None:
    found = two()
    page = Page(render_report(found, values_file='all "values".jsonl'))

    assert "all%20%22values%22.jsonl" in [link["href"] for link in page.named("a")]
    lines = [json.loads(line) for line in values_jsonl(found).splitlines()]
    assert len(lines) == len(found.judgements)
    assert lines[0]["rubric"] == found.judgements[0].rubric


def test_of_many_items_some_are_held_and_the_others_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_items, "MOST_ITEMS", 12)
    page = Page(render_report(two()))

    assert "12 of 30 items are in this file" in page.text
    assert "18 are left out." in page.text
    assert len([held for held in page.named("details") if held.get("class") == "item"]) == 12


def test_a_gap_on_an_item_that_is_left_out_is_named_without_a_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_items, "MOST_ITEMS", 1)
    assert "(not in this file)" in Page(render_report(two())).text


def test_where_lengths_vary_the_slope_and_the_difference_at_equal_length_are_said() -> None:
    talkative = [{**row, "answer": row["answer"] * (1 + place % 3)} for place, row in enumerate(rows(9))]
    page = Page(render_report(compared(written("a.jsonl", talkative), written("b.jsonl", rows(0)))))
    assert re.search(r"Slope: [+-][\d.]+ \[", page.text)


def test_without_tie_rates_the_ceiling_is_drawn_alone() -> None:
    found = two()
    measures = tuple(replace(one, ties=None) for one in found.comparison.measures)
    page = Page(render_report(replace(found, comparison=replace(found.comparison, measures=measures))))
    assert "equal pairs of values" not in page.text
    assert "new at the highest" in page.text
