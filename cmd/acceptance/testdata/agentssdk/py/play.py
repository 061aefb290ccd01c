"""Plays cases, a few at a time, and prints what each saw as one line of JSON. Every
address that the process turns to is noted, so that its caller can tell whether the
SDK spoke to anything but the server."""

import asyncio
import dataclasses
import json
import sys
import time

from agents import ItemHelpers, flush_traces

AT_ONCE = 4
CASES = {}
hosts = set()


def heed(event, args):
    if event == "socket.connect" and isinstance(args[1], tuple):
        hosts.add(f"{args[1][0]}:{args[1][1]}")
    elif event == "socket.getaddrinfo":
        hosts.add(f"{args[0]}:{args[1]}")


sys.addaudithook(heed)


def case(play):
    CASES[play.__name__] = play
    return play


def plain(v):
    """A value as JSON has it."""
    if isinstance(v, list):
        return [plain(each) for each in v]
    if hasattr(v, "model_dump"):
        return v.model_dump()
    return dataclasses.asdict(v) if dataclasses.is_dataclass(v) else v


def facts(result):
    """What a program can learn of a run that has ended."""
    usage = result.context_wrapper.usage
    return {
        "final": plain(result.final_output),
        "items": [i.type for i in result.new_items],
        "texts": [ItemHelpers.text_message_output(i) for i in result.new_items if i.type == "message_output_item"],
        "outputs": [plain(i.output) for i in result.new_items if i.type == "tool_call_output_item"],
        "id": result.last_response_id,
        "agent": result.last_agent.name,
        "responses": len(result.raw_responses),
        "usage": {
            "requests": usage.requests,
            "input": usage.input_tokens,
            "output": usage.output_tokens,
            "total": usage.total_tokens,
            "cached": usage.input_tokens_details.cached_tokens,
            "reasoning": usage.output_tokens_details.reasoning_tokens,
        },
    }


async def streamed(result):
    """The facts of a streamed run, with what came on the way."""
    raw, named, agents, text = [], [], [], ""
    async for e in result.stream_events():
        if e.type == "raw_response_event":
            raw.append(e.data.type)
            if e.data.type == "response.output_text.delta":
                text += e.data.delta
        elif e.type == "run_item_stream_event":
            named.append(e.name)
        else:
            agents.append(e.new_agent.name)
    return {**facts(result), "raw": raw, "named": named, "agents": agents, "text": text}


def say(line):
    print(json.dumps(line), flush=True)


async def play(name, slots):
    async with slots:
        start = time.monotonic()
        line = {"case": name}
        try:
            line["facts"] = await CASES[name]()
        except Exception as e:
            line["raised"] = f"{type(e).__name__}: {e}"
        line["seconds"] = round(time.monotonic() - start, 1)
        say(line)


async def main(names):
    slots = asyncio.Semaphore(AT_ONCE)
    await asyncio.gather(*(play(n, slots) for n in names))
    flush_traces()  # what is not sent by now would be sent at exit
    say({"end": len(names), "known": sorted(CASES), "hosts": sorted(hosts)})
