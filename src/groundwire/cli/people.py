"""Score articles by a judge, and have people label texts blind."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from groundwire.cli import show
from groundwire.cli.runs import RunOptions, recording_of, run_options
from groundwire.cli.upkeep import archive_of, archive_option, json_option, settings_of

if TYPE_CHECKING:
    from groundwire.core.types import Interval
    from groundwire.evaluation.articles import How
    from groundwire.evaluation.people import JudgeAgreement, PoweredOf, RaterAgreement
    from groundwire.flow.article_scores import ArticleItems, ScoredArticles
    from groundwire.flow.settings import Loaded

_map = click.option("--map", "map_", metavar="OURS=THEIRS,…", help="Field names in JSONL, such as answer=output.")
_sources = click.option(
    "--sources", type=click.Path(path_type=Path, exists=True), metavar="FOLDER", help="The sources of the articles."
)
_seed = click.option("--seed", type=int, default=0, show_default=True, help="Of every draw.")


@click.command()
@click.argument("articles", nargs=-1, required=True, metavar="ARTICLE...")
@click.option("--model", required=True, metavar="NAME", help="The judge: llama:NAME or http:NAME.")
@click.option("--readings", type=click.IntRange(min=1), default=3, show_default=True, help="Of each article.")
@click.option("--temperature", type=float, default=0.7, show_default=True, help="Of the readings.")
@click.option("--expected", is_flag=True, help="One call an article: the expectation over the tokens of each number.")
@click.option("--blind", is_flag=True, help="Take marks of citations and the list of sources out first.")
@_sources
@archive_option
@_map
@click.option("--seed", type=int, help="Of the readings, the intervals and the comparison.")
@click.option("--out", "-o", type=click.Path(path_type=Path), help="Write every judgement as JSONL.")
@json_option
@run_options
def score(run: RunOptions, articles: tuple[str, ...], model: str, readings: int, temperature: float, expected: bool,
          blind: bool, sources: Path | None, archive: str | None, map_: str | None, seed: int | None,
          out: Path | None, json_: bool) -> None:  # fmt: skip
    """Score each ARTICLE by ScoreRAG's four criteria, 1 to 5: coherence, accuracy, professionalism, informativeness.

    ARTICLE is our .json or .md, a text, or JSONL with question, answer and contexts; SYSTEM=FILE names who wrote it.
    Several systems are compared, also at equal length. Exits with 1 when an article stays without a total.

    Example: groundwire score plain=a.md best=b.md --model http:judge --archive stories.archive
    """
    from groundwire.evaluation.articles import ScoreSettings
    from groundwire.evaluation.comparisons import Options
    from groundwire.flow.article_scores import score_articles
    from groundwire.flow.model_settings import limits_of, model_of, prices_of

    loaded = settings_of({"archive": archive, "judge.seed": seed})
    judge = loaded.settings.judge
    how: How = "expected" if expected else "readings"
    wanted = ScoreSettings(how, readings, temperature, judge.seed, blind=blind, prompts=loaded.settings.prompts_folder)
    given = _articles(loaded, articles, sources=sources, archive=archive, map_=map_)
    limits, prices = limits_of(loaded.settings, [model]), prices_of(loaded.settings)
    with recording_of(loaded, run=run, limits=limits, prices=prices) as recording:
        for path in articles:
            file = Path(path if Path(path).exists() else path.partition("=")[2])
            recording.input(file.as_posix(), file.read_bytes())  # two folders may hold one name
        asked = recording.model(
            model,
            lambda: model_of(model, settings=loaded.settings, environment=os.environ, ledger=recording.ledger),
        )
        options = Options(level=judge.level, resamples=judge.resamples, seed=judge.seed)
        with show.progress("scoring") as progress:
            found = score_articles(
                given, model=asked, recording=recording, settings=wanted, options=options, progress=progress
            )
        if out is not None:
            found.save(out)
            recording.output(out.name, out.read_bytes())
            show.say(f"wrote {len(found.judgements)} judgements to {out}")
    show.as_json(found.facts()) if json_ else _show_scores(found)
    sys.exit(1 if found.unscored else 0)


@click.group()
def label() -> None:
    """Have people label texts blind, read the answers back, and set them beside a judge."""


@label.command()
@click.argument("items", nargs=-1, required=True, metavar="ITEMS...")
@click.option("--out", "-o", required=True, type=click.Path(path_type=Path), metavar="FILE", help="A .csv or .html.")
@click.option("--rubric", "form", default="scorerag", show_default=True, metavar="FORM",
              help="scorerag, preference, ccrs, or rubrics of CCRS by commas.")  # fmt: skip
@click.option("-n", "--n", "n", type=click.IntRange(min=1), default=50, show_default=True, help="Items to draw.")
@click.option("--annotators", type=click.IntRange(1, 9), default=1, show_default=True, help="Each gets a sheet.")
@click.option("--repeated", type=click.FloatRange(0, 0.5), default=0.1, show_default=True,
              help="Share of the texts shown twice.")  # fmt: skip
@click.option("--language", type=click.Choice(["en", "zh-TW", "zh-CN"]), help="Of the sheet; default: of the texts.")
@click.option("--without-marks", is_flag=True, help="Take marks of citations and lists of sources out of the texts.")
@_sources
@archive_option
@_map
@_seed
@json_option
def make(items: tuple[str, ...], out: Path, form: str, n: int, annotators: int, repeated: float, language: str | None,
         without_marks: bool, sources: Path | None, archive: str | None, map_: str | None, seed: int,
         json_: bool) -> None:  # fmt: skip
    """Draw ITEMS at random and make a blind sheet of their texts, with a key to be kept from those who label.

    ITEMS are as for score, of one system or several. A .html sheet needs no network and keeps its answers in the
    browser.   Example: groundwire label make plain.jsonl best.jsonl -o sheet.html --rubric preference --annotators 2
    """
    from groundwire.evaluation.sheets import SheetPlan
    from groundwire.flow.labelling import make_sheets

    loaded = settings_of({"archive": archive})
    given = _articles(loaded, items, sources=sources, archive=archive, map_=map_)
    made = make_sheets(given.items, form=form, out=out, plan=SheetPlan(n, seed, annotators, repeated),
                       language=language or "", without_marks=without_marks)  # fmt: skip
    for note in made.notes:
        show.say(note)
    for path in made.sheets:
        show.say(f"wrote {path}")
    show.say(f"wrote {made.key_file}: what the codes stand for; keep it from those who label")
    if json_:
        show.as_json({"sheets": made.sheets, "key": made.key_file, "texts": len(made.key.tasks), "notes": made.notes})


@label.command()
@click.argument("sheets", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SHEET...")
@click.option("--key", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The sheet's .key.json.")
@click.option("--out", "-o", type=click.Path(path_type=Path), help="Write the labels as JSONL.")
@_seed
@json_option
def read(sheets: tuple[Path, ...], key: Path, out: Path | None, seed: int, json_: bool) -> None:
    """Read filled-in SHEETs (.csv, or the answers that the page saved) into labels, and say how far people agree.

    Exits with 1 when an answer is missing or cannot be read.

    Example: groundwire label read sheet.1.csv sheet.2.csv --key sheet.key.json -o labels.jsonl
    """
    from groundwire.flow.labelling import read_sheets

    found = read_sheets(sheets, key_file=key, seed=seed)
    unscored = sum(one.value is None for one in found.labels)
    for note in found.notes:
        show.say(note)
    if out is not None:
        found.save(out)
        show.say(f"wrote {len(found.labels)} labels to {out}")
    if json_:
        show.as_json({"labels": len(found.labels), "unscored": unscored, "agreement": found.agreement,
                      "notes": found.notes})  # fmt: skip
    else:
        _show_agreement(found.agreement)
    show.say(f"{len(found.labels)} labels, {unscored} unscored")
    sys.exit(1 if unscored else 0)


@label.command()
@click.argument("labels", type=click.Path(path_type=Path))
@click.argument("judgements", type=click.Path(path_type=Path))
@_seed
@json_option
def agree(labels: Path, judgements: Path, seed: int, json_: bool) -> None:
    """Set LABELS of people beside JUDGEMENTS of a judge: correlations, and means from both together.

    Means of both together stand for all items only where the labelled ones were drawn at random, as make draws them.

    Example: groundwire label agree labels.jsonl scores.jsonl
    """
    from groundwire.flow.labelling import agree as beside
    from groundwire.flow.labelling import read_judgements, read_labels

    found = beside(read_labels(labels), read_judgements(judgements), seed=seed)
    if json_:
        show.as_json(found)
    else:
        _show_judge(found.rubrics, seed)
    for note in found.notes:
        show.say(note)


def _articles(
    loaded: Loaded, paths: Sequence[str], *, sources: Path | None, archive: str | None, map_: str | None
) -> ArticleItems:
    """The articles, with sources of a folder, or of the archive where one is named."""
    from groundwire.core.errors import UsageError
    from groundwire.flow.article_scores import read_articles, read_folder, sources_in, sources_of_archive
    from groundwire.flow.settings import mapping

    names = mapping(map_) if map_ else None
    if sources is not None and archive is not None:
        raise UsageError("--sources and --archive were both given; sources come from one of them")
    if archive is not None:
        with archive_of(loaded) as opened:
            given = read_articles(paths, sources=sources_of_archive(opened), mapping=names)
    else:
        found = None if sources is None else sources_in(read_folder(sources))
        given = read_articles(paths, sources=found, mapping=names)
    for reject in given.rejects:
        show.say(f"row {reject.line} rejected: {reject.reason}")
    for note in given.notes:
        show.say(note)
    return given


def _show_scores(found: ScoredArticles) -> None:
    heads = ("system", "topic", *(one.name for one in found.scores[0].criteria), "total", "spread", "words", "unread")
    show.table(heads, [
        (one.system or "–", one.item_id[:40], *(_level(each.value) for each in one.criteria), _level(one.total),
         _level(one.spread), f"{one.words:,}", f"{one.unread} of {one.asked}")
        for one in found.scores
    ])  # fmt: skip
    for one in found.scores:
        if one.reason:
            show.say(f"{one.system} · {one.item_id[:40]}: {one.outcome}, {one.reason}")
    if len({one.item_id for one in found.scores}) > 1:
        show.lines(["", "means, on 0 to 100 where level 1 is 0 and level 5 is 100"])
        show.summaries(found.summaries)
    _show_compared(found)
    for note in found.notes:
        show.say(f"warning: {note}")
    show.say(
        f"judge {found.judge}, seed {found.settings.seed}; {len(found.scores)} articles, {found.unscored} unscored"
    )


def _show_compared(found: ScoredArticles) -> None:
    for measure in found.compared:
        for pair in measure.pairs:
            show.lines([f"{measure.measure}: {pair.words}, {measure.left_out} left out"])
            show.lines([f"  at equal length: {_at_equal_length(pair.at_equal_length)}"])
        for note in measure.notes:
            show.say(f"{measure.measure}: {note}")
    if found.compared:
        show.say(f"differences on 0 to 100; bootstrap intervals and tests over the topics, seed {found.seed}")


def _at_equal_length(gap: Interval | None) -> str:
    if gap is None or math.isnan(gap.mean):
        return "cannot be told, for the lengths do not vary within the systems"
    return f"{gap.mean:+.3g}" + ("" if math.isnan(gap.low) else f" [{gap.low:.3g}, {gap.high:.3g}]")


def _level(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _show_agreement(found: Sequence[RaterAgreement]) -> None:
    rows = []
    for one in found:
        between = one.between
        rows.append((one.rubric, f"Krippendorff, {one.scale}", _figures(between.value, between.low, between.high),
                     str(between.units), str(one.unscored)))  # fmt: skip
        rows += [(one.rubric, f"kappa of {first} and {second}", *_cells(kappa)) for first, second, kappa in one.kappas]
        for own in one.itself:
            rows.append((one.rubric, f"{own.annotator} with itself: same", *_cells(own.same)))
            rows.append((one.rubric, f"{own.annotator} with itself: points apart", *_cells(own.apart)))
    show.table(("rubric", "agreement", "value", "n", "unscored"), rows)
    if found:
        show.say(f"{found[0].between.level:.0%} bootstrap intervals, seed {found[0].between.seed}")


def _show_judge(found: Sequence[JudgeAgreement], seed: int) -> None:
    rows = [
        (one.rubric, each.kind, _figures(each.value, each.low, each.high), str(each.n), str(each.unscored))
        for one in found
        for each in one.correlations
    ]
    show.table(("rubric", "judge with people", "value", "n", "unscored"), rows)
    powered = [(one.rubric, *_powered_row(each)) for one in found for each in one.powered]
    if powered:
        show.lines(["", "means and differences from labels and judge together (0 to 100)"])
        show.table(("rubric", "system", "together", "people alone", "labels", "judged", "unscored"), powered)
    for judge in dict.fromkeys(one.judge for one in found):
        show.say(f"judge {judge}")
    level = found[0].correlations[0].level
    show.say(f"correlations: {level:.0%} bootstrap intervals, seed {seed}; together: {level:.0%} normal intervals")


def _powered_row(one: PoweredOf) -> tuple[str, ...]:
    name = " minus ".join(one.systems) or "–"
    if one.found is None:
        return name, "–", one.reason, "–", "–", str(one.unscored)
    found = one.found
    return (name, f"{found.mean:.1f} [{found.low:.1f}, {found.high:.1f}]",
            "{:.1f} [{:.1f}, {:.1f}]".format(*found.people_only), str(found.labels), str(found.judged),
            str(one.unscored))  # fmt: skip


def _cells(value: Interval) -> tuple[str, str, str]:
    return _figures(value.mean, value.low, value.high), str(value.n), str(value.unscored)


def _figures(value: float, low: float, high: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.2f}" + ("" if math.isnan(low) else f" [{low:.2f}, {high:.2f}]")
