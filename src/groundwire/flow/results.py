"""Result files of any kind, read together: who is which system, what has which id, and what does not fit.

Nothing depends on the order of the files or of their rows.
"""

from __future__ import annotations

import gc
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.core.types import Item, Judgement
from groundwire.evaluation.importers import Answered, Reading, ResultFile, read_results
from groundwire.evaluation.result_rows import Kind
from groundwire.evaluation.rows import RejectedRow, refuse_absent
from groundwire.evaluation.trec import MEASURES, is_measure, judge_rankings

_MOST_NAMED = 10
_ENDINGS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt", ".run")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read: what it was taken for, the systems in it, its rows and those that were rejected.

    ``sha256`` is of its bytes, in hexadecimal digits.
    """

    file: str
    kind: Kind
    systems: tuple[str, ...]
    rows: int
    rejected: tuple[RejectedRow, ...]
    sha256: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """What several result files hold together.

    Attributes:
        items: questions with answers, one a system and id, sorted.
        copies: further answers under an id that a system has twice, sorted.
        judgements: sorted by system and item; an id that a system has twice stands twice.
        sources: the files, sorted by name.
        costs: (system, item id) -> what the answer cost.
        clusters: item id -> its group, where rows name one.
        notes: what was assumed.
    """

    items: tuple[Item, ...]
    copies: tuple[Item, ...]
    judgements: tuple[Judgement, ...]
    sources: tuple[SourceFile, ...]
    costs: Mapping[Answered, Mapping[str, float]]
    clusters: Mapping[str, str]
    notes: tuple[str, ...]


def read_result_files(
    files: Sequence[str | Path],
    *,
    mapping: Mapping[str, str] | None = None,
    measures: Sequence[str] = (),
    cluster: str = "",
) -> Results:
    """Read result files and join what they say about one system and item.

    Args:
        files: each as it is or as ``SYSTEM=FILE``. Without a name the system is what the rows say, else the file's
            name without its ending.
        mapping: item field -> name in the rows, for fields under names of their own.
        measures: only these are read; none: all.
        cluster: the field that names the group of an item; without one, ``cluster`` where rows have it.

    Raises:
        UsageError: a name stands for a file of several systems, a file is given two names, two files hold the same
            answers of one system, a run comes without qrels, or a field is in no row.
        UnreadableInput: a file is not there, or holds nothing of a known kind; with ``measures`` it may lack them.
    """
    named = _named(files)
    defaults = _default_names([file for file, _ in named])
    with _uncollected():
        readings = []
        for (file, name), default in sorted(zip(named, defaults, strict=True), key=lambda one: str(one[0][0])):
            data = _bytes(file)
            how = Reading(name or default, mapping or {}, tuple(measures), cluster or "cluster")
            read = read_results(data, name=str(file), how=how)
            readings.append(_Read(file, name, default, hashlib.sha256(data).hexdigest(), _renamed(read, file, name)))
    refuse_absent(mapping or {}, dict.fromkeys(field for one in readings for field in one.found.names))
    for one in () if measures else readings:
        _require_something(one.file, one.found)
    return _joined(_ranked(readings, measures), cluster)


def _require_something(file: Path, read: ResultFile) -> None:
    """Refuse a file out of which nothing came, and say why.

    Raises:
        UnreadableInput: it has neither answers nor values.
    """
    if read.items or read.judgements or read.rankings or read.grades:
        return
    fields = ", ".join(read.names[:_MOST_NAMED]) + (", …" if len(read.names) > _MOST_NAMED else "")
    if read.rejects and len(read.rejects) == read.rows:
        why = f"none of {read.rows:,} rows could be taken; row {read.rejects[0].line}: {read.rejects[0].reason}"
    else:
        why = f"{read.rows:,} rows, but no question with its answer and no column of numbers beside an id"
    raise UnreadableInput(
        f"{file}: {why}. Its fields are: {fields or 'none'}. Those under other names are told by --map, as in "
        "--map question=prompt,answer=output"
    )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause the search for cycles: rows make none, and to look through them again and again takes half of the time."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@dataclass(frozen=True, slots=True)
class _Read:
    """A file as it was read; ``name`` was given for its system, ``default`` is what it is called without."""

    file: Path
    name: str
    default: str
    sha256: str
    found: ResultFile
    notes: tuple[str, ...] = field(default=())

    @property
    def systems(self) -> tuple[str, ...]:
        return _systems(self.found)


def _named(files: Sequence[str | Path]) -> list[tuple[Path, str]]:
    """Every file once, with the name that was given for its system."""
    found: dict[Path, tuple[Path, str]] = {}
    for given in files:
        name, sign, file = str(given).partition("=")
        split = bool(sign) and not Path(given).exists()
        path, name = (Path(file), name.strip()) if split else (Path(given), "")
        before = found.get(path.resolve(), (path, ""))[1]
        if before and name and before != name:
            raise UsageError(f"{path} is given two names, '{before}' and '{name}'; give it one")
        found[path.resolve()] = (path, before or name)
    return list(found.values())


def _default_names(files: Sequence[Path]) -> list[str]:
    """File names without their endings, with as many folders before them as it takes to tell them apart."""
    whole = [file.resolve() for file in files]
    parts = [(file.with_suffix("") if file.suffix.lower() in _ENDINGS else file).parts for file in whole]
    for depth in range(1, max(map(len, parts), default=0) + 1):
        names = ["/".join(one[-depth:]) for one in parts]
        if len(set(names)) == len(names):
            return names
    return [str(file) for file in files]


def _bytes(file: Path) -> bytes:
    if not file.is_file():
        what = "is a folder" if file.is_dir() else "is not there"
        raise UnreadableInput(f"{file} {what}; give a file with results, such as answers.jsonl")
    try:
        return file.read_bytes()
    except OSError as error:
        raise UnreadableInput(f"{file} could not be read: {error.strerror}") from error


def _systems(found: ResultFile) -> tuple[str, ...]:
    answering, judged = {item.system for item in found.items}, {one.system for one in found.judgements}
    return tuple(sorted(answering | judged | {system for system, _ in found.rankings}))


def _renamed(found: ResultFile, file: Path, name: str) -> ResultFile:
    """A file under the name that was given for its system."""
    systems = _systems(found)
    if not name or systems in ((), (name,)):
        return found
    if len(systems) > 1:
        raise UsageError(f"{file} holds {len(systems)} systems ({', '.join(systems[:5])}), so '{name}' names none")
    return replace(
        found,
        items=tuple(replace(item, system=name) for item in found.items),
        judgements=tuple(replace(one, system=name) for one in found.judgements),
        costs={(name, item): spent for (_, item), spent in found.costs.items()},
        rankings={(name, query): ranked for (_, query), ranked in found.rankings.items()},
    )


def _ranked(readings: Sequence[_Read], measures: Sequence[str]) -> list[_Read]:
    """Runs with the values that the qrels give them; two runs with one tag are called by their files."""
    grades: dict[str, dict[str, float]] = {}
    for one in readings:
        for query, graded in one.found.grades.items():
            for document, grade in graded.items():
                mine = grades.setdefault(query, {})
                mine[document] = max(grade, mine.get(document, grade))
    runs = [one for one in readings if one.found.rankings]
    if runs and not grades:
        raise UsageError(f"{runs[0].file} is a TREC run; give the qrels that judge it as another file")
    if grades and not runs:
        raise UsageError("there are TREC qrels, but no run that they could judge; give runs as well")
    tags = Counter(system for one in runs for system in one.systems)
    wanted = [name for name in measures if is_measure(name)] if measures else MEASURES
    return [_valued(one, grades, tags=tags, measures=wanted) if one.found.rankings else one for one in readings]


def _valued(
    run: _Read, grades: Mapping[str, Mapping[str, float]], *, tags: Mapping[str, int], measures: Sequence[str]
) -> _Read:
    found, notes = run.found, run.notes
    if not run.name and len(run.systems) == 1 and tags[run.systems[0]] > 1:
        notes = (*notes, f"several runs have the tag '{run.systems[0]}', so this one is called '{run.default}'")
        found = _renamed(found, run.file, run.default)
    judged = judge_rankings(found.rankings, grades, measures=measures)
    return replace(run, found=replace(found, judgements=judged), notes=notes)


def _joined(readings: Sequence[_Read], cluster: str) -> Results:
    adopted, notes = _adopted(readings)
    _refuse_same(adopted)
    items: dict[Answered, list[Item]] = {}
    for one in adopted:
        for item in one.found.items:
            items.setdefault((item.system, item.id), []).append(item)
    in_order = {place: sorted(same, key=_by_fields) for place, same in sorted(items.items())}
    costs = {place: spent for one in adopted for place, spent in one.found.costs.items()}
    judgements = [judgement for one in adopted for judgement in one.found.judgements]
    return Results(
        items=tuple(same[0] for same in in_order.values()),
        copies=tuple(item for same in in_order.values() for item in same[1:]),
        judgements=tuple(sorted(judgements, key=_by_place)),
        sources=tuple(_source(one) for one in adopted),
        costs=dict(sorted(costs.items())),
        clusters=_clusters([one.found.clusters for one in adopted], cluster),
        notes=notes,
    )


def _by_fields(item: Item) -> tuple[str, tuple[str, ...], str, str]:
    return item.answer, item.contexts, item.question, item.reference or ""


def _by_place(one: Judgement) -> tuple[str, str, str, str, float, str]:
    return one.system, one.item_id, one.rubric, one.judge, -1e300 if one.value is None else one.value, one.reason


def _source(one: _Read) -> SourceFile:
    found = one.found
    return SourceFile(
        file=str(one.file),
        kind=found.kind,
        systems=one.systems,
        rows=found.rows,
        rejected=found.rejects,
        sha256=one.sha256,
        notes=(*found.notes, *one.notes),
    )


def _adopted(readings: Sequence[_Read]) -> tuple[list[_Read], tuple[str, ...]]:
    """Rows without an id get that of the one question which reads the same in another file."""
    ids: dict[str, set[str]] = {}
    for one in readings:
        for item in one.found.items:
            if item.id not in one.found.unnamed:
                ids.setdefault(_plain(item.question), set()).add(item.id)
    known = {question: min(found) for question, found in ids.items() if len(found) == 1}
    adopted = [_with_ids(one, known) for one in readings]
    taken = sum(len(one.found.unnamed & {q for q in one.found.unnamed if _plain(q) in known}) for one in readings)
    return adopted, (f"rows without an id were joined to an id of the same question: {taken}",) if taken else ()


def _with_ids(read: _Read, known: Mapping[str, str]) -> _Read:
    found = read.found
    ids = {question: known[_plain(question)] for question in found.unnamed if _plain(question) in known}
    if not ids:
        return read
    return replace(
        read,
        found=replace(
            found,
            items=tuple(replace(item, id=ids.get(item.id, item.id)) for item in found.items),
            judgements=tuple(replace(one, item_id=ids.get(one.item_id, one.item_id)) for one in found.judgements),
            costs={(system, ids.get(item, item)): spent for (system, item), spent in found.costs.items()},
            clusters={ids.get(item, item): groups for item, groups in found.clusters.items()},
        ),
    )


def _plain(question: str) -> str:
    return " ".join(question.split())


def _refuse_same(readings: Sequence[_Read]) -> None:
    """Two files that give most of the same answers, or values, to one system would only cancel each other."""
    held = [(one.file, _answers(one.found), _values(one.found)) for one in readings]
    for (file, answers, values), (other, their_answers, their_values) in combinations(held, 2):
        for mine, theirs in ((answers, their_answers), (values, their_values)):
            both = mine & theirs
            if both and 2 * len(both) > min(len(mine), len(theirs)):
                raise UsageError(
                    f"{file} and {other} both hold '{min(both)[0]}', with {len(both)} items in common. Name them "
                    f"apart, as in system1={file} system2={other}, or give one of them."
                )


def _answers(found: ResultFile) -> set[tuple[str, ...]]:
    return {(item.system, item.id) for item in found.items}


def _values(found: ResultFile) -> set[tuple[str, ...]]:
    return {(one.system, one.item_id, one.rubric, one.judge) for one in found.judgements}


def _clusters(found: Iterable[Mapping[str, frozenset[str]]], wanted: str) -> dict[str, str]:
    groups: dict[str, set[str]] = {}
    for one in found:
        for item, names in one.items():
            groups.setdefault(item, set()).update(names)
    split = sorted(item for item, names in groups.items() if len(names) > 1)
    if split:
        raise UsageError(
            f"{len(split)} items have two groups, as '{split[0]}' has {', '.join(sorted(groups[split[0]]))}; an item "
            "belongs to one"
        )
    if wanted and not groups:
        raise UsageError(f"no row has the field '{wanted}', which was to name the groups of the items")
    return {item: min(names) for item, names in sorted(groups.items())}
