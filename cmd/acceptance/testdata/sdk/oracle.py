"""The official Python SDK against a running server, unchanged: only base_url is set.

OPENAI_BASE_URL and OPENAI_API_KEY say where and who; OTHER_API_KEY and
READER_API_KEY are tokens of another principal and of one who may do nothing;
ORACLE_COUNT_URL is a proxy of the same server that counts requests by their X-Case
header. The agent behind the server is the stand-in of the Codex CLI, whose words are scripted: see the
directives in fakes/mind. Prints "ok NAME SECONDS" or "FAIL NAME: why" for a case.
"""

import asyncio
import inspect
import os

import openai
import pydantic
import calls  # noqa: F401  its cases
import conversations  # noqa: F401
import files  # noqa: F401
import pages  # noqa: F401
from check import case, counted, eq, has, main, refused, requests_of, until, whole
from openai import AsyncOpenAI, OpenAI
from openai.lib.beta.agents import AgentTurnResultError

client = OpenAI()  # as a caller has it
strict = OpenAI(_strict_response_validation=True)  # raises on what the types do not allow
responses, agents = client.responses, client.beta.agents
sessions = agents.sessions
HEARD = "I am a scripted model and heard: "
NONE = {"type": "none"}


def message(text):
    return {"type": "agent.session.input.message", "input": [{"role": "user", "content": [{"type": "input_text", "text": text}]}]}


def agent_events(stream, stop=None):
    """All events of a session's stream, each checked; up to the root turn's end plus idle, or stop."""
    seen, ended, ids = [], False, set()
    for e in stream:
        whole(e)
        assert e.event_id and e.event_id not in ids, f"event id {e.event_id!r} again"
        ids.add(e.event_id)
        seen.append(e)
        if e.type in ("agent.session.turn.completed", "agent.session.turn.failed", "agent.session.turn.cancelled"):
            ended = True
        if (stop and stop(e)) or (not stop and ended and e.type == "agent.session.idle"):
            break
    return seen


def session_with(*prompts, **params):
    """A session whose turns are done."""
    s = sessions.create(environment=NONE, agent={"model": "codex"}, input=prompts[0], **params)
    for p in prompts[1:]:
        sessions.events.create(s.id, events=[message(p)])
    until(lambda: sessions.retrieve(s.id).status == "idle")
    return s


# -- Responses --


@case
def responses_create_plain():
    r = whole(strict.responses.create(model="codex", input="hello"))
    eq((r.status, r.output_text, r.object, r.model, r.error), ("completed", HEARD + "hello", "response", "codex", None))
    assert r._request_id, "no request id"
    assert r.usage.total_tokens > 0 and r.usage.input_tokens_details.cached_tokens >= 0
    eq(r.output[-1].phase, "final_answer")


@case
def responses_create_from_messages():
    r = whole(responses.create(model="codex", instructions="Be short.", metadata={"a": "b"}, input=[
        {"role": "user", "content": "first"}, {"role": "assistant", "content": "yes"}, {"role": "user", "content": [{"type": "input_text", "text": "second"}]}]))
    has(r.output_text, "second")
    eq((r.metadata, r.instructions), ({"a": "b"}, "Be short."))


@case
def responses_own_items_as_input():
    r = responses.create(model="codex", input="[[think: hm]] [[say: looking]] [[shell: echo hi]] [[say: done]]")
    items = [{"role": "user", "content": "first"}, *[i.to_dict() for i in r.output], {"role": "user", "content": "next"}]
    again = whole(strict.responses.create(model="codex", include=[], tools=[], input=items))
    for part in ("first", "looking", "echo hi", "done", "next"):
        has(again.output_text, part)
    assert again.conversation.id != r.conversation.id, "resumed without being asked to"


@case
def responses_parse():
    class Answer(pydantic.BaseModel):
        a: int

    r = responses.parse(model="codex", input='[[say: {"a": 3}]]', text_format=Answer)
    eq((r.output_parsed.a, whole(r).text.format.type), (3, "json_schema"))


@case
def responses_parse_asynchronously_and_from_a_stream():
    class Answer(pydantic.BaseModel):
        words: list[str]

    with responses.stream(model="codex", input='[[say: {"words": ["a", "b"]}]]', text_format=Answer) as stream:
        list(map(whole, stream))
        eq(stream.get_final_response().output_parsed, Answer(words=["a", "b"]))

    async def run():
        async with AsyncOpenAI() as c:
            r = await c.responses.parse(model="codex", input='[[say: {"words": []}]]', text_format=Answer)
            eq(whole(r).output_parsed, Answer(words=[]))

    asyncio.run(run())


