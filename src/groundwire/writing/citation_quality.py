"""How well an article cites: recall, precision by leaving one citation out, and the share of claims that cite.

By the verdicts of the gates, or those given. A claim is recalled when all its citations together carry it
(``supported``). A citation of such a claim is precise when it carries the claim alone, or when the others do not carry
it without it; the citations of any other claim are not precise.

Source:
    ALCE (arXiv:2305.14627), §3; there a trained model decides whether a passage carries a claim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from groundwire.core.findings import CitationQuality
from groundwire.core.types import Article, Citation, Claim, Document, Verdict
from groundwire.writing.guards import FOREIGN
from groundwire.writing.model_check import is_remark
from groundwire.writing.verify import verify


def is_undecided(verdict: Verdict) -> bool:
    """Whether nothing speaks against a claim and its wording is neither there nor absent: gates cannot tell more.

    A model that was asked and gave no readable verdict leaves a claim undecided as well.
    """
    failed = [check for check in verdict.checks if not check.passed and not is_remark(check)]
    if any(check.reason.startswith("undecided: ") for check in failed):
        return True
    if verdict.judged_by != "gates" or not failed or any(check.kind != "wording" for check in failed):
        return False
    return verdict.support == "partly" or any(check.reason.startswith(FOREIGN) for check in failed)


def citation_quality(
    article: Article, documents: Mapping[str, Document], *, verdicts: Sequence[Verdict] | None = None
) -> CitationQuality:
    """Recall, precision and share cited of an article.

    Args:
        article: as written; a claim that says nothing (``background``) counts nowhere.
        documents: the cited documents by id.
        verdicts: one a claim of the article, in order; None: those of the gates.

    Raises:
        ValueError: there is another number of verdicts than of claims.
    """
    found = tuple(verify(article, documents, written=article.as_of)) if verdicts is None else tuple(verdicts)
    claiming = [
        (claim, verdict)
        for claim, verdict in zip(article.claims, found, strict=True)
        if verdict.support != "background"
    ]
    decided = [(claim, verdict) for claim, verdict in claiming if not is_undecided(verdict)]
    precise, judged = _precision(decided, article, documents=documents)
    open_claims = [claim for claim, verdict in claiming if is_undecided(verdict)]
    citations = sum(len(_distinct(claim)) for claim, _ in claiming)
    return CitationQuality(
        recall=_share(sum(v.support == "supported" and bool(c.citations) for c, v in decided), len(decided)),
        precision=_share(precise, judged),
        cited=_share(sum(bool(claim.citations) for claim, _ in claiming), len(claiming)),
        claims=len(claiming),
        citations=citations,
        undecided=len(open_claims) + citations - judged,
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _distinct(claim: Claim) -> tuple[Citation, ...]:
    return tuple(dict.fromkeys(claim.citations))


def _precision(
    decided: Sequence[tuple[Claim, Verdict]], article: Article, *, documents: Mapping[str, Document]
) -> tuple[int, int]:
    """How many citations are precise, and of how many that could be told."""
    judged = sum(len(_distinct(claim)) for claim, verdict in decided if verdict.support != "supported")
    precise = 0
    several: list[tuple[Claim, Claim]] = []
    for claim, verdict in decided:
        cited = _distinct(claim) if verdict.support == "supported" else ()
        if len(cited) == 1:
            precise, judged = precise + 1, judged + 1
        elif cited:
            several += [
                (
                    replace(claim, citations=(one,)),
                    replace(claim, citations=tuple(other for other in cited if other != one)),
                )
                for one in cited
            ]
    tried = [claim for pair in several for claim in pair]
    trial = replace(article, headline=Claim("", ""), lede=tuple(tried), sections=())
    outcomes = verify(trial, documents, written=article.as_of)[1:]
    for alone, rest in zip(outcomes[::2], outcomes[1::2], strict=True):
        told = _is_precise(alone, rest)
        judged += told is not None
        precise += told is True
    return precise, judged


def _is_precise(alone: Verdict, rest: Verdict) -> bool | None:
    """Whether a citation counts, from the verdicts on its claim with it alone and without it; None: undecided."""
    if alone.support == "supported":
        return True
    if rest.support != "supported":
        return None if is_undecided(rest) else True
    return None if is_undecided(alone) else False
