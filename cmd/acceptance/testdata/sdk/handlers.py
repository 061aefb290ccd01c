"""Functions that the caller runs, through the SDK's helpers. A part of real.py.

ORACLE_CLIS names the adapters that each case is played on. The scripted model calls
a function by [[mcp: agenthost NAME JSON]] and says what it returned.
"""

import asyncio
import os

import openai
import pydantic
from check import case, eq, has, refused, whole
from openai import AsyncOpenAI, OpenAI
from openai.lib.beta.agents import AgentTurnResultError

strict = OpenAI(_strict_response_validation=True)
agents, responses = strict.beta.agents, strict.responses
sessions = agents.sessions
WORKSPACE = {"type": "self_hosted"}
OSLO = '[[mcp: agenthost get_weather {"city":"Oslo"}]]'
ROME = '[[mcp: agenthost get_weather {"city":"Rome"}]]'
NOON = '[[mcp: agenthost get_time {"city":"Rome"}]]'
FAILED = "Tool handler failed."  # what the SDK tells of a handler that raises


def function(name):
    city = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
    return {"type": "function", "name": name, "description": "Tells of a city.", "parameters": city}


FUNCTIONS = [function("get_weather"), function("get_time")]


class Weather:
    """A handler that notes its calls."""

    def __init__(self, answer="sunny in {city}"):
        self.calls, self.answer = [], answer

    def __call__(self, arguments):
        self.calls.append(arguments)
        if isinstance(self.answer, Exception):
            raise self.answer
        if isinstance(self.answer, str):
            return self.answer.format(**arguments)
        return self.answer


def session(adapter, **agent):
    return sessions.create(environment=WORKSPACE, agent={"model": adapter, "tools": FUNCTIONS, **agent}).id


def turn(id, prompt, **handlers):
    """A turn's events, each checked, and its result."""
    with sessions.stream(id, input=prompt, tool_handlers=handlers) as stream:
        events = [whole(e) for e in stream.with_result_collection()]
        return events, stream.get_final_result()


def items(id, kind):
    return [i for i in map(whole, sessions.items.list(id, order="asc")) if i.type == kind]


def on_each_cli(play):
    """A case for each CLI."""
    for adapter in filter(None, os.environ["ORACLE_CLIS"].split(",")):

        def run(adapter=adapter):
            play(adapter)

        run.__name__ = f"{play.__name__}_{adapter}"
        case(run)


@on_each_cli
def handler_of_a_saved_agents_function(adapter):
    a = whole(agents.create(model=adapter, tools=FUNCTIONS))
    eq([t.name for t in a.tools], ["get_weather", "get_time"])
    id = sessions.create(environment=WORKSPACE, agent_id=a.id).id
    weather = Weather()
    events, result = turn(id, f"[[say: I will look.]] {OSLO}", get_weather=weather)
    eq((weather.calls, result.output_text), ([{"city": "Oslo"}], "The tool returned: sunny in Oslo"))
    (at,) = [i for i, e in enumerate(events) if e.type == "agent.session.turn.item.added" and e.item.type == "function_call"]
    call = events[at].item
    eq((call.status, call.name, call.arguments), ("in_progress", "get_weather", {"city": "Oslo"}))
    rest = events[at + 1 :]
    (asked,) = [e for e in rest if e.type == "agent.session.requires_action"]
    eq([(a.type, a.call_id, a.turn_id, a.arguments) for a in asked.session.required_actions], [("function_call", call.call_id, call.turn_id, {"city": "Oslo"})])
    types = [e.type for e in rest]
    assert types.index("agent.session.requires_action") < types.index("agent.session.in_progress") < types.index("agent.session.turn.completed"), types
    (made,), (answer,) = items(id, "function_call"), items(id, "function_call_output")
    eq((made.id, made.status, answer.call_id, answer.output, answer.error, answer.status), (call.id, "completed", call.call_id, "sunny in Oslo", None, "completed"))
    # The session goes on, and so does its handler.
    _, again = turn(id, ROME, get_weather=weather)
    eq((again.output_text, weather.calls[1:]), ("The tool returned: sunny in Rome", [{"city": "Rome"}]))
    agents.delete(a.id)


