"""Models and time that a test is the master of."""

import heapq
from collections.abc import Callable, Sequence

from groundwire.core.errors import ModelBusy
from groundwire.core.language import Capabilities, Message, Reply, Request, Usage
from groundwire.flow.traffic import Call

Outcome = str | Reply | BaseException


def request(text: str = "Is it so?", *, max_tokens: int = 10, reading: int = 0, purpose: str = "rating") -> Request:
    return Request((Message("user", text),), max_tokens, reading=reading, purpose=purpose)


def requests(count: int) -> tuple[Request, ...]:
    return tuple(request(f"question {number}") for number in range(count))


def reply(text: str, *, tokens: tuple[int, int] = (7, 3)) -> Reply:
    return Reply(text, "stop", Usage(*tokens), model="fake")


def busy(reason: str = "503", *, retry_after: float | None = None) -> ModelBusy:
    return ModelBusy(reason, retry_after=retry_after)


class Simulated:
    """Calls that take virtual seconds; nothing sleeps, and everything happens in one order."""

    def __init__(self) -> None:
        self.time = 0.0
        self.took = 0.01
        self.in_flight = 0
        self.most_in_flight = 0
        self.interrupt_at: list[int] = []
        self._events: list[tuple[float, int, Call]] = []
        self._count = 0
        self._waits = 0

    def now(self) -> float:
        return self.time

    def start(self, work: Callable[[], Call]) -> None:
        self.took = 0.01
        call = work()
        self._count += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        heapq.heappush(self._events, (self.time + self.took, self._count, call))

    def wait(self, seconds: float) -> Call | None:
        self._waits += 1
        assert self._waits < 20_000, "nothing goes on"
        if self._waits in self.interrupt_at:
            raise KeyboardInterrupt
        if self._events and self._events[0][0] <= self.time + seconds:
            at, _, call = heapq.heappop(self._events)
            self.time = max(self.time, at)
            self.in_flight -= 1
            return call
        self.time += seconds
        return None


class Fake:
    """A model that answers with the last word of the question, or as its script says, attempt by attempt."""

    def __init__(
        self,
        world: Simulated | None = None,
        *,
        script: dict[str, Sequence[Outcome]] | None = None,
        seconds: Callable[[Request], float] = lambda _: 0.01,
        context: int | None = None,
        name: str = "fake:one",
    ) -> None:
        self.id = name
        self.calls: list[tuple[float, Request, float]] = []
        self._world = world
        self._script = {text: list(outcomes) for text, outcomes in (script or {}).items()}
        self._seconds = seconds
        self._context = context

    def capabilities(self) -> Capabilities:
        return Capabilities(context_tokens=self._context)

    def reply(self, asked: Request, *, timeout_seconds: float, on_text: Callable[[str], None] | None = None) -> Reply:
        assert on_text is None
        self.calls.append((self._world.time if self._world else 0.0, asked, timeout_seconds))
        if self._world:
            self._world.took = self._seconds(asked)
        text = asked.messages[-1].text
        steps = self._script.get(text) or self._script.get("*") or [text.split()[-1]]
        outcome = steps.pop(0) if len(steps) > 1 or text in self._script else steps[0]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome if isinstance(outcome, Reply) else reply(outcome)
