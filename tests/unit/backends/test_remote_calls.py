import pytest

from groundwire.backends.remote_calls import Caller, Manner, body_of, once
from groundwire.backends.remote_profile import Profile
from groundwire.core.errors import ModelBusy, UsageError
from groundwire.core.language import Message, Request

PROFILE = Profile("http://localhost:8000/v1", "m")
SCHEMA = '{"type": "object"}'
OBJECT = Manner(schema="object")
PROMPT = Manner(schema="prompt", system=False)
FOLLOW = f"Reply with one JSON object and nothing else. It must follow this JSON Schema:\n{SCHEMA}"


def contents(messages: tuple[Message, ...], manner: Manner, *, schema: str = "") -> list[tuple[str, str]]:
    body = body_of(Request(messages, 5, schema=schema), PROFILE, manner=manner)
    return [(one["role"], one["content"]) for one in body["messages"]]  # type: ignore[attr-defined]


SYSTEM, USER, SAID = Message("system", "S"), Message("user", "U"), Message("assistant", "A")


@pytest.mark.parametrize(
    ("messages", "manner", "schema", "wanted"),
    [
        ((SYSTEM, USER), Manner(), SCHEMA, [("system", "S"), ("user", "U")]),
        ((SYSTEM, USER), Manner(system=False), "", [("user", "S\n\nU")]),
        ((USER, SAID), Manner(system=False), "", [("user", "U"), ("assistant", "A")]),
        ((SYSTEM,), Manner(system=False), "", [("user", "S")]),
        ((SYSTEM, SAID), Manner(system=False), "", [("user", "S"), ("assistant", "A")]),
        ((SYSTEM, SYSTEM, USER, SAID, USER), Manner(system=False), "",
         [("user", "S\n\nS\n\nU"), ("assistant", "A"), ("user", "U")]),
        ((SYSTEM, USER, SAID), OBJECT, SCHEMA, [("system", "S"), ("user", f"U\n\n{FOLLOW}"), ("assistant", "A")]),
        ((SYSTEM, USER), PROMPT, SCHEMA, [("user", f"S\n\nU\n\n{FOLLOW}")]),
        ((SYSTEM,), OBJECT, SCHEMA, [("system", "S"), ("user", FOLLOW)]),
        ((SYSTEM, USER), OBJECT, "", [("system", "S"), ("user", "U")]),
    ],
)  # fmt: skip
def test_the_turns_are_put_in_the_manner_that_the_server_takes(
    messages: tuple[Message, ...], manner: Manner, schema: str, wanted: list[tuple[str, str]]
) -> None:
    assert contents(messages, manner, schema=schema) == wanted


@pytest.mark.parametrize(("manner", "kind"), [(Manner(), "json_schema"), (OBJECT, "json_object"), (PROMPT, None)])
def test_the_form_of_the_reply_is_demanded_as_far_as_the_server_can(manner: Manner, kind: str | None) -> None:
    body = body_of(Request((USER,), 5, schema=SCHEMA), PROFILE, manner=manner)

    assert (body.get("response_format") or {"type": None})["type"] == kind  # type: ignore[index]


def test_fields_for_going_on_are_sent_only_after_an_assistants_turn() -> None:
    manner = Manner(continuing={"continue_final_message": True})

    assert "continue_final_message" not in body_of(Request((USER,), 5), PROFILE, manner=manner)
    assert body_of(Request((USER, SAID), 5), PROFILE, manner=manner)["continue_final_message"] is True


def test_half_a_character_is_refused() -> None:
    with pytest.raises(UsageError, match="half a character at place 1"):
        body_of(Request((Message("user", "x\udc00"),), 5), PROFILE, manner=Manner())


def test_a_call_that_has_no_time_left_is_not_made() -> None:
    import stub_server as stub

    pytest.importorskip("openai", reason="the extra 'remote' is not installed")
    with stub.StubServer() as server:
        caller = Caller("http:x", Profile(server.base_url, "m"), key=None)
        with pytest.raises(ModelBusy, match="no time was left"):
            once(caller, Request((USER,), 5), manner=Manner(), deadline=0.0)
        caller.close()
        caller.close()

    assert server.calls == []