@on_each_cli
def handlers_in_parallel_and_in_two_rounds(adapter):
    weather, clock = Weather(), Weather({"hour": 12})
    id = session(adapter)
    events, result = turn(id, f"{OSLO} [[and]] {NOON} {ROME}", get_weather=weather, get_time=clock)
    eq((weather.calls, clock.calls), ([{"city": "Oslo"}, {"city": "Rome"}], [{"city": "Rome"}]))
    told = result.output_text.removeprefix("The tool returned: ").split("\n")
    outputs = [i.output for i in items(id, "function_call_output")]
    for said in (told, outputs):  # of the parallel ones, either comes first
        eq((sorted(said[:2]), said[2:]), (sorted(["sunny in Oslo", '{"hour":12}']), ["sunny in Rome"]))
    eq([e.type for e in events].count("agent.session.turn.completed"), 1)


@on_each_cli
def handler_that_raises(adapter):
    id = session(adapter)
    _, result = turn(id, OSLO, get_weather=Weather(RuntimeError("a secret of the caller's")))
    has(result.output_text, FAILED)
    (answer,) = items(id, "function_call_output")
    eq((answer.status, answer.error, answer.output), ("failed", FAILED, None))


@on_each_cli
def handlers_of_a_created_stream(adapter):
    weather = Weather([{"type": "input_text", "text": "rain"}])
    agent = {"model": adapter, "tools": FUNCTIONS}
    with sessions.create(environment=WORKSPACE, agent=agent, input=OSLO, stream=True, tool_handlers={"get_weather": weather}) as stream:
        result = stream.get_final_result()
    eq((result.output_text, weather.calls), ("The tool returned: rain", [{"city": "Oslo"}]))

    async def run():
        async def answer(arguments):
            return f"snow in {arguments['city']}"

        async with AsyncOpenAI() as c:
            async with c.beta.agents.sessions.stream(result.session_id, input=ROME, tool_handlers={"get_weather": answer}) as stream:
                eq((await stream.get_final_result()).output_text, "The tool returned: snow in Rome")

    asyncio.run(run())


@on_each_cli
def without_a_handler(adapter):
    id = session(adapter)
    try:
        with sessions.stream(id, input=OSLO, tool_handlers={"get_time": Weather()}) as stream:
            stream.get_final_result()
        raise AssertionError("a turn that waits has a result")
    except AgentTurnResultError as e:
        eq((e.reason, [a.name for a in e.required_actions]), ("requires_action", ["get_weather"]))
        (asked,) = e.required_actions
    eq(whole(sessions.turns.retrieve(asked.turn_id, session_id=id)).status, "waiting")
    now = whole(sessions.retrieve(id))
    eq((now.status, now.required_actions), ("requires_action", [asked]))

    def answer(call=asked.call_id, turn=asked.turn_id, session=id, **more):
        result = {"type": "agent.session.input.tool_result", "call_id": call, "turn_id": turn, **({"success": True, "output": "fog"} | more)}
        return lambda c: c.beta.agents.sessions.events.create(session, events=[result])

    def asks_once(kind, name, call, code=None, **options):
        refused(kind, f"{name}_{adapter}", call, code, **options)

    unknown = asked.call_id[:-1] + ("0" if asked.call_id[-1] != "0" else "1")
    other = {"api_key": os.environ["OTHER_API_KEY"]}
    asks_once(openai.NotFoundError, "unknown_call", answer(call=unknown), "tool_call_not_found")
    asks_once(openai.NotFoundError, "odd_call", answer(call="x"), "tool_call_not_found")
    asks_once(openai.NotFoundError, "foreign_call", answer(), "session_not_found", **other)
    asks_once(openai.BadRequestError, "no_success", answer(success=None))
    asks_once(openai.BadRequestError, "odd_output", answer(output={"a": 1}))
    with sessions.events.stream(id) as stream:
        answer()(strict)
        for e in map(whole, stream):
            if e.type == "agent.session.idle":
                break
    asks_once(openai.ConflictError, "answered_twice", answer(), "tool_call_already_answered")
    eq(items(id, "message")[-1].content[0].text, "The tool returned: fog")


