"""Conversations with the official Python SDK, unchanged, against a running server.

Prints what check.py describes, like oracle.py. OPENAI_BASE_URL and OPENAI_API_KEY
say where and who; OTHER_API_KEY is the token of another principal.
"""

import asyncio
import os

import openai
from check import case, eq, has, main, whole
from openai import AsyncOpenAI, OpenAI

strict = OpenAI(_strict_response_validation=True)  # raises on what the types do not allow
conversations, responses = strict.conversations, strict.responses
items = conversations.items
other = OpenAI(api_key=os.environ["OTHER_API_KEY"]).conversations
HEARD = "I am a scripted model and heard: "


def refused(kind, code, param, call):
    try:
        call()
    except openai.APIStatusError as e:
        assert type(e) is kind, f"raised {type(e).__name__}: {e}"
        eq((e.code, e.param), (code, param))
        return e
    raise AssertionError("was not refused")


def user(text):
    return {"role": "user", "content": text}


EVERY = [
    {"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "https://example.com/x.png", "detail": "low"},
        {"type": "input_file", "filename": "a.txt", "file_data": "aGVsbG8="}]},
    {"role": "assistant", "content": "plain"}, {"role": "assistant", "phase": "commentary", "content": [
        {"type": "output_text", "text": "said", "annotations": []}, {"type": "refusal", "refusal": "no"}]},
    {"role": "developer", "content": "Be brief."}, {"role": "system", "content": "Be kind."},
    {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}, {"type": "function_call_output", "call_id": "c1", "output": "42"},
    {"type": "custom_tool_call", "call_id": "c2", "name": "g", "input": "raw"}, {"type": "custom_tool_call_output", "call_id": "c2", "output": "43"},
    {"type": "mcp_call", "id": "m", "server_label": "docs", "name": "find", "arguments": "{}", "output": "found"},
    {"type": "mcp_list_tools", "id": "l", "server_label": "docs", "tools": []},
    {"type": "mcp_approval_request", "id": "q", "server_label": "docs", "name": "rm", "arguments": "{}"},
    {"type": "mcp_approval_response", "approval_request_id": "q", "approve": True},
    {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "file_search_call", "id": "s", "queries": ["q"], "status": "completed"},
    {"type": "computer_call", "id": "p", "call_id": "c3", "status": "completed", "pending_safety_checks": [], "action": {"type": "wait"}},
    {"type": "computer_call_output", "call_id": "c3", "output": {"type": "computer_screenshot", "image_url": "data:,"}},
    {"type": "code_interpreter_call", "id": "i", "container_id": "k", "code": "1", "outputs": None, "status": "completed"},
    {"type": "image_generation_call", "id": "g", "result": "AA==", "status": "completed"},
    {"type": "local_shell_call", "id": "h", "call_id": "c4", "status": "completed", "action": {"type": "exec", "command": ["ls"], "env": {}}},
    {"type": "local_shell_call_output", "id": "o", "output": "x"},
    {"type": "shell_call", "call_id": "c5", "action": {"commands": ["ls"]}},
    {"type": "shell_call_output", "call_id": "c5", "output": [{"stdout": "x", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]},
    {"type": "apply_patch_call", "call_id": "c6", "status": "completed", "operation": {"type": "delete_file", "path": "x"}},
    {"type": "apply_patch_call_output", "call_id": "c6", "status": "completed"},
    {"type": "tool_search_call", "arguments": {"q": 1}}, {"type": "tool_search_output", "tools": []},
    {"type": "program", "id": "x", "call_id": "c7", "code": "x()", "fingerprint": "f"}, {"type": "program_output", "id": "y", "call_id": "c7", "result": "y", "status": "completed"},
    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]},
    {"type": "compaction", "encrypted_content": "zz"}, {"type": "additional_tools", "role": "developer", "tools": []},
]


@case
def create_retrieve_update_delete():
    made = whole(conversations.create(metadata={"a": "b"}, items=[user("hi")]))
    eq((made.object, made.metadata, made.id[:5]), ("conversation", {"a": "b"}, "conv_"))
    eq(whole(conversations.retrieve(made.id)), made)
    eq(whole(conversations.update(made.id, metadata={"c": "d"})).metadata, {"c": "d"})
    eq(whole(conversations.update(made.id, metadata=None)).metadata, {})
    eq([i.content[0].text for i in items.list(made.id)], ["hi"])
    gone = whole(conversations.delete(made.id))
    eq((gone.id, gone.deleted, gone.object), (made.id, True, "conversation.deleted"))
    for call in (conversations.retrieve, conversations.delete, items.list, lambda id: items.create(id, items=[user("x")])):
        refused(openai.NotFoundError, "session_not_found", "conversation_id", lambda: call(made.id))
    for bare in (whole(conversations.create()), whole(conversations.create(items=[])), whole(conversations.create(items=None, metadata=None))):
        eq((bare.metadata, list(items.list(bare.id))), ({}, []))


