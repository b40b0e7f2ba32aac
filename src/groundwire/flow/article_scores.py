"""Articles of one system or several, scored by a judge through the ledger, and compared: values, intervals, length."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from groundwire.core.answers import Answer
from groundwire.core.encodings import decode
from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.core.language import LanguageModel, Request
from groundwire.core.ports import Progress
from groundwire.core.prompts import LANGUAGES, load
from groundwire.core.types import Article, Claim, Document, Item, Judgement
from groundwire.evaluation import articles
from groundwire.evaluation.articles import ArticleJudge, ArticleScore, ScoreSettings
from groundwire.evaluation.compare import compare
from groundwire.evaluation.comparisons import MeasureComparison, Options
from groundwire.evaluation.items import read_items
from groundwire.evaluation.kinship import families, kinship
from groundwire.evaluation.rows import RejectedRow
from groundwire.evaluation.stats import Summary, summarise
from groundwire.flow.exports import read_article
from groundwire.flow.links import is_dense
from groundwire.flow.runs import Recording
from groundwire.retrieval.index import Archive
from groundwire.retrieval.readers import read_documents

SourcesOf = Callable[[Article | None], Sequence[Document]]
"""The sources that an article of ours lists; all there are for another's (None)."""


@dataclass(frozen=True, slots=True)
class ArticleItems:
    """Articles as items: ``question`` is the topic, ``answer`` the text, ``contexts`` the sources.

    ``writers`` are pairs of system and the model that wrote, where known; ``notes`` what a person must know.
    """

    items: tuple[Item, ...]
    writers: tuple[tuple[str, str], ...] = ()
    rejects: tuple[RejectedRow, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoredArticles:
    """Scores in the order of the items, with their judgements, summaries by system, and the comparison of systems.

    ``judge`` is the fingerprint, ``seed`` that of intervals and comparison; ``notes`` must stand beside the values (a
    judge of the writer's own family).
    """

    scores: tuple[ArticleScore, ...]
    judgements: tuple[Judgement, ...]
    summaries: tuple[Summary, ...]
    compared: tuple[MeasureComparison, ...]
    judge: str
    settings: ScoreSettings
    seed: int
    notes: tuple[str, ...]

    @property
    def unscored(self) -> int:
        """How many articles have no total."""
        return sum(score.total is None for score in self.scores)

    def facts(self) -> dict[str, object]:
        """Everything as plain values, for JSON."""
        return {
            "judge": self.judge,
            "settings": {name: value for name, value in asdict(self.settings).items() if name != "prompts"},
            "articles": [asdict(score) for score in self.scores],
            "summaries": [asdict(summary) for summary in self.summaries],
            "comparisons": [_comparison(one) for one in self.compared],
            "unscored": self.unscored,
            "seed": self.seed,
            "notes": list(self.notes),
        }

    def save(self, path: Path) -> None:
        """Write one JSON object a judgement, as ``compare`` and ``label agree`` read them."""
        rows = (json.dumps(asdict(judgement), ensure_ascii=False) for judgement in self.judgements)
        path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


def score_articles(
    given: ArticleItems,
    *,
    model: LanguageModel,
    recording: Recording,
    settings: ScoreSettings | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> ScoredArticles:
    """Score articles by one judge; what cannot be read is asked for once more, and is unscored after that.

    Args:
        given: the articles, each system and item once.
        model: the judge.
        recording: the run that asks it.
        settings: how often, how blind and how long.
        options: level, resamples and seed of the intervals and of the comparison.
        progress: told how far it is.

    Raises:
        UsageError: there is no article.
        ModelError, BudgetReached, CannotDo: as ``traffic.ask``; what was answered is in the ledger.
    """
    if not given.items:
        raise UsageError("there is no article to score; name files of articles, or JSONL with one answer a row")
    judge = articles.article_judge(model.id, capabilities=recording.capabilities(model), settings=settings)
    _take_down(judge, recording)
    scores = _scores(judge, given.items, model=model, recording=recording, progress=progress)
    judged = tuple(row for score in scores for row in articles.judgements(judge, score))
    drawn = options or Options()
    summaries = summarise(judged, level=drawn.level, resamples=drawn.resamples, seed=drawn.seed)
    lengths = {(score.system, score.item_id): float(score.words) for score in scores}
    several = len({score.system for score in scores}) > 1
    compared = compare(judged, lengths=lengths, options=drawn).measures if several else ()
    notes = (judge.note, *kinship(model.id, writers=dict(given.writers)), *_cut(scores))
    return ScoredArticles(scores, judged, summaries, compared, judge.fingerprint, judge.settings, drawn.seed,
                          tuple(filter(None, notes)))  # fmt: skip


def read_articles(
    paths: Sequence[str], *, sources: SourcesOf | None = None, mapping: Mapping[str, str] | None = None
) -> ArticleItems:
    """Read articles: our ``.json`` or ``.md``, anybody's text, or JSONL with one answer a row.

    Args:
        paths: files, each as it is or as ``SYSTEM=FILE``. Without a name the system is the folder where the files come
            from several, else who wrote the article.
        sources: finds the sources of an article; those of JSONL stand in its rows.
        mapping: of the names in JSONL.

    Raises:
        UsageError: one system has two articles on one topic, or two items of one id.
        UnreadableInput: a file cannot be read.
    """
    named = [_named(path) for path in paths]
    folders = {file.resolve().parent for name, file in named if not name}
    found: list[ArticleItems] = []
    for name, file in named:
        if file.suffix.lower() in (".jsonl", ".ndjson"):
            found.append(_rows(file, name, mapping=mapping))
        else:
            system = name or (file.resolve().parent.name if len(folders) > 1 else "")
            found.append(_one(file, system, sources=sources))
    joined = ArticleItems(
        tuple(item for one in found for item in one.items),
        tuple(dict.fromkeys(pair for one in found for pair in one.writers)),
        tuple(reject for one in found for reject in one.rejects),
        tuple(note for one in found for note in one.notes),
    )
    _refuse_twice(joined.items)
    return joined


def sources_in(documents: Mapping[str, Document]) -> SourcesOf:
    """The sources of articles among documents by id: those an article lists, or all where it lists none of them."""

    def found(article: Article | None) -> Sequence[Document]:
        listed = [] if article is None else [source.document_id for source in article.sources]
        return [documents[name] for name in listed if name in documents] or list(documents.values())

    return found


def sources_of_archive(archive: Archive) -> SourcesOf:
    """The sources of articles in an archive: those an article lists; none for a text that lists none."""

    def found(article: Article | None) -> Sequence[Document]:
        listed = [] if article is None else [source.document_id for source in article.sources]
        held = archive.store.documents(listed)
        return [held[name] for name in listed if name in held]

    return found


def read_folder(folder: Path) -> dict[str, Document]:
    """The documents of a folder, or file, by id.

    Raises:
        UnreadableInput: it holds none that can be read.
    """
    reading = read_documents(folder)
    found = {document.id: document for document in reading}
    if not found:
        why = "; ".join(reject.reason for reject in reading.report.rejects[:3]) or "no file of a kind that is read"
        raise UnreadableInput(f"{folder} holds no source that can be read: {why}")
    return found


def article_text(article: Article) -> str:
    """An article as plain text: headline, lede, sections, marks ``[1]`` behind each claim, and its list of sources."""
    parts = [_claims((article.headline,)), _claims(article.lede)]
    for section in article.sections:
        parts += (section.heading, _claims(section.claims))
    listed = [
        f"[{source.number}] "
        + ", ".join(
            filter(None, (source.title, source.source, source.published.isoformat() if source.published else ""))
        )
        for source in article.sources
    ]
    return "\n\n".join(filter(None, [*parts, "\n".join(["Sources", *listed]) if listed else ""]))


def _comparison(found: MeasureComparison) -> dict[str, object]:
    """What was compared under one measure, as plain values."""
    slope = found.length_slope
    return {
        "measure": found.measure,
        "items": found.items,
        "left_out": found.left_out,
        "length_slope": slope and asdict(slope),
        "pairs": [
            {"one": pair.one, "other": pair.other, "decision": pair.decision, "p": pair.p,
             "difference": asdict(pair.difference),
             "at_equal_length": pair.at_equal_length and asdict(pair.at_equal_length), "words": pair.words}
            for pair in found.pairs
        ],
        "notes": list(found.notes),
    }  # fmt: skip


def _claims(claims: Sequence[Claim]) -> str:
    text = ""
    for claim in claims:
        marks = "".join(f"[{number}]" for number in dict.fromkeys(one.number for one in claim.citations))
        gap = "" if not text or is_dense(text[-1:]) or is_dense(claim.text[:1]) else " "
        text += f"{gap}{claim.text}{'' if is_dense(claim.text[-1:]) or not marks else ' '}{marks}"
    return text


def _named(path: str) -> tuple[str, Path]:
    name, sign, file = path.partition("=")
    return (name.strip(), Path(file)) if sign and not Path(path).exists() else ("", Path(path))


def _rows(file: Path, name: str, *, mapping: Mapping[str, str] | None) -> ArticleItems:
    reading = read_items(file, mapping=mapping)
    items = tuple(
        Item(item.id, item.question, item.contexts, item.answer, item.reference, name or item.system or file.stem)
        for item in reading.items
    )
    writers = {item.system: item.system for item in items if families(item.system)}
    return ArticleItems(items, tuple(writers.items()), reading.rejects)


def _one(file: Path, system: str, *, sources: SourcesOf | None) -> ArticleItems:
    article, text, notes = _read(file)
    topic = " ".join((article.topic if article else text.strip().partition("\n")[0].lstrip("# ")).split())
    if not topic:
        raise UsageError(f"{file} is empty; an article has a headline, which is its topic, and a text")
    writer = article.writer if article else ""
    named = system or writer or file.stem
    documents = sources(article) if sources else ()
    contexts = tuple("\n".join(filter(None, (one.title, one.text))) for one in documents)
    listed = len(article.sources) if article else 0
    if sources and listed and len(documents) < listed:
        notes = (*notes, f"{file}: {len(documents)} of its {listed} sources are at hand; it is judged on those")
    return ArticleItems((Item(topic, topic, contexts, text, None, named),), ((named, writer),), (), notes)


def _read(file: Path) -> tuple[Article | None, str, tuple[str, ...]]:
    """An article of ours, or anybody's text, and a note which of the two a Markdown file was taken for."""
    if file.suffix.lower() == ".json":
        article = read_article(file).article
        return article, article_text(article), ()
    try:
        text = decode(file.read_bytes()).text
    except OSError as error:
        raise UnreadableInput(f"{file} cannot be read: {error.strerror}") from error
    if file.suffix.lower() != ".md":
        return None, text, ()
    try:
        article = read_article(file).article
    except UsageError as error:
        return None, text, (f"{error} It is taken as a text whose first line is its topic.",)
    return article, article_text(article), ()


def _refuse_twice(items: Sequence[Item]) -> None:
    seen: set[tuple[str, str]] = set()
    for item in items:
        if (item.system, item.id) in seen:
            raise UsageError(
                f"the system '{item.system}' has two articles on '{item.id}'; name the systems, as in"
                " plain=a.md best=b.md"
            )
        seen.add((item.system, item.id))


def _take_down(judge: ArticleJudge, recording: Recording) -> None:
    if judge.settings.how == "readings":
        recording.seed("article readings", judge.settings.seed)
    for language in LANGUAGES:
        prompt = load(articles.PROMPT, language, folder=judge.settings.prompts)
        recording.prompt(f"{articles.PROMPT}.{language}", prompt.fingerprint)


def _scores(
    judge: ArticleJudge,
    items: Sequence[Item],
    *,
    model: LanguageModel,
    recording: Recording,
    progress: Progress | None,
) -> tuple[ArticleScore, ...]:
    """Ask, read, ask once more for what could not be read, and score."""

    def ask(wanted: Sequence[Request]) -> dict[Request, Answer]:
        once = list(dict.fromkeys(wanted))
        if not once:
            return {}
        answers = recording.ask(once, model=model, progress=progress, only_fitting=True)
        return dict(zip(once, answers, strict=True))

    pairs = [(item, request) for item in items for request in articles.requests(judge, item)]
    answers = ask([request for _, request in pairs])
    first = [articles.read(judge, answers[request]) for _, request in pairs]
    repairs = [
        articles.repair(judge, item, answers[request], reading=reading)
        for (item, request), reading in zip(pairs, first, strict=True)
    ]
    further = ask([request for request in repairs if request is not None])
    readings = [
        reading if repair is None else articles.read_again(judge, further[repair], before=reading)
        for reading, repair in zip(first, repairs, strict=True)
    ]
    return tuple(
        articles.scored(judge, item, [one for one, (of, _) in zip(readings, pairs, strict=True) if of is item])
        for item in items
    )


def _cut(scores: Sequence[ArticleScore]) -> tuple[str, ...]:
    cut, shown = sum(score.cut for score in scores), sum(score.sources for score in scores)
    return (f"of {cut} of {shown} sources the judge saw only the beginning",) if cut else ()
