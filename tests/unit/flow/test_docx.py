import builtins
import re
import shutil
import subprocess
from datetime import date
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import MissingExtra
from groundwire.core.findings import PremiseNote, Repair
from groundwire.core.types import Article, Citation, Claim, NumberedSource, Section, Verdict
from groundwire.flow.docx import render_docx
from groundwire.flow.findings import Findings
from groundwire.flow.render import Provenance

docx = pytest.importorskip("docx", reason="the extra docx is not installed")
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MADE = Provenance("0.1.0", "2026-11-30T18:05:00+08:00")
SOFFICE = shutil.which("soffice")


def article(language: str = "en", text: str = "It rose.", *, url: str = "https://a.example/x?p=1&q=2") -> Article:
    both = (Citation(1, "d1", 0, len(text), text), Citation(2, "gone", text=""))
    return Article(
        "Topic",
        Claim("c1", "Headline", both[:1]),
        (Claim("c2", text, both), Claim("c3", "No stop"), Claim("c4", "End.")),
        (Section("Head", (Claim("c5", "One."), Claim("c6", "Last"))), Section(" ", ())),
        (NumberedSource(1, "d1", "Title", "Post", date(2024, 5, 3), url, language), NumberedSource(3, "d3", url="x:y")),
        language,
        notes=("a note",),
        as_of=date(2024, 5, 4),
    )


def parts(held: bytes) -> dict[str, str]:
    with ZipFile(BytesIO(held)) as packed:
        assert packed.testzip() is None
        return {name: packed.read(name).decode() for name in packed.namelist() if name.endswith((".xml", ".rels"))}


def words_of(xml: str) -> str:
    return "".join(node.text or "" for node in ElementTree.fromstring(xml).iter(f"{W}t"))  # noqa: S314 - our own


def test_every_citation_is_a_real_footnote_with_its_source_and_words() -> None:
    made = parts(render_docx(article(), provenance=MADE))

    notes = ElementTree.fromstring(made["word/footnotes.xml"])  # noqa: S314 - our own
    ids = [note.get(f"{W}id") for note in notes]
    pointed = re.findall(r'footnoteReference w:id="(\d+)"', made["word/document.xml"])
    assert ids == ["-1", "0", "1", "2", "3"]
    assert pointed == ["1", "2", "3"]
    told = ["".join(node.text or "" for node in note.iter(f"{W}t")) for note in notes]
    assert told[3] == " “It rose.” Title · Post, 2024-05-03 https://a.example/x?p=1&q=2"
    assert told[4] == " gone"
    assert "footnotes+xml" in made["[Content_Types].xml"]
    assert "relationships/footnotes" in made["word/_rels/document.xml.rels"]
    assert "https://a.example/x?p=1&amp;q=2#:~:text=It%20rose." in made["word/_rels/footnotes.xml.rels"]
    settings_of = made["word/settings.xml"]
    assert 0 < settings_of.index("<w:footnotePr") < settings_of.index("<w:compat>")
    assert {"FootnoteText", "FootnoteReference", "Hyperlink"} <= set(
        re.findall(r'w:styleId="(\w+)"', made["word/styles.xml"])
    )


def test_the_document_reads_back_in_order() -> None:
    read = docx.Document(BytesIO(render_docx(article(), provenance=MADE)))

    shown = [(paragraph.style.name, paragraph.text) for paragraph in read.paragraphs]
    assert shown[0] == ("Title", "Headline")
    assert "as of 2024-05-04" in shown[1][1]
    assert [text for style, text in shown if style == "Normal"][:4] == [
        "It rose., No stop",
        "End.",
        "One. Last",
        "[1] Title · Post, 2024-05-03 https://a.example/x?p=1&q=2",
    ]
    assert [text for style, text in shown if style == "Heading 1"] == [
        "Head",
        "Sources",
        "For the editor: what was checked",
    ]
    assert read.core_properties.created.isoformat()[:16] == "2026-11-30T10:05"


