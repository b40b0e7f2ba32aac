import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stub_server as stub
from groundwire.backends import remote_replies as replies
from groundwire.core.errors import ModelBusy
from groundwire.core.language import Message, ReplyToken, Request, TokenChoice, Usage
from groundwire.core.text import count_tokens

ASKED = Request((Message("user", "Is water wet?"),), 20, top_logprobs=2)


@pytest.mark.parametrize(
    ("text", "visible", "thinking"),
    [
        ("85", "85", ""),
        (" 85\n", " 85\n", ""),
        ("<think>maybe 40</think>85", "85", "maybe 40"),
        ("\n<think>\nmaybe\n40\n</think>\n\n85", "85", "maybe\n40"),
        ("<think></think>\n\n85", "85", ""),
        ("<THINK>a</THINK>85", "85", "a"),
        ("<thinking>a</thinking><thought>b</thought>85", "85", "a\nb"),
        ("<reasoning>a</reasoning>85", "85", "a"),
        ("it is <think>a</think>85", "it is 85", "a"),
        ("maybe 40</think>85", "85", "maybe 40"),
        ("maybe</think>x<think>40</think>85", "x85", "maybe\n40"),
        ("<think>cut in the mid", "", "cut in the mid"),
        ("85 <think>cut", "85 ", "cut"),
        ("a < b and <thin> is no tag", "a < b and <thin> is no tag", ""),
        ("", "", ""),
    ],
)
def test_thinking_is_taken_out_of_the_text(text: str, visible: str, thinking: str) -> None:
    assert replies.split_thinking(text) == (visible, thinking)


@given(st.text())
def test_a_text_without_tags_stays_as_it_is(text: str) -> None:
    if "<" not in text:
        assert replies.split_thinking(text) == (text, "")


BLOCKS = ("<think>one\n</think>", "<thought></thought>\n", "<THINKING>a < b</THINKING>")
PARTS = st.lists(st.sampled_from([*BLOCKS, "<", "<thi", "nk", "a", " ", "\n", "<b>", "85"]))
ENDS = st.sampled_from(["", "<think>cut", "<reasoning>", "<thin", "<"])


@given(PARTS, ENDS, st.data())
def test_what_is_told_of_a_stream_is_its_text_however_it_is_cut(
    parts: list[str], end: str, data: st.DataObject
) -> None:
    text = "".join(parts) + end
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    told: list[str] = []
    assembly = replies.Assembly(told.append)
    for chunk in stub.chunks([text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]):
        assembly.add(chunk)

    reply = replies.reply_of(assembly.body(), ASKED)

    assert (reply.text, reply.thinking) == replies.split_thinking(text)
    assert "".join(told) == reply.text


def test_thoughts_come_from_every_field_that_servers_use_once() -> None:
    message = {"reasoning_content": "one", "reasoning": "one"}
    body = stub.completion("<think>two</think>85", message=message)

    assert replies.reply_of(body, ASKED).thinking == "one\ntwo"


def test_content_in_parts_is_read() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "8"},
        {"text": "5"},
        {"type": "image_url", "image_url": {}},
        "stray",
    ]

    reply = replies.reply_of(stub.completion(None, message={"content": parts}), ASKED)

    assert (reply.text, reply.thinking) == ("85", "hm")


@pytest.mark.parametrize(
    ("given_", "wanted"),
    [
        ("stop", "stop"), ("eos", "stop"), ("end_turn", "stop"), ("length", "length"), ("max_tokens", "length"),
        ("content_filter", "refused"), ("tool_calls", "other"), ("error", "other"), (None, "other"),
    ],
)  # fmt: skip
def test_the_end_is_put_into_our_words(given_: str | None, wanted: str) -> None:
    assert replies.reply_of(stub.completion("x", finish=given_), ASKED).finish == wanted


