"""A blind sheet in a real browser: answered by mouse and keyboard, kept, downloaded, read back; with no network."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_page_browser import CHROMIUM, HOSTILE, Browser

from groundwire.core.types import Item
from groundwire.evaluation.sheets import SheetPlan
from groundwire.flow.labelling import Made, make_sheets, read_sheets

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the path"),
]

ITEMS = tuple(
    Item(f"t{n}", f"Flood relief {HOSTILE}", (f"The river rose. {HOSTILE}", "Six centres."), text, None, system)
    for n in range(3)
    for system, text in (
        ("plain", f"It rained. {HOSTILE} " + "averylongwordwithoutanyspace" * 12),
        ("best", "The river rose 3.2 metres [1].\n\n" + "Repairs go on. " * 60),
    )
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


def made(folder: Path, form: str, *, language: str = "") -> Made:
    plan = SheetPlan(3, repeated=0)
    return make_sheets(ITEMS, form=form, out=folder / f"{form}.html", plan=plan, language=language)


def downloaded(browser: Browser, folder: Path, button: str, name: str) -> Path:
    browser.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    browser.value(f"document.getElementById('{button}').click()")
    for _ in range(100):
        if (folder / name).exists() and (folder / name).stat().st_size:
            return folder / name
        time.sleep(0.05)
    raise AssertionError(f"{name} was not downloaded: {list(folder.iterdir())}")


def choose(browser: Browser, value: str) -> None:
    """Choose a value for every question of the text that is shown."""
    browser.value(
        "document.querySelectorAll('.task:not([hidden]) fieldset').forEach("
        f"f => f.querySelector('input[value=\"{value}\"]').click())"
    )


def test_answers_are_kept_downloaded_and_read_back(browser: Browser, tmp_path: Path) -> None:
    sheet = made(tmp_path, "scorerag")
    browser.open(sheet.sheets[0])
    assert browser.value("document.querySelectorAll('.task:not([hidden])').length") == 1
    assert browser.value("document.getElementById('progress').textContent") == "0 of 6 texts answered"

    four = '.task:not([hidden]) input[value="4"]'
    browser.value(f"document.querySelector('{four}').scrollIntoView({{block: 'center'}})")
    browser.click(four)
    assert browser.value("document.querySelector('.task:not([hidden]) input:checked').value") == "4"
    choose(browser, "4")
    browser.value("document.querySelector('.task:not([hidden]) textarea').value = '=1+1'")
    browser.click("#next")
    choose(browser, "2")
    assert browser.value("document.getElementById('progress').textContent") == "2 of 6 texts answered"

    browser.open(sheet.sheets[0])
    assert browser.value("document.getElementById('progress').textContent") == "2 of 6 texts answered"
    assert browser.value("[...document.querySelectorAll('.task')].findIndex(t => !t.hidden)") == 1
    saved = [
        downloaded(browser, tmp_path, "json", "scorerag.answers.json"),
        downloaded(browser, tmp_path, "csv", "scorerag.answers.csv"),
    ]
    found = [read_sheets([path], key_file=sheet.key_file).labels for path in saved]
    assert found[0] == found[1]
    assert [label.value for label in found[0]] == [75] * 4 + [25] * 4 + [None] * 16
    assert "'=1+1" in saved[1].read_text(encoding="utf-8")


def test_the_keyboard_is_enough(browser: Browser, tmp_path: Path) -> None:
    sheet = made(tmp_path, "preference")
    browser.open(sheet.sheets[0])

    browser.value("document.querySelector('.task:not([hidden]) input').focus()")
    browser.press(" ", 32)
    browser.press("ArrowDown", 40)
    assert browser.value("document.querySelector('.task:not([hidden]) input:checked').value") == "right"
    browser.value("document.getElementById('open').focus()")
    browser.press("Enter", 13)
    assert browser.value("document.activeElement.tagName") == "H2"
    assert browser.value("[...document.querySelectorAll('.task')].findIndex(t => !t.hidden)") == 1
    browser.value("document.getElementById('previous').click()")
    browser.value("document.querySelector('.task:not([hidden]) .clear').click()")
    assert browser.value("document.querySelector('.task:not([hidden]) input:checked')") is None
    assert browser.value("document.getElementById('progress').textContent") == "0 of 3 texts answered"


def test_a_number_can_be_typed_and_cleared(browser: Browser, tmp_path: Path) -> None:
    sheet = made(tmp_path, "ccrs", language="zh-TW")
    browser.open(sheet.sheets[0])

    browser.value("document.querySelector('.task:not([hidden]) input[type=number]').focus()")
    browser.ask("Input.insertText", text="85")
    saved = json.loads(str(browser.value("localStorage.getItem(Object.keys(localStorage).find(k => "
                                         f"k.includes('{sheet.key.sheet}')))")))  # fmt: skip
    assert saved["answers"][0]["values"]["contextual_coherence"] == "85"
    browser.value("document.querySelector('.task:not([hidden]) .clear').click()")
    assert browser.value("document.querySelector('.task:not([hidden]) input[type=number]').value") == ""


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(("form", "language"), [("scorerag", "en"), ("preference", "zh-TW")])
def test_nothing_is_loaded_run_or_cut_off(
    browser: Browser, tmp_path: Path, width: int, form: str, language: str
) -> None:
    sheet = made(tmp_path, form, language=language)
    browser.open(sheet.sheets[0], width=width)

    asked = [event["params"]["request"]["url"] for event in browser.events
             if event.get("method") == "Network.requestWillBeSent"]  # fmt: skip
    assert all(url.startswith("file:") or url == "about:blank" for url in asked)
    assert not [event for event in browser.events if event.get("method") == "Log.entryAdded"]
    assert browser.value("document.title") != "run"
    assert browser.value("document.images.length") == 0
    assert browser.value("document.documentElement.scrollWidth <= innerWidth")
    columns = browser.value(
        "new Set([...document.querySelectorAll('.task:not([hidden]) article')]"
        ".map(a => a.getBoundingClientRect().left)).size"
    )
    assert columns == (2 if form == "preference" and width > 1000 else 1)


def test_without_scripts_every_text_can_be_read_and_it_is_said(browser: Browser, tmp_path: Path) -> None:
    sheet = made(tmp_path, "scorerag")
    browser.open(sheet.sheets[0], scripts=False)

    tree = browser.ask("DOM.getDocument", depth=0)["root"]["nodeId"]
    tasks = browser.ask("DOM.querySelectorAll", nodeId=tree, selector=".task:not([hidden])")["nodeIds"]
    warning = browser.ask("DOM.querySelectorAll", nodeId=tree, selector="noscript .warning")["nodeIds"]
    assert (len(tasks), len(warning)) == (6, 1)
