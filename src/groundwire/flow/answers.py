"""Answers in the ledger, and the errors that end a run early with the answers so far."""

from __future__ import annotations

import json

from groundwire.core.answers import Answer, Failure, FailureKind
from groundwire.core.errors import BudgetReached, CannotDo, ModelBusy, ModelRefused, UnreadableInput
from groundwire.core.language import Request
from groundwire.flow.records import Recorded


def failure_from_text(text: str, *, where: str) -> Failure:
    """The failure that ``Failure.as_text`` wrote.

    Raises:
        UnreadableInput: it is not such a text.
    """
    try:
        content = json.loads(text)
        return Failure(FailureKind(content["kind"]), str(content["reason"]))
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableInput(f"a failure in {where} is not as groundwire wrote it ({error})") from error


def answer_from(request: Request, found: Recorded) -> Answer:
    """The answer that the ledger has."""
    return Answer(request, found.reply, seconds=found.seconds, recorded=True)


class RunRefused(ModelRefused):
    """The model refused a call for good, and the run ended; ``answers`` has what there is, in order of the requests."""

    def __init__(self, message: str, *, status: int, answers: tuple[Answer, ...]) -> None:
        super().__init__(message, status=status)
        self.answers = answers


class RunOverBudget(BudgetReached):
    """The next call might exceed the budget, and the run ended; ``answers`` as in ``RunRefused``."""

    def __init__(self, message: str, *, answers: tuple[Answer, ...]) -> None:
        super().__init__(message)
        self.answers = answers


class RunGaveUp(ModelBusy):
    """The model kept failing, or the deadline came, and the run ended; ``answers`` as in ``RunRefused``."""

    def __init__(self, message: str, *, answers: tuple[Answer, ...]) -> None:
        super().__init__(message)
        self.answers = answers


class ReplayLacks(CannotDo):
    """A replay asks for replies that its run did not use; ``answers`` as in ``RunRefused``."""

    def __init__(self, message: str, *, answers: tuple[Answer, ...]) -> None:
        super().__init__(message)
        self.answers = answers


def ended(stop: BaseException, *, answers: tuple[Answer, ...]) -> BaseException:
    """What to raise for what ended a run: the same kind of error, with the answers so far where it has a place."""
    replied = sum(answer.reply is not None for answer in answers)
    kept = f"{stop}. {replied} of {len(answers)} requests are answered and kept: the same command goes on from there"
    if isinstance(stop, ModelRefused):
        return RunRefused(kept, status=stop.status, answers=answers)
    if isinstance(stop, BudgetReached):
        return RunOverBudget(kept, answers=answers)
    if isinstance(stop, ModelBusy):
        return RunGaveUp(kept, answers=answers)
    return stop