@pytest.mark.parametrize(
    ("usage", "wanted"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 2}, Usage(5, 2)),
        (
            {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}},
            Usage(5, 2, cached_tokens=4),
        ),
        (
            {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": None}},
            Usage(5, 2),
        ),
        ({"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": None}, Usage(5, 2)),
    ],
)
def test_usage_is_what_the_server_counted(usage: object, wanted: Usage) -> None:
    assert replies.reply_of({**stub.completion(), "usage": usage}, ASKED).usage == wanted


@pytest.mark.parametrize(
    "usage",
    [None, {}, "many", {"prompt_tokens": 5}, {"prompt_tokens": -5, "completion_tokens": 2},
     {"prompt_tokens": True, "completion_tokens": 2}, {"prompt_tokens": "5", "completion_tokens": 2}],
)  # fmt: skip
def test_usage_that_is_missing_or_unreadable_is_estimated_and_said_so(usage: object) -> None:
    found = replies.reply_of({**stub.completion("wet"), "usage": usage}, ASKED).usage

    assert found.estimated
    assert found.input_tokens > 0
    assert found.output_tokens > 0


def token(value: object, **more: object) -> dict[str, object]:
    return {"token": "8", "logprob": value, "bytes": None, "top_logprobs": [], **more}


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ([token(-0.5)], (ReplyToken("8", -0.5),)),
        ([token(0)], (ReplyToken("8", 0.0),)),
        ([token(1e-7)], (ReplyToken("8", 0.0),)),
        ([token(-math.inf)], (ReplyToken("8", -math.inf),)),
        ([token(-1, top_logprobs=[token(-1), token(None), token(-2)])],
         (ReplyToken("8", -1.0, (TokenChoice("8", -1.0), TokenChoice("8", -2.0))),)),
        ([token(-1, top_logprobs=None)], (ReplyToken("8", -1.0),)),
        ([token(-1), token(None)], ()),
        ([token(math.nan)], ()),
        ([token(True)], ()),
        ([token("-1")], ()),
        (["8"], ()),
        (None, ()),
    ],
)  # fmt: skip
def test_tokens_are_read_whole_or_not_at_all(content: object, wanted: tuple[ReplyToken, ...]) -> None:
    body = stub.completion("8")
    body["choices"][0]["logprobs"] = {"content": content}

    assert replies.reply_of(body, ASKED).tokens == wanted


def test_tokens_that_nobody_asked_for_are_left() -> None:
    body = json.loads(stub.ok_with_logprobs([("8", -0.1, [])]).body)

    assert replies.reply_of(body, Request(ASKED.messages, 5)).tokens == ()


def test_log_probabilities_of_a_stream_are_joined() -> None:
    chunks = stub.chunks(["8", "5"])
    for chunk, text in zip(chunks[1:3], "85", strict=True):
        chunk["choices"][0]["logprobs"] = {"content": [{**token(-0.5), "token": text}]}
    assembly = replies.Assembly(lambda _: None)
    for chunk in chunks:
        assembly.add(chunk)

    found = replies.reply_of(assembly.body(), ASKED)

    assert found.tokens == (ReplyToken("8", -0.5), ReplyToken("5", -0.5))


def assembled(chunks: list[dict[str, object]]) -> tuple[str, str]:
    assembly = replies.Assembly(lambda _: None)
    for chunk in chunks:
        assembly.add(chunk)
    reply = replies.reply_of(assembly.body(), ASKED)
    return reply.text, reply.thinking


def test_a_stream_of_thoughts_and_text_is_put_apart() -> None:
    chunks = stub.chunks(["hm", "m", "85"])
    for chunk in chunks[1:3]:
        delta = chunk["choices"][0]["delta"]
        delta["reasoning_content"] = delta.pop("content")

    assert assembled(chunks) == ("85", "hmm")


def test_only_the_first_choice_of_a_stream_is_read() -> None:
    chunks = stub.chunks(["8", "5"])
    chunks[2]["choices"][0]["index"] = 1

    assert assembled(chunks) == ("8", "")


