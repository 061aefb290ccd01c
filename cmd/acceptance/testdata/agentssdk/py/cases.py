"""The OpenAI Agents SDK for Python, used the way its documentation does, on a server
that OPENAI_BASE_URL names. Behind it works a coding agent whose model is scripted:
the directives in the prompts are those of fakes/mind. Arguments: the cases to play."""

import asyncio
import sys

import openai
from agents import (
    Agent,
    MaxTurnsExceeded,
    ModelBehaviorError,
    ModelSettings,
    OpenAIConversationsSession,
    OpenAIResponsesModel,
    Runner,
    SQLiteSession,
    ToolOutputText,
    function_tool,
    set_tracing_disabled,
)
from openai.types.shared import Reasoning
from play import case, facts, main, streamed
from pydantic import BaseModel

set_tracing_disabled(True)

REMEMBER = "Please remember the word heron."
RECALL = "What did I ask you to remember?"
WEATHER = '[[call: get_weather {"city": "Oslo"}]]'


class City(BaseModel):
    name: str
    people: int
    sights: list[str]


@function_tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


@function_tool
async def get_time(city: str) -> str:
    """The time in a city."""
    return f"noon in {city}"


@function_tool
def get_parts(city: str) -> list[ToolOutputText]:
    """The weather of a city in parts."""
    return [ToolOutputText(text="sunny"), ToolOutputText(text=f"in {city}")]


@function_tool
def fail(text: str) -> str:
    """Raises."""
    raise RuntimeError(text)


def agent(**more):
    return Agent(**{"name": "helper", "model": "codex", "instructions": "Speak like a heron in python.", **more})


# -- what needs no function tools


@case
async def plain():
    return [facts(await Runner.run(agent(), REMEMBER))]


@case
async def plain_streamed():
    return [await streamed(Runner.run_streamed(agent(), "[[think: let me see]] [[say: one two three]]"))]


@case
async def own_tools():
    """The coding agent's own tools are shown, and not executed by the SDK."""
    return [facts(await Runner.run(agent(), "[[say: I will run it.]] [[shell: echo from a shell]]"))]


@case
async def own_tools_streamed():
    return [await streamed(Runner.run_streamed(agent(), "[[say: I will run it.]] [[shell: echo from a shell]]"))]


@case
async def structured():
    result = await Runner.run(agent(output_type=City), "[[json]]")
    assert isinstance(result.final_output, City)
    return [facts(result)]


@case
async def structured_streamed():
    return [await streamed(Runner.run_streamed(agent(output_type=City), "[[say: I will look.]] [[shell: true]] [[json]]"))]


@case
async def previous_response():
    first = await Runner.run(agent(), REMEMBER)
    second = await Runner.run(agent(), RECALL, previous_response_id=first.last_response_id)
    third = Runner.run_streamed(agent(), RECALL, previous_response_id=second.last_response_id)
    return [facts(first), facts(second), await streamed(third)]


@case
async def previous_response_auto():
    first = await Runner.run(agent(), REMEMBER, auto_previous_response_id=True)
    second = await Runner.run(agent(), RECALL, previous_response_id=first.last_response_id, auto_previous_response_id=True)
    return [facts(first), facts(second)]


@case
async def conversation():
    first = await Runner.run(agent(), REMEMBER)
    response = await openai.AsyncOpenAI().responses.retrieve(first.last_response_id)
    second = await Runner.run(agent(), RECALL, conversation_id=response.conversation.id)
    return [facts(first), facts(second)]


@case
async def transcript():
    first = await Runner.run(agent(), REMEMBER + " [[think: hm]] [[shell: echo from a shell]]")
    heard = first.to_input_list() + [{"role": "user", "content": RECALL}]
    return [facts(first), facts(await Runner.run(agent(), heard))]


@case
async def local_memory():
    session = SQLiteSession("local")
    first = await Runner.run(agent(), REMEMBER, session=session)
    return [facts(first), facts(await Runner.run(agent(), RECALL, session=session))]


@case
async def settings():
    """Everything that ModelSettings has is taken, and what has no effect is named."""
    ignored = []

    async def note(response):
        ignored.append(response.headers.get("x-agent-sandbox-ignored-params"))

    client = openai.AsyncOpenAI(http_client=openai.DefaultAsyncHttpxClient(event_hooks={"response": [note]}))
    everything = ModelSettings(
        temperature=0.5,
        top_p=0.5,
        tool_choice="auto",
        parallel_tool_calls=True,
        truncation="auto",
        max_tokens=1000,
        reasoning=Reasoning(effort="low", summary="auto"),
        verbosity="low",
        metadata={"team": "blue"},
        store=True,
        prompt_cache_retention="24h",
        prompt_cache_options={"mode": "implicit"},
        response_include=["reasoning.encrypted_content"],
        top_logprobs=2,
        context_management=[{"type": "compaction", "compact_threshold": 100000}],
        extra_args={"service_tier": "default", "safety_identifier": "someone", "prompt_cache_key": "mine"},
        extra_headers={"X-Extra": "1"},
    )
    model = OpenAIResponsesModel(model="codex", openai_client=client)
    result = await Runner.run(agent(model=model, model_settings=everything), "[[say: set]]")
    return [facts(result) | {"ignored": (ignored[0] or "").split(",")}]


@case
async def refused():
    """What goes wrong is raised as the SDK's own errors."""

    async def raised(coroutine):
        try:
            await coroutine
        except (openai.APIStatusError, ModelBehaviorError, MaxTurnsExceeded) as e:
            return type(e).__name__
        return "nothing"

    return [
        {
            "raised": list(
                await asyncio.gather(
                    raised(Runner.run(agent(), "hello", previous_response_id="resp_" + "0" * 32)),
                    raised(Runner.run(agent(), "[[error: 401]]")),
                    raised(Runner.run(agent(output_type=City), "[[say: no JSON]]")),
                )
            )
        }
    ]


