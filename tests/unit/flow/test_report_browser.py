"""The report in a real browser, with no network: clicks lead down, tables sort, nothing of the data runs."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_page_browser import CHROMIUM, HOSTILE, Browser

from groundwire.evaluation.comparisons import Options
from groundwire.flow.comparing import ComparePlan, compare_files
from groundwire.flow.report import render_report
from groundwire.flow.settings import Settings

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the path"),
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="module", params=["en", "zh-TW"])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    files = []
    for name, shift in (("a", 0), ("b", 5), ("c" * 80, 9)):
        rows = [
            {"id": f"q{i}", "question": f"{HOSTILE} {i}", "contexts": ["x" * 300, HOSTILE], "answer": HOSTILE * (i % 3),
             "reference": HOSTILE, "f1": 40.0 + 7 * (i % 5) + shift * (i % 2), "recall": 50.0 + i, "tokens": 9}
            for i in range(40)
        ]  # fmt: skip
        files.append(folder / f"{name}.jsonl")
        files[-1].write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = compare_files(
        files, settings=Settings(), plan=ComparePlan(options=Options(permutations=200, resamples=100))
    )
    path = folder / "report.html"
    path.write_text(render_report(found, language=request.param), encoding="utf-8")
    return path


@pytest.mark.parametrize("scripts", [True, False])
def test_no_request_leaves_the_page_and_nothing_of_the_data_runs(browser: Browser, page: Path, scripts: bool) -> None:
    browser.open(page, scripts=scripts)

    asked = [event["params"]["request"]["url"] for event in browser.events
             if event.get("method") == "Network.requestWillBeSent"]  # fmt: skip
    assert all(url.startswith(("file:", "about:")) for url in asked)
    assert browser.value("document.title") != "run"
    bad = ("Log.entryAdded", "Runtime.exceptionThrown")
    wrong = [event["params"] for event in browser.events if event.get("method") in bad]
    assert not wrong


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_no_wider_than_the_screen(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width=width)
    browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.value("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scripts", [True, False])
def test_a_link_opens_what_it_leads_to(browser: Browser, page: Path, scripts: bool) -> None:
    browser.open(page, "#i3", scripts=scripts)
    assert browser.value("document.getElementById('i3').closest('details').open")
    assert browser.value("document.getElementById('i3').checkVisibility()")
    assert not browser.value("document.getElementById('i4').closest('details').open")


def test_a_click_on_a_head_sorts_the_table_and_another_turns_it(browser: Browser, page: Path) -> None:
    browser.open(page)
    means = "[...document.querySelector('tbody').rows].map(r => parseFloat(r.cells[1].dataset.order))"

    browser.click("thead th:nth-child(2) button")
    down = browser.value(means)
    browser.click("thead th:nth-child(2) button")
    up = browser.value(means)

    assert down == sorted(down, reverse=True)
    assert up == sorted(down)
    assert browser.value("document.querySelector('thead th:nth-child(2)').getAttribute('aria-sort')") == "ascending"


def test_the_filter_keeps_the_items_that_hold_the_words(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.value(
        "(() => { const f = document.querySelector('#filter input'); f.value = 'q39';"
        " f.dispatchEvent(new Event('input')); })()"
    )
    assert browser.value("[...document.querySelectorAll('.item')].filter(i => !i.hidden).length") == 1
