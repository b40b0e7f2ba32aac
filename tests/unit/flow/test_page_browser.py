"""The page in a real browser: headless Chromium, driven through its own pipe (DevTools protocol), with no network."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from groundwire.core.findings import CitationQuality, Discord, PremiseNote, Repair, Statement, StyleFinding
from groundwire.core.types import Article, Check, Citation, Claim, Document, NumberedSource, Section, Verdict
from groundwire.flow.findings import Findings
from groundwire.flow.page import render_page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the path"),
]

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
]
HOSTILE = "<script>document.title='run'</script><img src=https://evil.example/x onerror=\"document.title='run'\">"
RIVER = Document(
    "river-1",
    "The river rose 3.2 metres on Friday.\n\nTwo bridges closed. "
    + "More rain is expected along the coast. " * 40
    + HOSTILE,
    HOSTILE,
    date(2024, 5, 3),
    "Tainan Post",
    "https://post.example/1",
    "en",
)


def page_text(*, panels: bool = False) -> str:
    def claim(number: int, start: int, end: int) -> Claim:
        return Claim(f"c{number}", RIVER.text[start:end], (Citation(1, "river-1", start, end, RIVER.text[start:end]),))

    filler = tuple(claim(number, 58, 97) for number in range(5, 45))
    article = Article(
        topic="Flood",
        headline=Claim("c1", "The river rose"),
        lede=(claim(2, 0, 36), claim(3, 38, 57)),
        sections=(Section(HOSTILE, (Claim("c4", HOSTILE),)), Section("Rain", filler)),
        sources=(
            NumberedSource(1, "river-1", RIVER.title, RIVER.source, RIVER.published, RIVER.url, "en", 83.4, "high"),
        ),
        language="en",
    )
    cited = article.lede[1].citations
    sides = tuple(
        Statement("bridges", "closed", n, "", "Two", "2024-05-03", one) for n, one in ((2, cited[0]), (3, cited[0]))
    )
    found = Findings(
        discords=(Discord("conflict", sides, HOSTILE), Discord("update", sides, "")),
        premise=(PremiseNote(HOSTILE, "no", cited),),
        style=(StyleFinding(HOSTILE, HOSTILE, HOSTILE, "c3"),),
        repairs=(Repair("softened", Claim("c3", "Surely two bridges closed."), article.lede[1], HOSTILE),),
        quality=CitationQuality(1.0, 0.5, 1.0, 40, 40),
        orders=(HOSTILE,),
        thin=("x" * 300,),
        uncited=(HOSTILE,),
    )
    checks = (Check("number", "3.2", True, "same in the source"),)
    verdicts = tuple(Verdict(c, "supported", "every word stands there", c.citations, checks) for c in article.claims)
    return render_page(
        article, verdicts=verdicts, documents={"river-1": RIVER}, findings=found if panels else Findings()
    )


class Browser:
    """One tab of Chromium; ``ask`` sends a command and waits for its answer, keeping the events that come between."""

    def __init__(self, profile: Path) -> None:
        theirs_in, self.ours_out = os.pipe()
        self.ours_in, theirs_out = os.pipe()
        command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        wired = f'exec 3<&{theirs_in} 4>&{theirs_out}; exec "$@"'
        self.process = subprocess.Popen(
            ["bash", "-c", wired, "bash", *command],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.count, self.rest, self.events, self.session = 0, b"", [], ""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def receive(self) -> dict:
        while b"\0" not in self.rest:
            part = os.read(self.ours_in, 65536)
            if not part:
                raise EOFError("chromium closed its pipe")
            self.rest += part
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def ask(self, method: str, **params: object) -> dict:
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.ours_out, json.dumps(message).encode() + b"\0")
        while (answer := self.receive()).get("id") != self.count:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def wait_for(self, method: str) -> None:
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.receive())

    def open(self, path: Path, fragment: str = "", *, width: int = 1280, scripts: bool = True) -> None:
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setScriptExecutionDisabled", value=not scripts)
        for url in ("about:blank", f"{path.as_uri()}{fragment}"):
            self.events.clear()
            self.ask("Page.navigate", url=url)
            self.wait_for("Page.loadEventFired")

    def value(self, expression: str) -> object:
        return self.ask("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def click(self, selector: str) -> None:
        x, y = self.value(
            f"(() => {{ const r = document.querySelector('{selector}').getClientRects()[0];"
            " return [r.left + 4, r.top + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str, code: int) -> None:
        text = {"text": "\r"} if key == "Enter" else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def shown(self) -> list[str]:
        """The ids of the evidence that can be seen."""
        found = self.value(
            "[...document.querySelectorAll('.evidence')].filter(e => e.checkVisibility()).map(e => e.id)"
        )
        assert isinstance(found, list)
        return found

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=20)
        os.close(self.ours_in)
        os.close(self.ours_out)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "article.html"
    path.write_text(page_text(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def panels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("panels") / "article.html"
    path.write_text(page_text(panels=True), encoding="utf-8")
    return path


@pytest.mark.parametrize("scripts", [True, False])
def test_a_click_opens_the_evidence_of_a_claim_and_another_link_closes_it(
    browser: Browser, page: Path, scripts: bool
) -> None:
    browser.open(page, scripts=scripts)
    assert browser.shown() == []

    browser.click("#c3 .words")

    assert browser.shown() == ["e-c3"]
    assert browser.value("document.querySelector('#e-c3 mark').innerText") == "Two bridges closed."
    browser.click("#e-c3 .close")
    assert browser.shown() == []


@pytest.mark.parametrize("width", [1280, 390])
def test_with_scripts_the_page_stays_where_it_is_and_a_second_click_closes(
    browser: Browser, page: Path, width: int
) -> None:
    browser.open(page, width=width)
    browser.value("scrollTo(0, 120)")
    selector = "#c6 .words"

    browser.click(selector)

    assert browser.shown() == ["e-c6"]
    assert browser.value("scrollY") == 120
    assert browser.value(f"document.querySelector('{selector}').ariaExpanded") == "true"
    browser.click(selector)
    browser.ask("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)  # off the claim: nothing is previewed
    assert browser.shown() == []


def test_the_keyboard_opens_with_enter_and_closes_with_escape(browser: Browser, page: Path) -> None:
    browser.open(page)

    browser.press("Tab", 9)
    browser.press("Enter", 13)

    assert browser.shown() == ["e-c1"]
    browser.press("Escape", 27)
    assert browser.shown() == []
    assert browser.value("document.activeElement.hash") == "#c1"


def test_hovering_previews_until_a_claim_is_chosen(browser: Browser, page: Path) -> None:
    browser.open(page)
    x, y = browser.value("(r => [r.left + 9, r.top + 9])(document.querySelector('#c2 .words').getClientRects()[0])")

    browser.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    assert browser.shown() == ["e-c2"]
    browser.click("#c3 .words")
    browser.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    assert browser.shown() == ["e-c3"]


def test_a_fragment_opens_the_page_at_its_claim(browser: Browser, page: Path) -> None:
    browser.open(page, "#c40")

    assert browser.shown() == ["e-c40"]
    top = browser.value("document.querySelector('#c40').getClientRects()[0].top")
    assert 0 < top < 800


@pytest.mark.parametrize("width", [1280, 900, 390])
def test_evidence_stands_beside_the_text_or_on_a_phone_beneath(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, "#c3", width=width)
    box = "(s => (r => [r.left, r.top, r.right, r.bottom])(document.querySelector(s).getBoundingClientRect()))"

    evidence = browser.value(f"{box}('#e-c3')")
    claim = browser.value(f"{box}('#c3 .words')")

    if width >= 900:
        assert evidence[0] >= claim[2]
        assert (evidence[1], evidence[2]) == (0, browser.value("document.documentElement.clientWidth"))
    else:
        assert evidence[1] >= claim[3] - 2
    assert browser.value("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [1280, 390])
def test_panels_are_seen_without_scripts_and_stay_inside_the_page(browser: Browser, panels: Path, width: int) -> None:
    browser.open(panels, width=width, scripts=False)

    for name in ("premise", "warnings", "discords", "repairs", "style", "quality"):
        assert browser.value(f"document.querySelector('#{name}').checkVisibility()") is True, name
    assert browser.value("document.documentElement.scrollWidth") <= width
    lefts = browser.value("[...document.querySelectorAll('.conflict .sides > li')].map(e => e.offsetLeft)")
    assert (lefts[0] < lefts[1]) is (width == 1280)
    assert browser.value("document.querySelector('.conflict mark').innerText") == "Two"
    assert browser.value("document.querySelector('#repairs del').innerText.trim()") == "Surely two"


def test_a_premise_stands_above_the_article_and_conflicts_below(browser: Browser, panels: Path) -> None:
    browser.open(panels)

    tops = browser.value(
        "['#premise', '.lede', '#discords'].map(s => document.querySelector(s).getBoundingClientRect().top)"
    )

    assert tops == sorted(tops)


def test_nothing_is_asked_for_and_nothing_of_the_archive_runs(browser: Browser, page: Path) -> None:
    browser.open(page, "#c3")
    for selector in ("#c2 .words", "#c4 .words", "summary"):
        if browser.value(f"!!document.querySelector('{selector}')"):
            browser.click(selector)

    asked = {e["params"]["request"]["url"] for e in browser.events if e.get("method") == "Network.requestWillBeSent"}

    assert {re.sub("#.*", "", url) for url in asked} == {page.as_uri()}
    assert browser.value("document.title") == "The river rose"
    assert browser.value("document.querySelectorAll('img').length") == 0
    assert browser.value("document.scripts.length") == 1
    said = [e for e in browser.events if e.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown")]
    assert said == []


def test_nothing_of_the_findings_runs(browser: Browser, panels: Path) -> None:
    browser.open(panels)

    assert browser.value("document.title") == "The river rose"
    assert browser.value("document.querySelectorAll('img').length") == 0
    assert browser.value("document.scripts.length") == 1


def test_our_own_style_and_script_pass_the_policy(browser: Browser, page: Path) -> None:
    browser.open(page)

    assert browser.value("document.styleSheets.length") == 1
    assert browser.value("document.querySelector('#c2 .words').ariaExpanded") == "false"
    browser.value("document.body.insertAdjacentHTML('beforeend', '<p id=probe style=\"color: rgb(1, 2, 3)\">x</p>')")
    assert browser.value("getComputedStyle(document.querySelector('#probe')).color") != "rgb(1, 2, 3)"


def test_a_dark_scheme_darkens_the_page(browser: Browser, page: Path) -> None:
    browser.open(page)
    light = browser.value("getComputedStyle(document.body).backgroundColor")

    browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])

    dark = browser.value("getComputedStyle(document.body).backgroundColor")
    browser.ask("Emulation.setEmulatedMedia", features=[])
    assert sum(map(int, re.findall(r"\d+", str(light))[:3])) > 600
    assert sum(map(int, re.findall(r"\d+", str(dark))[:3])) < 150


def test_print_leaves_the_article_and_its_sources(browser: Browser, page: Path) -> None:
    browser.open(page, "#c3")

    browser.ask("Emulation.setEmulatedMedia", media="print")

    assert browser.shown() == []
    assert browser.value("getComputedStyle(document.querySelector('aside')).position") == "static"
    assert browser.value("document.querySelector('#s1').checkVisibility()") is True
    browser.ask("Emulation.setEmulatedMedia", media="")