@on_each_cli
def responses_with_functions(adapter):
    class GetWeather(pydantic.BaseModel):
        """Tells of a city."""

        city: str

    tools = [openai.pydantic_function_tool(GetWeather, name="get_weather")]
    with responses.stream(model=adapter, input=f"[[say: I will look.]] {OSLO}", tools=tools) as stream:
        events = [whole(e) for e in stream]
        first = whole(stream.get_final_response())
    eq([i.type for i in first.output], ["message", "function_call"])
    call = first.output[-1]
    eq((call.name, call.status, call.parsed_arguments), ("get_weather", "completed", GetWeather(city="Oslo")))
    deltas = [e for e in events if e.type == "response.function_call_arguments.delta"]
    (done,) = [e for e in events if e.type == "response.function_call_arguments.done"]
    eq(("".join(e.delta for e in deltas), deltas[-1].snapshot, done.arguments, done.item_id), (call.arguments, call.arguments, call.arguments, call.id))

    def second(id=call.call_id, **more):
        answer = {"type": "function_call_output", "call_id": id, "output": "hail"} | more
        return lambda c: c.responses.parse(model=adapter, previous_response_id=first.id, tools=tools, input=[{k: v for k, v in answer.items() if v is not None}])

    eq(refused(openai.BadRequestError, f"no_output_{adapter}", second(output=None)).param, "input[0].output")
    refused(openai.NotFoundError, f"foreign_response_{adapter}", second(), api_key=os.environ["OTHER_API_KEY"])
    refused(openai.NotFoundError, f"no_such_call_{adapter}", second("call_" + "0" * 32), "tool_call_not_found")
    last = whole(second()(strict))
    eq((last.output_text, last.previous_response_id, last.conversation), ("The tool returned: hail", first.id, first.conversation))
    refused(openai.ConflictError, f"response_answered_twice_{adapter}", second(), "tool_call_already_answered")

    parsed = whole(responses.parse(model=adapter, previous_response_id=last.id, input=ROME, tools=tools))
    eq(parsed.output[-1].parsed_arguments, GetWeather(city="Rome"))
    eq(responses.cancel(parsed.id).status, "completed")  # the response has ended, its turn waits
    sessions.delete("agsess_" + parsed.conversation.id.removeprefix("conv_"))


def approval(decision):
    id = sessions.create(environment=WORKSPACE, agent={"model": "careful"}).id
    with sessions.events.stream(id) as stream:
        sessions.events.create(id, events=[{"type": "agent.session.input.message", "input": [{"role": "user", "content": [{"type": "input_text", "text": "[[write: a.txt text]] [[say: done]]"}]}]}])
        for e in map(whole, stream):
            if e.type == "agent.session.requires_action":
                (asked,) = e.session.required_actions
                eq((asked.type, asked.request.name), ("mcp_approval_request", "Write"))
                sessions.events.create(id, events=[{"type": "agent.session.input.mcp_approval_request_result", "request_id": asked.request_id, "response": {"type": "mcp_tool_call", "decision": decision}}])
            if e.type == "agent.session.idle":
                break
    return id


if "claude-code" in os.environ["ORACLE_CLIS"]:

    @case
    def approvals_are_answered():
        eq(len(list(sessions.artifacts.list(approval("approve")))), 1)
        eq(len(list(sessions.artifacts.list(approval("deny")))), 0)
