"""How many sources of an article are independent: versions of one story count once, and differing numbers are named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import islice

from groundwire.core.types import Article, Claim, Document
from groundwire.flow.render import Json
from groundwire.flow.wording import Words
from groundwire.retrieval.copies import Cluster, Copies, Difference, find_copies

MOST_COMPARED = 200
"""So many sources of an article are compared, the cited and the best first: a second or two."""
_MOST_NAMED = 20
"""So many differing numbers are named in the notes; JSON has all."""


@dataclass(frozen=True, slots=True)
class Independence:
    """Which of the sources of an article, cited or kept beside them, are versions of one story.

    ``numbers`` are those of the cited sources, by document id; ``names`` say what each compared document is;
    ``left_out`` counts kept sources that were not compared. A source that is not at hand is taken to be independent.
    """

    copies: Copies
    numbers: Mapping[str, int]
    names: Mapping[str, str]
    left_out: int = 0

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """Several versions of one story, one of them cited at least."""
        return tuple(
            cluster
            for cluster in self.copies.clusters
            if len(cluster.document_ids) > 1 and self.numbers.keys() & set(cluster.document_ids)
        )

    @property
    def independent(self) -> int:
        """How many cited sources are left when versions of one story count once."""
        return self.count(self.numbers)

    def count(self, document_ids: Iterable[str]) -> int:
        """How many of these documents are left when versions of one story count once."""
        story = {name: cluster.document_ids[0] for cluster in self.clusters for name in cluster.document_ids}
        return len({story.get(name, name) for name in document_ids})

    def label(self, document_id: str) -> str:
        """The number of a source, where it is cited, and what it is."""
        number = self.numbers.get(document_id)
        name = self.names.get(document_id, document_id)
        return name if number is None else f"[{number}] {name}"


def find_independence(article: Article, documents: Mapping[str, Document]) -> Independence:
    """Compare the sources of an article with each other, and with those that were kept but are not cited.

    Args:
        article: whose list of sources is counted.
        documents: by id, the best first; at most ``MOST_COMPARED`` of them are compared, the cited ones before others.
    """
    numbers = {source.document_id: source.number for source in article.sources}
    order = sorted(documents, key=lambda name: name not in numbers)
    compared = {name: documents[name] for name in order[:MOST_COMPARED]}
    names = {name: _named(document) for name, document in compared.items()}
    return Independence(find_copies(compared), numbers, names, len(order) - len(compared))


def _named(document: Document) -> str:
    day = document.published.isoformat() if document.published else ""
    return " · ".join(part for part in (document.title or document.id, document.source, day) if part)


def notes_on(found: Independence, words: Words) -> tuple[str, ...]:
    """What an editor should know before counting sources, a line each, in the words given."""
    lines = [
        words["versions"] + words["colon"] + words["semicolon"].join(map(found.label, cluster.document_ids))
        for cluster in found.clusters
    ]
    differences = [one for cluster in found.clusters for one in cluster.differences]
    lines += [
        words["colon"].join((found.label(one.document_id), difference_in_words(one, words), one.text))
        for one in differences[:_MOST_NAMED]
    ]
    if len(differences) > _MOST_NAMED:
        lines.append(words["more_differences"].format(n=len(differences) - _MOST_NAMED))
    if found.left_out:
        lines.append(words["not_compared"].format(n=found.left_out))
    return tuple(lines)


def difference_in_words(one: Difference, words: Words) -> str:
    """Both numbers, and how many versions have the other."""
    comma = words["comma"]
    return words["stands_out"].format(numbers=comma.join(one.numbers), others=comma.join(one.others), n=one.shared_by)


def source_remarks(found: Independence, document_id: str, *, words: Words) -> tuple[str, ...]:
    """For the list of sources: of which other cited ones a source is a version, and where its numbers differ."""
    for cluster in found.clusters:
        if document_id in cluster.document_ids:
            others = sorted(found.numbers[name] for name in cluster.document_ids if name in found.numbers)
            listed = "".join(f"[{number}]" for number in others if number != found.numbers.get(document_id))
            same = (words["version_of"].format(list=listed),) if listed else ()
            mine = [one for one in cluster.differences if one.document_id == document_id]
            return (*same, *(difference_in_words(one, words) for one in islice(mine, _MOST_NAMED)))
    return ()


def claim_remark(found: Independence, claim: Claim, *, words: Words) -> str:
    """How many of the sources that a claim cites are independent; nothing where all are."""
    cited = {citation.document_id for citation in claim.citations}
    independent = found.count(cited)
    return words["claim_versions"].format(n=len(cited), k=independent) if independent < len(cited) else ""


def independence_row(found: Independence, article: Article) -> Json:
    """For the JSON export: counts of the article and of each claim with several sources, stories and differences."""
    several = [(claim.id, {one.document_id for one in claim.citations}) for claim in article.claims]
    return {
        "sources": len(found.numbers),
        "independent": found.independent,
        "compared": len(found.names),
        "not_compared": found.left_out,
        "stories": [
            {
                "documents": list(cluster.document_ids),
                "numbers": sorted(found.numbers[name] for name in cluster.document_ids if name in found.numbers),
                "differences": [{**asdict(one), "number": found.numbers.get(one.document_id)} for one in differing],
            }
            for cluster, differing in ((cluster, cluster.differences) for cluster in found.clusters)
        ],
        "claims": [
            {"id": name, "sources": len(cited), "independent": found.count(cited)}
            for name, cited in several
            if len(cited) > 1
        ],
    }