def test_a_stream_that_is_split_finer_than_tokens_is_no_repetition() -> None:
    chunks = stub.chunks(list("haha haa"))
    chunks[-1]["usage"]["completion_tokens"] = 2  # type: ignore[index]

    assert assembled(chunks) == ("haha haa", "")


def test_a_stream_without_usage_and_without_names_is_read() -> None:
    chunks = [{**chunk, "id": None, "model": None} for chunk in stub.chunks(["1", "0", "0"], usage=False)]

    assert assembled(chunks) == ("100", "")


def test_a_refusal_in_a_stream_is_refused() -> None:
    chunks = stub.chunks(["I cannot."])
    delta = chunks[1]["choices"][0]["delta"]
    delta["refusal"] = delta.pop("content")
    assembly = replies.Assembly(lambda _: None)
    for chunk in chunks:
        assembly.add(chunk)

    reply = replies.reply_of(assembly.body(), ASKED)

    assert (reply.text, reply.finish) == ("I cannot.", "refused")


EVENTS = [
    (b"data: a\n\ndata: b\n\n", ["a", "b"]),
    (b"data:a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
    (b": hello\n\nevent: message\nretry: 5\ndata: a\ndata: b\n\n\n", ["a\nb"]),
    (b"id: 1\ndata: a\n\nid: 1\ndata: a\n\nid: 2\ndata: a\n\ndata: a\n\n", ["a", "a", "a"]),
    (b"data: unfinished", ["unfinished"]),
    ("data: a\u2028b\u0085c\n\n".encode(), ["a\u2028b\u0085c"]),
    (b"data: \xe6\x98\xaf\n\n", ["是"]),
    (b"", []),
]


@pytest.mark.parametrize(("sent", "wanted"), EVENTS)
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_events_are_read_however_the_bytes_are_cut(sent: bytes, wanted: list[str], size: int) -> None:
    parts = [sent[start : start + size] for start in range(0, len(sent), size)]

    assert list(replies.events(parts)) == wanted


@pytest.mark.parametrize("body", [{}, {"choices": None}, {"choices": [None]}, {"choices": [{"message": None}]}])
def test_a_body_without_a_reply_is_busy(body: dict[str, object]) -> None:
    with pytest.raises(ModelBusy, match="holds no"):
        replies.reply_of(body, ASKED)


@pytest.mark.parametrize(
    ("came", "wanted"),
    [
        ("", None),
        ('{"choices": [{"message": {"content": "one two thr', Usage(0, 3, estimated=True)),
        ('{"choices": [{"message": {"content": "水災\\u6c34\\u', Usage(0, 3, estimated=True)),
        ('{"choices": [{"message": {"content": "a \\"quoted\\" b\\', Usage(0, 5, estimated=True)),
        ('{"usage": {"prompt_tokens": 7, "completion_tokens": 3}, "choices": [{"mess', Usage(7, 3)),
        (
            '{"usage": {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 5}},',
            Usage(7, 3, 5),
        ),
        ('{"usage": {"prompt_tokens": 7, "completi', Usage(0, 0, estimated=True)),
        ('{"usage": {"prompt_tokens": null}, "message": {"content": "a b"', Usage(0, 2, estimated=True)),
        ('{"usage": ' + '{"a":' * 100_000, Usage(0, 0, estimated=True)),
        (
            'data: {"choices": [{"delta": {"content": "one"}}]}\n\ndata: {"reasoning_content": " two"}\n\ndata:',
            Usage(0, 2, estimated=True),
        ),
        ("<html>Bad gateway</html>", Usage(0, 0, estimated=True)),
    ],
)
def test_what_a_broken_answer_took_is_counted_or_estimated(came: str, wanted: Usage | None) -> None:
    assert replies.usage_so_far(came) == wanted


@given(st.text(), st.integers(0, 400))
def test_an_answer_may_be_cut_anywhere(text: str, at: int) -> None:
    whole = json.dumps({"choices": [{"message": {"content": text}}]})

    found = replies.usage_so_far(whole[:at])

    assert found is None or (found.estimated and found.output_tokens <= count_tokens(text) + 1)