@case
def responses_settings_are_given_back():
    schema = {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": True, "description": "d"}
    raw = strict.responses.with_raw_response.create(
        model="codex", input="[[say: {}]]", instructions="Be short.", metadata={"k": "v"}, reasoning={"effort": "low", "summary": "auto"},
        text={"format": schema, "verbosity": "low"}, max_output_tokens=100, max_tool_calls=3, temperature=0.5, top_p=0.5, top_logprobs=1,
        truncation="auto", service_tier="auto", user="u", safety_identifier="s", prompt_cache_key="p", parallel_tool_calls=False,
        include=["reasoning.encrypted_content", "message.input_image.image_url"], tool_choice="none", store=True, extra_body={"zz_future": 1})
    r = whole(raw.parse())
    eq((r.max_output_tokens, r.max_tool_calls, r.temperature, r.top_p, r.truncation, r.service_tier, r.user, r.safety_identifier, r.prompt_cache_key),
       (100, 3, 0.5, 0.5, "auto", "auto", "u", "s", "p"))
    eq((r.reasoning.effort, r.reasoning.summary, r.text.verbosity, r.parallel_tool_calls, r.tool_choice), ("low", "auto", "low", False, "none"))
    eq(r.text.format.to_dict(), schema)
    eq((r.metadata, r.instructions), ({"k": "v"}, "Be short."))
    eq(raw.headers["x-agent-sandbox-ignored-params"], "include,max_output_tokens,max_tool_calls,parallel_tool_calls,prompt_cache_key,"
       "safety_identifier,service_tier,temperature,top_logprobs,top_p,truncation,user,zz_future")
    raw = responses.with_raw_response.create(model="codex", input="x", include=["message.input_image.image_url"])
    assert "x-agent-sandbox-ignored-params" not in raw.headers, raw.headers
    again = whole(strict.responses.retrieve(r.id, include=["message.output_text.logprobs"]))
    eq(again.to_dict(), r.to_dict())


@case
def metadata_has_limits():
    whole(responses.create(model="codex", input="x", metadata={f"k{i}".ljust(64, "x"): "v" * 512 for i in range(16)}))
    for name, metadata in {"pairs": {f"k{i}": "v" for i in range(17)}, "key": {"k" * 65: "v"}, "value": {"k": "v" * 513}, "type": {"k": {}}}.items():
        for wire, call in {
            "responses": lambda c: c.responses.create(model="codex", input="x", metadata=metadata),
            "agents": lambda c: c.beta.agents.create(model="codex", metadata=metadata),
            "sessions": lambda c: c.beta.agents.sessions.create(environment=NONE, agent={"model": "codex"}, metadata=metadata),
        }.items():
            e = refused(openai.BadRequestError, f"metadata_{name}_{wire}", call)
            has(e.param, "metadata")


@case
def responses_create_stream():
    for c in (client, strict):
        events = [whole(e) for e in c.responses.create(model="codex", input="[[think: hm]] [[say: looking]] [[shell: echo hi; exit 3]] [[say: a streamed answer]]", stream=True)]
        eq([e.sequence_number for e in events], list(range(len(events))))
        types = [e.type for e in events]
        eq((types[0], types[-1]), ("response.created", "response.completed"))
        done = [e.item for e in events if e.type == "response.output_item.done"]
        eq([i.type for i in done], ["reasoning", "message", "mcp_call", "message"])
        eq([i.model_dump() for i in done], [i.model_dump() for i in events[-1].response.output])
        eq((done[2].name, done[2].status, done[2].output), ("command_execution", "failed", "hi\n"))
        eq((done[1].phase, done[3].phase), ("commentary", "final_answer"))
        last = done[3].id
        eq("".join(e.delta for e in events if e.type == "response.output_text.delta" and e.item_id == last), "a streamed answer")
        assert "response.mcp_call.failed" in types and "response.reasoning_summary_text.delta" in types


@case
def responses_background():
    r = whole(responses.create(model="codex", input="[[wait: 300]] [[say: later]]", background=True))
    assert r.status in ("queued", "in_progress") and r.background and r.output == [] and r.usage is None, r
    done = until(lambda: (x := responses.retrieve(r.id)).status not in ("queued", "in_progress") and x)
    eq((whole(done).status, done.output_text, done.id), ("completed", "later", r.id))


@case
def responses_background_stream():
    events = [whole(e) for e in responses.create(model="codex", input="[[say: later]]", background=True, stream=True)]
    eq((events[0].type, events[-1].type), ("response.created", "response.completed"))
    eq(events[-1].response.output_text, "later")


@case
def responses_background_stream_resumes_while_it_runs():
    seen = []
    for e in map(whole, responses.create(model="codex", input="[[shell: sleep 0.1]]" * 8 + " [[count: 40]]", background=True, stream=True)):
        seen.append(e)
        if len(seen) == 8:
            break
    id = seen[0].response.id
    assert responses.retrieve(id).status == "in_progress"
    for e in map(whole, strict.responses.retrieve(id, stream=True, starting_after=seen[-1].sequence_number)):
        seen.append(e)
        if len(seen) == 16:
            break
    seen += map(whole, responses.retrieve(id, stream=True, starting_after=seen[-1].sequence_number))
    eq([e.sequence_number for e in seen], list(range(len(seen))))
    eq((seen[-1].type, seen[-1].response.output_text.split()[-1]), ("response.completed", "40"))
    last = seen[-1].sequence_number
    eq([e.to_json() for e in responses.retrieve(id, stream=True, starting_after=last - 1)], [seen[-1].to_json()])
    eq(list(responses.retrieve(id, stream=True, starting_after=last)), [])
    eq(list(responses.retrieve(id, stream=True, starting_after=last + 100)), [])
    refused(openai.BadRequestError, "after_what", lambda c: c.responses.retrieve(id, stream=True, starting_after=-1))


@case
def responses_stream_helper():
    with responses.stream(model="codex", input="[[think: well]] [[shell: echo hi]] [[count: 9]]") as stream:
        text = "".join(e.delta for e in map(whole, stream) if e.type == "response.output_text.delta")
        final = whole(stream.get_final_response())
    eq((final.status, final.output_text, text), ("completed", "1 2 3 4 5 6 7 8 9", "1 2 3 4 5 6 7 8 9"))
    eq([i.type for i in final.output], ["reasoning", "mcp_call", "message"])


@case
def responses_stream_helper_resumes():
    events = list(responses.create(model="codex", input="[[count: 30]]", background=True, stream=True))
    cut = len(events) // 2
    id = events[0].response.id
    for params in ({"response_id": id, "starting_after": cut}, {"response_id": id}):
        with responses.stream(**params) as stream:
            got = [e.sequence_number for e in map(whole, stream) if hasattr(e, "sequence_number")]
            final = stream.get_final_response()
        eq(sorted(set(got)), list(range(cut + 1 if "starting_after" in params else 0, len(events))))
        has(final.output_text, "28 29 30")


@case
def responses_stream_helper_follows_a_running_turn():
    first = responses.create(model="codex", input="[[slow: 20]] [[count: 20]]", background=True)
    with responses.stream(response_id=first.id) as stream:
        final = stream.get_final_response()
    eq((final.id, final.output_text.split()[-1]), (first.id, "20"))


@case
def responses_retrieve_stream():
    live = [whole(e) for e in responses.create(model="codex", input="[[shell: echo hi]] [[count: 20]]", stream=True)]
    id = live[0].response.id
    for after in (None, 0, 1, 7, len(live) - 2, len(live) - 1):
        more = {} if after is None else {"starting_after": after}
        again = [whole(e) for e in strict.responses.retrieve(id, stream=True, **more)]
        eq([e.to_json() for e in again], [e.to_json() for e in live[0 if after is None else after + 1 :]])


@case
def responses_cancel():
    r = responses.create(model="codex", input="[[shell: sleep 60]]", background=True)
    until(lambda: responses.retrieve(r.id).status == "in_progress")
    whole(responses.cancel(r.id))
    done = until(lambda: (x := responses.retrieve(r.id)).status not in ("queued", "in_progress") and x)
    eq((whole(done).status, done.error), ("cancelled", None))
    eq(whole(responses.cancel(r.id)).status, "cancelled")


@case
def responses_failed_turn():
    r = whole(responses.create(model="codex", input="[[say: so far]] [[error: 500]]"))
    eq((r.status, r.error.code), ("failed", "server_error"))
    assert r.error.message
    events = [whole(e) for e in strict.responses.create(model="codex", input="[[error: 429]]", stream=True)]
    eq((events[-1].type, events[-1].response.error.code), ("response.failed", "rate_limit_exceeded"))


@case
def responses_delete():
    r = responses.create(model="codex", input="forget me")
    responses.delete(r.id)
    refused(openai.NotFoundError, "deleted", lambda c: c.responses.retrieve(r.id))
    refused(openai.NotFoundError, "deleted_items", lambda c: c.responses.input_items.list(r.id))


@case
def responses_input_items():
    r = responses.create(model="codex", input="what I asked")
    page = whole(strict.responses.input_items.list(r.id))
    items = [whole(i) for i in page]
    eq([(i.type, i.role, i.content[0].text) for i in items], [("message", "user", "what I asked")])


@case
def responses_previous_response():
    a = responses.create(model="codex", input="Please remember the word heron.")
    b = whole(responses.create(model="codex", input="What did I ask you to remember?", previous_response_id=a.id))
    has(b.output_text, "heron")
    eq((b.previous_response_id, b.conversation.id), (a.id, a.conversation.id))
    refused(openai.BadRequestError, "not_latest", lambda c: c.responses.create(model="codex", input="x", previous_response_id=a.id), "agents.previous_response_not_latest")


@case
def responses_conversation():
    a = responses.create(model="codex", input="Please remember the word otter.")
    for conversation in (a.conversation.id, {"id": a.conversation.id}):
        b = whole(responses.create(model="codex", input="What did I ask you to remember?", conversation=conversation))
        has(b.output_text, "otter")
        eq(b.conversation.id, a.conversation.id)


@case
def responses_not_stored():
    r = whole(responses.create(model="codex", input="x", store=False))
    refused(openai.NotFoundError, "not_stored", lambda c: c.responses.retrieve(r.id))


@case
def models():
    listed = [whole(m) for m in strict.models.list()]
    assert "codex" in [m.id for m in listed], listed
    eq(whole(strict.models.retrieve("codex")).id, "codex")
    saved = agents.create(model="codex", name=f"py-{os.getpid()}-model")
    assert saved.name in [m.id for m in client.models.list()], "a saved agent is no model"
    has(responses.create(model=saved.name, input="by name").output_text, "by name")
    agents.delete(saved.id)


# -- Agents: definitions --


@case
def agents_crud():
    a = whole(strict.beta.agents.create(model="codex", name=f"py-{os.getpid()}-crud", instructions="Be kind.", metadata={"k": "v"}))
    eq((a.object, a.model, a.instructions, a.metadata), ("agent", "codex", "Be kind.", {"k": "v"}))
    eq(whole(strict.beta.agents.retrieve(a.id)), a)
    b = whole(strict.beta.agents.update(a.id, instructions="Be brief.", metadata={"n": "w"}))
    eq((b.id, b.instructions, b.metadata, b.name), (a.id, "Be brief.", {"n": "w"}, a.name))
    more = [agents.create(model="codex", name=f"py-{os.getpid()}-crud{i}").id for i in range(4)]
    every = [whole(x).id for x in strict.beta.agents.list(limit=2)]
    assert {a.id, *more} <= set(every) and len(set(every)) == len(every), every
    mine = [x.id for x in agents.list(limit=3, order="asc") if x.id in {a.id, *more}]
    eq(mine, [a.id, *more])
    for id in (a.id, *more):
        eq(whole(strict.beta.agents.delete(id)).deleted, True)
    refused(openai.NotFoundError, "agent_deleted", lambda c: c.beta.agents.retrieve(a.id))


@case
def deleted_as_listed():
    """Who deletes each object that a list yields sees every one of them."""
    mark = f"py-{os.getpid()}-mark"
    made = [agents.create(model="codex", name=f"{mark}{i}").id for i in range(5)]
    gone = [agents.delete(a.id).id for a in agents.list(limit=2, order="asc") if a.id in made]
    eq(gone, made)
    made = [session_with("[[say: x]]", metadata={"mark": mark}).id for _ in range(5)]
    gone = []
    for s in sessions.list(limit=2):
        if s.id in made:
            gone.append(sessions.delete(s.id).id)
        if len(gone) == len(made):
            break
    eq(gone, made[::-1])
    made = [client.files.create(file=(f"{mark}{i}.txt", b"x"), purpose="user_data").id for i in range(5)]
    gone = [client.files.delete(f.id).id for f in client.files.list(limit=2, order="asc") if f.id in made]
    eq(gone, made)


# -- Agents: sessions --


@case
def sessions_create_plain():
    a = agents.create(model="codex", instructions="Be kind.")
    s = whole(strict.beta.agents.sessions.create(environment=NONE, agent_id=a.id, input="hello", metadata={"m": "1"}))
    eq((s.object, s.agent.id, s.metadata, s.environment.type), ("agent.session", a.id, {"m": "1"}, "none"))
    until(lambda: whole(sessions.retrieve(s.id)).status == "idle")
    turns = [whole(t) for t in strict.beta.agents.sessions.turns.list(s.id)]
    eq([(t.status, t.subagent_id, t.error) for t in turns], [("completed", None, None)])
    has(list(sessions.items.list(s.id))[0].content[0].text, "hello")


@case
def sessions_create_stream():
    with strict.beta.agents.sessions.create(environment=NONE, agent={"model": "codex"}, input="[[shell: echo hi; exit 3]] [[say: done]]", stream=True) as stream:
        events = [whole(e) for e in stream]  # the server ends it after the first turn
    types = [e.type for e in events]
    eq((types[0], types[-2], types[-1]), ("agent.session.created", "agent.session.turn.completed", "agent.session.idle"))
    done = [e.item for e in events if e.type == "agent.session.turn.item.done"]
    eq([i.type for i in done], ["command_execution", "message"])
    has(done[0].command, "echo hi; exit 3")
    eq((done[0].output, done[0].exit_code, done[0].status), ("hi\n", 3, "failed"))
    turn = events[-2].turn
    assert turn.usage.total_tokens > 0 and turn.started_at and turn.completed_at, turn
    with sessions.create(environment=NONE, agent={"model": "codex"}, input="[[say: at once]]", stream=True) as stream:
        if hasattr(stream, "get_final_result"):
            eq(stream.get_final_result().output_text, "at once")
        else:
            agent_events(stream)


@case
def sessions_stream_helper():
    s = session_with("Please remember the word heron.")
    with sessions.stream(s.id, input="[[think: hm]] [[say: I look.]] [[shell: echo hi]] [[count: 5]]") as stream:
        result = stream.get_final_result()
    eq((result.output_text, result.turn.status, result.session_id), ("1 2 3 4 5", "completed", s.id))
    with sessions.stream(s.id, input="What did I ask you to remember?") as stream:
        events = [whole(e) for e in stream.with_result_collection()] if hasattr(stream, "with_result_collection") else None
        result = stream.get_final_result()
    has(result.output_text, "heron")
    if events:
        eq((events[-2].type, events[-1].type), ("agent.session.turn.completed", "agent.session.idle"))
    eq(whole(sessions.retrieve(s.id)).status, "idle")


@case
def sessions_stream_helper_failed_turn():
    s = session_with("hello")
    try:
        with sessions.stream(s.id, input="[[error: 401]]") as stream:
            stream.get_final_result()
        raise AssertionError("a failed turn has a result")
    except AgentTurnResultError as e:
        eq((e.reason, e.turn.status, e.turn.error.code), ("failed", "failed", "authentication_error"))


@case
def events_create_and_stream():
    s = session_with("hello")
    with strict.beta.agents.sessions.events.stream(s.id) as stream:
        raw = sessions.events.with_raw_response.create(s.id, events=[message("[[count: 9]]")])
        eq((raw.http_response.status_code, raw.http_response.content), (202, b""))
        events = agent_events(stream)
    types = [e.type for e in events]
    eq(types[0], "agent.session.in_progress")
    assert types.index("agent.session.turn.created") < types.index("agent.session.turn.in_progress") < types.index("agent.session.turn.completed")
    eq("".join(e.delta for e in events if e.type == "agent.session.turn.output_text.delta"), "1 2 3 4 5 6 7 8 9")
    for after in (events[0].event_id, events[len(events) // 2].event_id):  # our own addition to the route
        with sessions.events.stream(s.id, extra_query={"after": after}) as stream:
            again = agent_events(stream, stop=lambda e: e.event_id == events[-1].event_id)
        at = [e.event_id for e in events].index(after)
        eq([e.to_json() for e in again], [e.to_json() for e in events[at + 1 :]])


@case
def events_two_inputs_queue():
    s = session_with("hello")
    with sessions.events.stream(s.id) as stream:
        sessions.events.create(s.id, events=[message("[[wait: 200]] [[say: one]]"), message("[[say: two]]")])
        events = agent_events(stream)
    eq([e.item.content[0].text for e in events if e.type == "agent.session.turn.item.done"], ["one", "two"])
    idle = [e for e in events if e.type == "agent.session.idle"]
    eq(len(idle), 1)


@case
def events_cancel():
    s = session_with("hello")
    try:
        with sessions.stream(s.id, input="[[shell: sleep 60]]") as stream:
            for e in map(whole, stream.with_result_collection()):
                if e.type == "agent.session.turn.item.added" and e.item.type == "command_execution":
                    sessions.events.create(s.id, events=[{"type": "agent.session.input.cancel"}])
            stream.get_final_result()
        raise AssertionError("a cancelled turn has a result")
    except AgentTurnResultError as e:
        eq((e.reason, e.turn.status), ("cancelled", "cancelled"))
    items = [whole(i) for i in sessions.items.list(s.id, order="asc")]
    eq([i.status for i in items if i.type == "command_execution"], ["incomplete"])
    sessions.events.create(s.id, events=[{"type": "agent.session.input.cancel"}])  # of an idle session: accepted, nothing


@case
def items_and_turns():
    s = session_with("[[say: one]]", "[[shell: echo hi]] [[say: two]]", "[[think: hm]] [[say: three]]")
    up = [whole(i) for i in strict.beta.agents.sessions.items.list(s.id, limit=2, order="asc")]
    eq([(i.type, getattr(i, "role", None)) for i in up], [("message", "user"), ("message", "assistant"), ("message", "user"), ("command_execution", None),
        ("message", "assistant"), ("message", "user"), ("reasoning", None), ("message", "assistant")])
    eq([i.content[0].text for i in up if getattr(i, "role", None) == "assistant"], ["one", "two", "three"])
    down = [whole(i).id for i in sessions.items.list(s.id, limit=3)]
    eq(down, [i.id for i in reversed(up)])
    turns = [whole(t) for t in strict.beta.agents.sessions.turns.list(s.id, limit=1, order="asc")]
    eq([t.status for t in turns], ["completed"] * 3)
    eq([t.id for t in sessions.turns.list(s.id, limit=2)], [t.id for t in reversed(turns)])
    eq(whole(strict.beta.agents.sessions.turns.retrieve(turns[1].id, session_id=s.id)), turns[1])
    of = [whole(i) for i in strict.beta.agents.sessions.turns.items.list(turns[1].id, session_id=s.id, limit=1, order="asc")]
    eq([i.id for i in of], [i.id for i in up if i.turn_id == turns[1].id])
    refused(openai.NotFoundError, "no_turn", lambda c: c.beta.agents.sessions.turns.retrieve("turn_" + "0" * 32, session_id=s.id))


@case
def sessions_list_update_delete():
    a = agents.create(model="codex")
    team = f"a b {os.getpid()}"
    mine = [sessions.create(environment=NONE, agent_id=a.id, input="x", metadata={"team": team, "odd": str(i % 2)}).id for i in range(3)]
    other = sessions.create(environment=NONE, agent={"model": "codex"}, input="x", metadata={"team": team, "odd": "0"}).id
    both = {"metadata[team]": team, "metadata[odd]": "0"}
    for limit in (1, 2, 20):
        eq([s.id for s in strict.beta.agents.sessions.list(order="asc", limit=limit, extra_query=both)], [mine[0], mine[2], other])
        eq([s.id for s in strict.beta.agents.sessions.list(agent_id=a.id, limit=limit, extra_query=both)], [mine[2], mine[0]])
        eq([s.id for s in sessions.list(order="asc", limit=limit, after=mine[0], extra_query=both)], [mine[2], other])
    eq([s.id for s in sessions.list(agent_id=a.id, extra_query={"metadata[odd]": "2"})], [])
    strict.beta.agents.sessions.delete(other)
    eq([whole(s).id for s in strict.beta.agents.sessions.list(agent_id=a.id, limit=2, order="asc")], mine)
    if "metadata" in inspect.signature(sessions.list).parameters:
        eq([s.id for s in sessions.list(metadata={"team": team}, limit=2)], mine[::-1])
    eq([s.id for s in sessions.list(extra_query={"metadata[team]": team})], mine[::-1])
    eq([s.id for s in sessions.list(agent_id="agent_" + "0" * 32)], [])
    u = whole(strict.beta.agents.sessions.update(mine[0], metadata={"team": "c"}))
    eq((u.id, u.metadata), (mine[0], {"team": "c"}))
    eq(whole(sessions.retrieve(mine[0])).metadata, {"team": "c"})
    for id in mine:
        d = whole(strict.beta.agents.sessions.delete(id))
        eq((d.id, d.deleted), (id, True))
    refused(openai.NotFoundError, "session_deleted", lambda c: c.beta.agents.sessions.retrieve(mine[0]))


# -- both wires --


@case
def both_wires_share_ids():
    r = responses.create(model="codex", input="Please remember the word heron.")
    hex, session = r.id.removeprefix("resp_"), "agsess_" + r.conversation.id.removeprefix("conv_")
    eq(whole(sessions.turns.retrieve("turn_" + hex, session_id=session)).status, "completed")
    eq([i.id for i in sessions.turns.items.list("turn_" + hex, session_id=session, order="asc")][1:], [i.id for i in r.output])
    with sessions.stream(session, input="What did I ask you to remember?") as stream:
        result = stream.get_final_result()
    has(result.output_text, "heron")
    back = whole(responses.retrieve("resp_" + result.turn_id.removeprefix("turn_")))
    eq((back.output_text, back.conversation.id, back.background), (result.output_text, r.conversation.id, True))
    refused(openai.BadRequestError, "older_id", lambda c: c.responses.create(model="codex", input="x", previous_response_id=r.id), "agents.previous_response_not_latest")
    nxt = responses.create(model="codex", input="What did I ask you to remember?", previous_response_id=back.id)
    has(nxt.output_text, "heron")
    replay = [whole(e) for e in responses.retrieve(back.id, stream=True)]
    eq((replay[0].type, replay[-1].response.output_text), ("response.created", result.output_text))


# -- refusals: the class, and that the SDK asks once --


@case
def refused_400():
    for name, call in {
        "no_input": lambda c: c.responses.create(model="codex"),
        "bad_type": lambda c: c.responses.create(model="codex", input="x", extra_body={"stream": "yes"}),
        "bad_limit": lambda c: c.beta.agents.list(limit=1000),
        "odd_environment": lambda c: c.beta.agents.sessions.create(environment={"type": "cloud"}, agent={"model": "codex"}, input="x"),
        "no_agent": lambda c: c.beta.agents.sessions.create(environment=NONE, input="x"),
        "both_ids": lambda c: c.responses.create(model="codex", input="x", previous_response_id="resp_" + "0" * 32, conversation="conv_" + "0" * 32),
    }.items():
        refused(openai.BadRequestError, name, call)


@case
def refused_401():
    refused(openai.AuthenticationError, "wrong_key", lambda c: c.with_options(api_key="wrong").models.list())
    refused(openai.AuthenticationError, "wrong_key_stream", lambda c: c.with_options(api_key="wrong").responses.create(model="codex", input="x", stream=True))


@case
def refused_404():
    zero = "0" * 32
    for name, call in {
        "response": lambda c: c.responses.retrieve("resp_" + zero),
        "response_odd": lambda c: c.responses.retrieve("a/b"),
        "response_stream": lambda c: c.responses.retrieve("resp_" + zero, stream=True),
        "previous": lambda c: c.responses.create(model="codex", input="x", previous_response_id="resp_" + zero),
        "conversation": lambda c: c.responses.create(model="codex", input="x", conversation="conv_" + zero),
        "agent": lambda c: c.beta.agents.retrieve("agent_" + zero),
        "session": lambda c: c.beta.agents.sessions.retrieve("agsess_" + zero),
        "session_events": lambda c: c.beta.agents.sessions.events.stream("agsess_" + zero),
        "session_post": lambda c: c.beta.agents.sessions.events.create("agsess_" + zero, events=[message("x")]),
        "model": lambda c: c.models.retrieve("no such model"),
    }.items():
        refused(openai.NotFoundError, name, call)


@case
def refused_403():
    for name, call in {
        "models": lambda c: c.models.list(),
        "respond": lambda c: c.responses.create(model="codex", input="x"),
        "respond_stream": lambda c: c.responses.create(model="codex", input="x", stream=True),
        "agents": lambda c: c.beta.agents.create(model="codex"),
        "events": lambda c: c.beta.agents.sessions.events.stream("agsess_" + "0" * 32),
        "upload": lambda c: c.files.create(file=b"x", purpose="user_data"),
    }.items():
        refused(openai.PermissionDeniedError, f"reader_{name}", call, "permission_denied", api_key=os.environ["READER_API_KEY"])


@case
def refused_409():
    s = session_with("hello")
    refused(openai.ConflictError, "ghost", lambda c: c.responses.create(model="ghost", input="x"), "runtime_not_installed")
    for name, create in {  # each call that creates something takes a key
        "response": lambda c, text, key: c.responses.create(model="codex", input=text, **key),
        "session": lambda c, text, key: c.beta.agents.sessions.create(environment=NONE, agent={"model": "codex"}, input=text, **key),
        "events": lambda c, text, key: c.beta.agents.sessions.events.create(s.id, events=[message(text)], **key),
        "agent": lambda c, text, key: c.beta.agents.create(model="codex", instructions=text, **key),
        "file": lambda c, text, key: c.files.create(file=("x.txt", text.encode()), purpose="user_data", **key),
    }.items():
        key = {"extra_headers": {"Idempotency-Key": f"{name}-{s.id}"}}
        first, again = create(client, "one", key), create(client, "one", key)
        eq(getattr(again, "id", None), getattr(first, "id", None))
        refused(openai.ConflictError, f"mismatch_{name}", lambda c: create(c, "two", key), "idempotency.mismatch")
    until(lambda: sessions.retrieve(s.id).status == "idle")
    eq(len(list(sessions.turns.list(s.id))), 2)


@case
def refused_413():
    big = "x" * (3 << 20)
    for name, call in {
        "response": lambda c: c.responses.create(model="codex", input=big),
        "response_stream": lambda c: c.responses.create(model="codex", input=big, stream=True),
        "session": lambda c: c.beta.agents.sessions.create(environment=NONE, agent={"model": "codex"}, input=big),
        "upload": lambda c: c.files.create(file=("big", big.encode()), purpose="user_data"),
    }.items():
        eq(refused(openai.APIStatusError, f"big_{name}", call, "request_too_large").status_code, 413)


@case
def refused_429():
    s = session_with("hello")
    sessions.events.create(s.id, events=[message("[[wait: 30000]]")])
    until(lambda: any(t.status == "in_progress" for t in sessions.turns.list(s.id)))
    sessions.events.create(s.id, events=[message("[[say: one]]"), message("[[say: two]]")])
    e = refused(openai.RateLimitError, "full", lambda c: c.with_options(max_retries=0).beta.agents.sessions.events.create(s.id, events=[message("x")]), "queue_full")
    assert float(e.response.headers["retry-after"]) > 0 and "x-should-retry" not in e.response.headers, e.response.headers
    sessions.delete(s.id)


@case
def refused_429_is_asked_again():
    s = session_with("hello")
    sessions.events.create(s.id, events=[message("[[wait: 700]]")])
    until(lambda: any(t.status == "in_progress" for t in sessions.turns.list(s.id)))
    sessions.events.create(s.id, events=[message("[[say: one]]"), message("[[say: two]]")])
    c = counted("busy", max_retries=9)
    c.beta.agents.sessions.events.create(s.id, events=[message("[[say: three]]")])  # the SDK waits as long as it was told
    assert 2 <= requests_of("busy") <= 4, requests_of("busy")
    until(lambda: sessions.retrieve(s.id).status == "idle")
    said = [i.content[0].text for i in sessions.items.list(s.id, order="asc") if i.type == "message" and i.role == "assistant"]
    eq(said[-3:], ["one", "two", "three"])


# -- the asynchronous client --


@case
def asynchronous():
    async def run():
        async with AsyncOpenAI(_strict_response_validation=True) as c:
            events = [whole(e) async for e in await c.responses.create(model="codex", input="[[count: 5]]", stream=True)]
            eq(events[-1].response.output_text, "1 2 3 4 5")
            s = await c.beta.agents.sessions.create(environment=NONE, agent={"model": "codex"}, input="hello")
            while (await c.beta.agents.sessions.retrieve(s.id)).status != "idle":
                await asyncio.sleep(0.02)
            async with c.beta.agents.sessions.stream(s.id, input="[[say: async]]") as stream:
                eq((await stream.get_final_result()).output_text, "async")
            eq(len([i async for i in c.beta.agents.sessions.items.list(s.id, limit=1)]), 4)

    asyncio.run(run())


if __name__ == "__main__":
    main()