# -- function tools


@case
async def tool():
    return [facts(await Runner.run(agent(tools=[get_weather]), WEATHER))]


@case
async def tool_streamed():
    return [await streamed(Runner.run_streamed(agent(tools=[get_weather]), "[[say: Let me look.]] " + WEATHER))]


@case
async def tools_parallel():
    prompt = WEATHER + ' [[and]] [[call: get_time {"city": "Rome"}]]'
    return [facts(await Runner.run(agent(tools=[get_weather, get_time]), prompt))]


@case
async def tools_in_turn():
    prompt = WEATHER + ' [[call: get_time {"city": "Rome"}]]'
    return [facts(await Runner.run(agent(tools=[get_weather, get_time]), prompt))]


@case
async def tool_fails():
    return [facts(await Runner.run(agent(tools=[fail]), '[[call: fail {"text": "no"}]]'))]


@case
async def tool_parts():
    return [facts(await Runner.run(agent(tools=[get_parts]), '[[call: get_parts {"city": "Oslo"}]]'))]


@case
async def tool_dynamic():
    """Instructions made anew for each step of the loop are no handoff."""
    steps = []

    def instructions(context, agent):
        steps.append(agent.name)
        return f"This is step {len(steps)}."

    return [facts(await Runner.run(agent(tools=[get_weather], instructions=instructions), WEATHER))]


@case
async def tool_beside_own():
    """A function tool between the coding agent's own."""
    return [facts(await Runner.run(agent(tools=[get_weather]), "[[shell: echo one]] " + WEATHER + " [[shell: echo two]]"))]


@case
async def tool_structured():
    return [facts(await Runner.run(agent(tools=[get_weather], output_type=City), WEATHER + " [[json]]"))]


@case
async def tool_previous_response():
    """Only what is new is sent, in each step of the loop."""
    a = agent(tools=[get_weather])
    first = await Runner.run(a, REMEMBER + " " + WEATHER, auto_previous_response_id=True)
    second = await Runner.run(a, RECALL, previous_response_id=first.last_response_id, auto_previous_response_id=True)
    return [facts(first), facts(second)]


@case
async def tool_transcript():
    a = agent(tools=[get_weather])
    first = await Runner.run(a, REMEMBER + " " + WEATHER)
    second = await Runner.run(a, first.to_input_list() + [{"role": "user", "content": RECALL}])
    return [facts(first), facts(second)]


@case
async def tool_conversation():
    a = agent(tools=[get_weather])
    first = await Runner.run(a, REMEMBER)
    response = await openai.AsyncOpenAI().responses.retrieve(first.last_response_id)
    return [facts(first), facts(await Runner.run(a, WEATHER, conversation_id=response.conversation.id))]


@case
async def tool_required():
    a = agent(tools=[get_weather], model_settings=ModelSettings(tool_choice="required", parallel_tool_calls=False))
    named = agent(tools=[get_weather], model_settings=ModelSettings(tool_choice="get_weather"))
    return [facts(await Runner.run(a, WEATHER)), facts(await Runner.run(named, WEATHER))]


@case
async def tool_none():
    """A model that may call no tool is not offered any."""
    a = agent(tools=[get_weather], model_settings=ModelSettings(tool_choice="none"))
    return [facts(await Runner.run(a, '[[try: get_weather {"city": "Oslo"}]] [[say: without]]'))]


@case
async def agent_as_tool():
    expert = agent(name="expert").as_tool(tool_name="ask_expert", tool_description="Asks the expert.")
    return [facts(await Runner.run(agent(tools=[expert]), '[[call: ask_expert {"input": "[[say: forty-two]]"}]]'))]


# -- handoffs

HANDOFF = "How much is it? [[try: transfer_to_expert {}]] [[say: forty-two]]"


def triage():
    expert = agent(name="expert", instructions="You know numbers.", handoff_description="Knows numbers.")
    return agent(name="triage", instructions="Hand over to the expert.", handoffs=[expert])


@case
async def handoff():
    return [facts(await Runner.run(triage(), HANDOFF))]


@case
async def handoff_streamed():
    return [await streamed(Runner.run_streamed(triage(), HANDOFF))]


@case
async def handoff_transcript():
    """The other agent remembers what was said before, and goes on."""
    first = await Runner.run(triage(), REMEMBER + " [[try: transfer_to_expert {}]] [[say: yes]]")
    heard = first.to_input_list() + [{"role": "user", "content": RECALL}]
    return [facts(first), facts(await Runner.run(first.last_agent, heard))]


# -- memory that the server keeps


@case
async def server_memory():
    session = OpenAIConversationsSession()
    first = await Runner.run(agent(), REMEMBER, session=session)
    second = await streamed(Runner.run_streamed(agent(), RECALL, session=session))
    roles = [i.get("role", i["type"]) for i in await session.get_items()]
    newest = [i["role"] for i in await session.get_items(limit=1)]
    popped = await session.pop_item()
    left = len(await session.get_items())
    await session.clear_session()
    return [facts(first), second, {"roles": roles, "newest": newest, "popped": popped["role"], "left": left}]


@case
async def server_memory_tool():
    session = OpenAIConversationsSession()
    a = agent(tools=[get_weather])
    first = await Runner.run(a, REMEMBER + " " + WEATHER, session=session)
    second = await Runner.run(a, RECALL, session=session)
    return [facts(first), facts(second), {"roles": [i.get("role", i["type"]) for i in await session.get_items()]}]


asyncio.run(main(sys.argv[1:]))