@pytest.mark.parametrize(
    ("language", "tag", "font"),
    [("zh-TW", "zh-TW", "PMingLiU"), ("zh", "zh-CN", "SimSun"), ("ja", "ja", "MS Mincho")],
)
def test_east_asian_runs_say_language_and_font(language: str, tag: str, font: str) -> None:
    made = parts(render_docx(article(language, "水位上升。"), provenance=MADE))

    wanted = f'<w:rFonts w:hint="eastAsia" w:eastAsia="{font}"/>'
    assert wanted in made["word/document.xml"]
    assert f'<w:lang w:val="en-US" w:eastAsia="{tag}"/>' in made["word/document.xml"]
    assert f'w:eastAsia="{tag}"' in made["word/styles.xml"]


def test_the_appendix_holds_what_is_not_supported_the_premise_and_repairs_as_a_diff() -> None:
    of = article()
    repair = Repair("softened", Claim("c2", "It surely rose.", of.lede[0].citations[:1]), of.lede[0], "why")
    found = Findings(
        premise=(PremiseNote("three", "two"),), repairs=(repair, Repair("cut", Claim("x", "Gone."), None, ""))
    )
    verdicts = tuple(Verdict(claim, "not_found", "no source") for claim in of.claims[:2])

    body = parts(render_docx(of, provenance=MADE, verdicts=verdicts, findings=found))["word/document.xml"]

    shown = words_of(body)
    for line in (
        "Not found: It rose. [1][2] — no source",
        "Premise: three: two",
        "Cut: Gone.",
        "a note",
        "Not checked: End.",
    ):
        assert line in shown
    assert re.search(r"<w:strike/>(?:(?!</w:r>).)*> surely<", body)


def test_without_anything_to_say_there_is_no_appendix() -> None:
    bare = Article("T", Claim("c1", "H"), (), (), ())

    assert "For the editor" not in words_of(parts(render_docx(bare, provenance=MADE))["word/document.xml"])


def test_the_same_article_gives_the_same_bytes_dated_as_it_says() -> None:
    held = render_docx(article(), provenance=MADE)

    assert held == render_docx(article(), provenance=MADE)
    with ZipFile(BytesIO(held)) as packed:
        assert {entry.date_time for entry in packed.infolist()} == {(2026, 11, 30, 18, 5, 0)}
    early = render_docx(article(), provenance=Provenance("0", "1970-01-01T00:00:00"))
    assert ZipFile(BytesIO(early)).infolist()[0].date_time[0] == 1980


@pytest.mark.parametrize("url", ["https://a.example/" + "p" * 2100, "javascript:alert(1)"])
def test_an_address_that_may_not_be_a_link_is_text(url: str) -> None:
    made = parts(render_docx(article(url=url), provenance=MADE))

    assert "hyperlink" not in made.get("word/_rels/footnotes.xml.rels", "")
    assert url in words_of(made["word/footnotes.xml"])


@given(st.text(max_size=60))
@settings(max_examples=8, deadline=None)
def test_whatever_the_archive_holds_is_text(text: str) -> None:
    hostile = f"<w:p/>&amp;]]>\x00\x1b\u202e\ud800\n{text}"

    read = docx.Document(BytesIO(render_docx(article(text=hostile), provenance=MADE)))

    assert read.paragraphs[2].text.startswith("<w:p/>&amp;]]>\ufffd\ufffd\ufffd\ufffd ")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def refuse(name: str, *rest: object, **named: object) -> object:
        if name == "docx":
            raise ImportError(name)
        return load(name, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", refuse)

    with pytest.raises(MissingExtra, match=r"groundwire\[docx\]"):
        render_docx(article(), provenance=MADE)


@pytest.mark.integration
@pytest.mark.skipif(SOFFICE is None, reason="no LibreOffice on the path")
def test_libreoffice_reads_text_and_footnotes(tmp_path: Path) -> None:
    path = tmp_path / "article.docx"
    path.write_bytes(render_docx(article("zh-TW", "水位上升。"), provenance=MADE))

    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = [str(SOFFICE), "--headless", profile, "--convert-to", "odt", "--outdir", str(tmp_path), str(path)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)

    content = ZipFile(tmp_path / "article.odt").read("content.xml").decode()
    assert content.count('text:note-class="footnote"') == 3
    assert "「水位上升。」" in content
