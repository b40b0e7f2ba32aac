"""The scripted model does what its script says; the check finds every broken promise."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from operator import attrgetter

import pytest

from groundwire.core.errors import ModelBusy, ModelRefused, UsageError
from groundwire.core.language import Capabilities, Message, Reply, ReplyToken, Request, TokenChoice, Usage
from groundwire.core.text import count_tokens
from groundwire.testing.models import EVERYTHING, ScriptedModel, check_language_model

ASKED = Request((Message("user", "Is water wet?"),), 20)


def said(model: ScriptedModel, request: Request = ASKED) -> str:
    return model.reply(request, timeout_seconds=1).text


def test_answers_of_a_list_come_in_the_order_of_the_calls() -> None:
    model = ScriptedModel(["one", "two"])

    assert [said(model), said(model)] == ["one", "two"]
    with pytest.raises(AssertionError, match="the script has 2 answers, this is call 3"):
        said(model)


def test_an_answer_is_found_by_a_text_that_the_request_holds() -> None:
    model = ScriptedModel({"wet": "yes", "dry": "no"})

    assert said(model) == "yes"
    for text, fitting in (("cold", 0), ("wet or dry", 2)):
        with pytest.raises(AssertionError, match=f"{fitting} keys of the script fit"):
            said(model, replace(ASKED, messages=(Message("user", text),)))


def test_an_answer_is_made_by_a_function_of_the_request() -> None:
    model = ScriptedModel(lambda request: str(request.reading))

    assert said(model, replace(ASKED, reading=2)) == "2"


def test_every_request_is_kept() -> None:
    model = ScriptedModel(["one", ModelBusy("wait")])
    said(model)
    with pytest.raises(ModelBusy):
        said(model, replace(ASKED, reading=1))
    with pytest.raises(UsageError):
        said(model, replace(ASKED, max_tokens=0))

    assert [request.reading for request in model.requests] == [0, 1, 0]


@pytest.mark.parametrize("fault", [ModelBusy("wait", retry_after=2.0), ModelRefused("no", status=401)])
def test_a_fault_of_the_script_is_raised_as_it_is(fault: ModelBusy | ModelRefused) -> None:
    with pytest.raises(type(fault)) as caught:
        said(ScriptedModel([fault]))

    assert caught.value is fault


def test_a_whole_reply_comes_as_it_is() -> None:
    reply = Reply("yes", "refused", Usage(1, 2, 3, estimated=True), (ReplyToken("yes", -1.0),), "hm", "other")

    assert ScriptedModel([reply]).reply(ASKED, timeout_seconds=1) is reply


def test_a_reply_counts_its_tokens_and_names_its_model() -> None:
    reply = ScriptedModel(["wet, yes"], name="small").reply(ASKED, timeout_seconds=1)

    assert reply.usage == Usage(count_tokens("Is water wet?"), count_tokens("wet, yes"))
    assert (reply.model, reply.finish, reply.tokens) == ("scripted:small", "stop", ())


@pytest.mark.parametrize("most", [1, 2, 5, 30])
def test_a_text_beyond_max_tokens_is_cut_and_said_so(most: int) -> None:
    whole = "Water is wet, and it has been wet for as long as anybody can remember. 水是濕的。"

    reply = ScriptedModel([whole]).reply(replace(ASKED, max_tokens=most), timeout_seconds=1)

    assert whole.startswith(reply.text)
    assert reply.usage.output_tokens <= most
    assert (reply.finish == "stop") is (reply.text == whole)
    assert reply.text == whole or count_tokens(whole[: len(reply.text) + 1]) > most


@pytest.mark.parametrize("streaming", [True, False])
def test_pieces_are_told_where_it_streams(*, streaming: bool) -> None:
    pieces: list[str] = []
    model = ScriptedModel([" it is  wet\n"], capabilities=replace(EVERYTHING, streaming=streaming))

    model.reply(ASKED, timeout_seconds=1, on_text=pieces.append)

    assert pieces == ([" it", " is", "  wet", "\n"] if streaming else [" it is  wet\n"])


def test_a_scripted_text_is_sure_of_its_tokens() -> None:
    reply = ScriptedModel(["it is"]).reply(replace(ASKED, top_logprobs=5), timeout_seconds=1)

    assert reply.tokens == tuple(ReplyToken(text, 0.0, (TokenChoice(text, 0.0),)) for text in ("it", " is"))


def test_given_texts_have_the_likelihoods_of_the_script() -> None:
    asked = replace(ASKED, given="it is")
    model = ScriptedModel([], likelihoods=lambda request: [(request.given, -2.5)])

    assert model.reply(asked, timeout_seconds=1).tokens == (ReplyToken("it is", -2.5),)
    even = ScriptedModel([]).reply(asked, timeout_seconds=1)
    assert even.tokens == (ReplyToken("it", -1.0), ReplyToken(" is", -1.0))


@pytest.mark.parametrize(
    ("request_", "seconds"),
    [
        (replace(ASKED, top_logprobs=21), 1),
        (replace(ASKED, messages=()), 1),
        (replace(ASKED, max_tokens=0), 1),
        (ASKED, 0),
    ],
)
def test_what_it_cannot_do_is_refused(request_: Request, seconds: float) -> None:
    with pytest.raises(UsageError):
        ScriptedModel(["x"]).reply(request_, timeout_seconds=seconds)


def test_likelihoods_are_refused_where_they_are_not_offered() -> None:
    model = ScriptedModel([], capabilities=replace(EVERYTHING, likelihood=False))

    with pytest.raises(UsageError, match="does not give the likelihood"):
        said(model, replace(ASKED, given="x"))


# The check


def obliging(request: Request) -> str:
    if request.schema:
        return '{"answer": "yes"}'
    return "one two three four five six seven" if "Count" in request.messages[-1].text else "yes"


@pytest.mark.parametrize(
    "capabilities", [EVERYTHING, Capabilities(), Capabilities(logprobs=1, schema=True), Capabilities(likelihood=True)]
)
def test_the_scripted_model_keeps_the_promises(capabilities: Capabilities) -> None:
    check_language_model(ScriptedModel(obliging, capabilities=capabilities))


Change = Callable[[Request, Reply], Reply]


@dataclass
class Bent:
    """The scripted model with one promise broken."""

    id: str = "bent:model"
    can: Capabilities = EVERYTHING
    claims: list[Capabilities] = field(default_factory=list)
    change: Change = lambda _, reply: reply
    wrong_pieces: bool = False
    refuses: bool = True
    more: int = 0

    def capabilities(self) -> Capabilities:
        return self.claims.pop() if self.claims else self.can

    def reply(self, request: Request, *, timeout_seconds: float, on_text: Callable[[str], None] | None = None) -> Reply:
        can = self.can if self.refuses else replace(EVERYTHING, logprobs=self.can.logprobs + self.more)
        told = (lambda _: None) if self.wrong_pieces else on_text
        reply = ScriptedModel(obliging, capabilities=can).reply(request, timeout_seconds=timeout_seconds, on_text=told)
        return self.change(request, reply)


def when(condition: Callable[[Request], object], **changed: object) -> Change:
    return lambda request, reply: replace(reply, **changed) if condition(request) else reply  # type: ignore[arg-type]


LOGPROBS = attrgetter("top_logprobs")
SHARES = (TokenChoice("yes", -0.1), TokenChoice("no", -0.1))
SHIFTING = iter(range(1, 1000))
BROKEN: dict[str, tuple[Bent, str]] = {
    "no id": (Bent(id=""), "an id is"),
    "no kind": (Bent(id="model"), "an id is"),
    "changing capabilities": (
        Bent(claims=[Capabilities(), EVERYTHING, EVERYTHING]), "capabilities must not change",
    ),
    "negative logprobs": (Bent(can=Capabilities(logprobs=-1)), "logprobs counts"),
    "no context": (Bent(can=Capabilities(context_tokens=0)), "context_tokens must be"),
    "no text": (Bent(change=when(lambda _: True, text=None)), "text must be a string"),
    "odd finish": (Bent(change=when(lambda _: True, finish="eos")), "finish must be one of"),
    "odd usage": (Bent(change=when(lambda _: True, usage=Usage(-1, 2))), "usage must be counts"),
    "no usage": (Bent(change=when(lambda _: True, usage=Usage(0, 0))), "count the tokens that were read"),
    "empty": (Bent(change=when(lambda _: True, text=" ")), "must be answered"),
    "tokens unasked": (Bent(change=when(lambda _: True, tokens=(ReplyToken("x", -1),))), "but tokens came"),
    "other pieces": (Bent(wrong_pieces=True), "is not the reply"),
    "end unsaid": (Bent(change=when(lambda request: request.max_tokens == 4, finish="stop")), "end with 'length'"),
    "too long": (Bent(change=when(lambda request: request.max_tokens == 4, usage=Usage(9, 9))), "9 were written"),
    "no system": (
        Bent(change=when(lambda request: request.messages[0].speaker == "system", text="")), "a system's turn",
    ),
    "no JSON": (Bent(change=when(lambda request: request.schema, text="yes")), "must follow its schema"),
    "other JSON": (
        Bent(change=when(lambda request: request.schema, text='{"answer": "perhaps"}')), "must follow its schema",
    ),
    "too many alternatives": (Bent(can=Capabilities(), refuses=False, more=1), "1 alternatives must raise UsageError"),
    "no tokens": (Bent(change=when(LOGPROBS, tokens=())), "no token came"),
    "above 0": (Bent(change=when(LOGPROBS, tokens=(ReplyToken("yes", 0.5),))), "above 0"),
    "more than asked": (
        Bent(change=when(LOGPROBS, tokens=(ReplyToken("yes", -1, SHARES * 2),))), "3 alternatives were asked for",
    ),
    "more than all": (Bent(change=when(LOGPROBS, tokens=(ReplyToken("yes", -1, SHARES),))), "add up to"),
    "other tokens": (Bent(change=when(LOGPROBS, tokens=(ReplyToken("no", -1),))), "do not hold the text"),
    "likelihood unclaimed": (
        Bent(can=Capabilities(logprobs=20), refuses=False), "the likelihood of a given text must raise UsageError",
    ),
    "other text": (Bent(change=when(lambda request: request.given, text="no")), "must come back as it is"),
    "tokens of another": (
        Bent(change=when(lambda request: request.given, tokens=(ReplyToken("no", -1),))), "must join to it",
    ),
    "certain": (
        Bent(change=when(lambda request: request.given, tokens=(ReplyToken("yes, it is", 0.0),))), "must be below 0",
    ),
    "shifting": (
        Bent(
            change=lambda request, reply: replace(reply, tokens=(ReplyToken(reply.text, -float(next(SHIFTING))),))
            if request.given
            else reply
        ),
        "was as likely as",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_the_check_finds_a_broken_promise(case: str) -> None:
    model, complaint = BROKEN[case]

    with pytest.raises(AssertionError, match=complaint):
        check_language_model(model)


def test_the_model_that_the_broken_ones_were_made_from_is_whole() -> None:
    check_language_model(Bent())


def test_a_model_that_cannot_hurry_is_busy_which_is_allowed() -> None:
    class Hurried(Bent):
        def reply(
            self, request: Request, *, timeout_seconds: float, on_text: Callable[[str], None] | None = None
        ) -> Reply:
            if timeout_seconds < 1:
                raise ModelBusy("no time")
            return Bent.reply(self, request, timeout_seconds=timeout_seconds, on_text=on_text)

    check_language_model(Hurried())