@case
def every_item_comes_back():
    c = conversations.create()
    made = []
    for i in range(0, len(EVERY), 20):
        page = whole(items.create(c.id, items=EVERY[i:i + 20], include=["message.output_text.logprobs"]))
        eq((page.first_id, page.last_id, page.has_more), (page.data[0].id, page.data[-1].id, False))
        made += page.data
    eq([i.type for i in made], [i.get("type", "message") for i in EVERY])
    back = [whole(i) for i in items.list(c.id, order="asc", limit=100)]
    eq([i.to_dict() for i in back], [i.to_dict() for i in made])
    for i in back:
        eq(whole(items.retrieve(i.id, conversation_id=c.id, include=["reasoning.encrypted_content"])).to_dict(), i.to_dict())
    # What came back is taken again, as a post and as the input of a response.
    again = items.create(conversations.create().id, items=[i.to_dict() for i in back[:20]]).data
    eq([{**i.to_dict(), "id": ""} for i in again], [{**i.to_dict(), "id": ""} for i in back[:20]])
    eq(whole(responses.create(model="codex", input=[*[i.to_dict() for i in back], user("go")])).status, "completed")
    r = whole(responses.create(model="codex", input=[*[i.to_dict() for i in back[0:1] + back[5:7]], user("go")]))
    for part in ("user: a", "[picture]", "[called f {}]", "[result -> 42]", "go"):
        has(r.output_text, part)


@case
def items_are_deleted_one_by_one():
    c = conversations.create(items=[user("a"), user("b"), user("c")])
    ids = [i.id for i in items.list(c.id, order="asc")]
    eq(whole(items.delete(ids[1], conversation_id=c.id)), c)
    eq([i.id for i in items.list(c.id, order="asc")], [ids[0], ids[2]])
    for call in (items.retrieve, items.delete):
        refused(openai.NotFoundError, "item_not_found", "item_id", lambda: call(ids[1], conversation_id=c.id))
    r = responses.create(model="codex", input="what was said?", conversation=c.id)
    has(r.output_text, "user: a")
    assert "user: b" not in r.output_text, r.output_text


@case
def lists_turn_their_pages():
    c = conversations.create()
    for i in range(0, 240, 20):
        items.create(c.id, items=[user(str(n)) for n in range(i, i + 20)])
    for n in range(240, 250, 2):
        responses.create(model="codex", input=str(n), conversation=c.id)
    items.create(c.id, items=[user("last"), user("of all")])
    up = [whole(i) for i in items.list(c.id, order="asc", limit=37)]
    eq(len(up), 252)
    eq([i.content[0].text for i in up[:240]], [str(n) for n in range(240)])
    eq([i.role for i in up[240:]], ["user", "assistant"] * 5 + ["user", "user"])
    eq([i.id for i in items.list(c.id)], [i.id for i in up][::-1])
    page = items.list(c.id, order="asc", limit=100, after=up[199].id)
    eq((len(page.data), page.data[0].id, page.has_more), (52, up[200].id, False))


@case
def a_response_is_told_once():
    c = conversations.create(items=[user("the word is heron"), {"role": "developer", "content": "Be brief."}])
    r = whole(responses.create(model="codex", input="which word?", conversation=c.id))
    has(r.output_text, "Earlier in this conversation:\n\nuser: the word is heron\n\nThe user's message now:\n\nwhich word?")
    eq(r.conversation.id, c.id)
    for again in (c.id.replace("conv_", "agsess_"), {"id": c.id}):
        r = whole(responses.create(model="codex", input="and now?", conversation=again))
        eq((r.conversation.id, r.output_text), (c.id, HEARD + "and now?"))
    items.create(c.id, items=[{"role": "assistant", "content": "an aside"}])
    events = [whole(e) for e in responses.create(input="streamed", conversation=c.id, stream=True)]
    eq({e.response.conversation.id for e in events if hasattr(e, "response")}, {c.id})
    has(events[-1].response.output_text, "assistant: an aside")
    r = responses.create(model="codex", input="go on", previous_response_id=events[-1].response.id)
    eq((r.conversation.id, r.output_text), (c.id, HEARD + "go on"))
    seen = [i.content[0].text for i in items.list(c.id, order="asc")]
    eq(seen[:3], ["the word is heron", "Be brief.", "which word?"])
    eq(len(seen), 2 + 2 + 4 + 1 + 4)
    session = strict.beta.agents.sessions.retrieve(c.id.replace("conv_", "agsess_"))
    eq((session.status, len(list(strict.beta.agents.sessions.turns.list(session.id)))), ("idle", 5))


@case
def a_conversation_without_an_agent_is_no_session():
    c = conversations.create()
    session = c.id.replace("conv_", "agsess_")
    try:
        strict.beta.agents.sessions.retrieve(session)
    except openai.NotFoundError:
        return
    raise AssertionError("is shown")


@case
def what_cannot_be_posted_is_named():
    c = conversations.create()
    ok = [user("x"), user("y"), user("z")]
    bad = lambda item: lambda: items.create(c.id, items=[*ok, item])
    refused(openai.BadRequestError, "invalid_request", "items[3].content[0].type", bad({"role": "user", "content": [{"type": "hologram"}]}))
    refused(openai.BadRequestError, "invalid_request", "items[3].type", bad({"type": "hologram"}))
    refused(openai.BadRequestError, "invalid_request", "items[3].name", bad({"type": "function_call", "call_id": "c", "arguments": "{}"}))
    refused(openai.NotFoundError, "item_not_found", "items[3].id", bad({"type": "item_reference", "id": "item_" + "0" * 31 + "1"}))
    refused(openai.BadRequestError, "invalid_request", "items", lambda: items.create(c.id, items=[user("x")] * 21))
    refused(openai.BadRequestError, "invalid_request", "items", lambda: conversations.create(items=[user("x")] * 21))
    refused(openai.BadRequestError, "invalid_request", "limit", lambda: items.list(c.id, limit=101))
    eq(list(items.list(c.id)), [])


@case
def a_reference_is_resolved():
    a, b = conversations.create(items=[user("the word is otter")]), conversations.create()
    said = next(iter(items.list(a.id)))
    copy = items.create(b.id, items=[{"type": "item_reference", "id": said.id}]).data[0]
    eq((copy.content[0].text, copy.id != said.id), ("the word is otter", True))
    has(responses.create(model="codex", input=[{"type": "item_reference", "id": said.id}, user("which?")]).output_text, "user: the word is otter")


@case
def an_item_of_a_running_response_stays():
    c = conversations.create()
    r = responses.create(model="codex", input="[[wait: 60000]]", conversation=c.id, background=True)
    asked = next(iter(items.list(c.id, order="asc")))
    refused(openai.ConflictError, "agents.item_in_use", "item_id", lambda: items.delete(asked.id, conversation_id=c.id))
    responses.cancel(r.id)
    items.delete(asked.id, conversation_id=c.id)


@case
def a_repeated_post_posts_once():
    key = {"Idempotency-Key": f"post-{os.getpid()}"}
    c = conversations.create()
    first = items.create(c.id, items=[user("x")], extra_headers=key)
    eq(items.create(c.id, items=[user("x")], extra_headers=key), first)
    refused(openai.ConflictError, "idempotency.mismatch", None, lambda: items.create(c.id, items=[user("y")], extra_headers=key))
    eq(len(list(items.list(c.id))), 1)
    same = {"Idempotency-Key": f"make-{os.getpid()}"}
    eq(conversations.create(extra_headers=same), conversations.create(extra_headers=same))


@case
def another_principal_sees_nothing():
    c = conversations.create(items=[user("secret")])
    item = next(iter(items.list(c.id))).id
    unknown = "conv_" + "0" * 31 + "1"
    for call in (other.retrieve, other.delete, other.items.list, lambda id: other.update(id, metadata={}), lambda id: other.items.create(id, items=[user("x")]),
                 lambda id: other.items.retrieve(item, conversation_id=id), lambda id: other.items.delete(item, conversation_id=id)):
        foreign = refused(openai.NotFoundError, "session_not_found", "conversation_id", lambda: call(c.id))
        missing = refused(openai.NotFoundError, "session_not_found", "conversation_id", lambda: call(unknown))
        eq(foreign.response.text.replace(c.id, ""), missing.response.text.replace(unknown, ""))
    eq(items.list(c.id).data[0].content[0].text, "secret")


@case
def a_conversations_memory():
    """How the Agents SDK keeps its memory: made lazily, items added after a run, read back as input, popped, cleared."""

    async def story():
        async with AsyncOpenAI() as client:
            id = (await client.conversations.create(items=[])).id
            add = lambda new: client.conversations.items.create(conversation_id=id, items=new)
            read = lambda: client.conversations.items.list(conversation_id=id, order="asc")
            asked = user("The word is heron.")
            run = await client.responses.create(model="codex", input=[asked])
            await add([asked, *[o.model_dump(exclude_unset=True) for o in run.output]])
            history = [i.model_dump(exclude_unset=True) async for i in read()]
            eq([i["role"] for i in history], ["user", "assistant"])
            run = await client.responses.create(model="codex", input=[*history, user("Which word?")])
            has(run.output_text, "user: The word is heron.")
            await add([user("Which word?"), *[o.model_dump(exclude_unset=True) for o in run.output]])
            newest = [i async for i in client.conversations.items.list(conversation_id=id, order="desc", limit=1)]
            eq((len(newest), newest[0].role), (4, "assistant"))  # every page of one
            await client.conversations.items.delete(conversation_id=id, item_id=newest[0].id)
            eq([i.role async for i in read()], ["user", "assistant", "user"])
            await client.conversations.delete(conversation_id=id)

    asyncio.run(story())


if __name__ == "__main__":
    main()
