"""Long lists, page by page. A part of oracle.py.

ORACLE_PAGES_URL is a server where each of these lists has ORACLE_PAGES objects or
more: saved agents, files, sessions, the turns of ORACLE_PAGES_SESSION, the items of
ORACLE_PAGES_TURN_SESSION and of its ORACLE_PAGES_TURN, the artifacts of
ORACLE_PAGES_ARTIFACTS, the items of ORACLE_PAGES_CONVERSATION.
"""

import asyncio
import os

from check import case, eq, whole
from openai import AsyncOpenAI, OpenAI

AT = {"base_url": os.environ.get("ORACLE_PAGES_URL", "") + "/v1"}
client = OpenAI(**AT, _strict_response_validation=True)
SESSION, TURN, TURN_SESSION, ARTIFACTS, TALK = (os.environ.get("ORACLE_PAGES_" + n, "") for n in ("SESSION", "TURN", "TURN_SESSION", "ARTIFACTS", "CONVERSATION"))

# A list that is paged: one entry here.
LISTS = {
    "agents": lambda c, **p: c.beta.agents.list(**p),
    "sessions": lambda c, **p: c.beta.agents.sessions.list(**p),
    "session_items": lambda c, **p: c.beta.agents.sessions.items.list(TURN_SESSION, **p),
    "session_turns": lambda c, **p: c.beta.agents.sessions.turns.list(SESSION, **p),
    "turn_items": lambda c, **p: c.beta.agents.sessions.turns.items.list(TURN, session_id=TURN_SESSION, **p),
    "artifacts": lambda c, **p: c.beta.agents.sessions.artifacts.list(ARTIFACTS, **p),
    "conversation_items": lambda c, **p: c.conversations.items.list(TALK, **p),
    "files": lambda c, **p: c.files.list(**p),
}


def turned(name, read):
    up = [whole(x).id for x in read(client, order="asc", limit=100)]
    assert len(up) >= int(os.environ["ORACLE_PAGES"]), f"{len(up)} of {name}"
    eq(len(set(up)), len(up))
    eq([x.id for x in read(client)], up[::-1])  # newest first, twenty a page, are the defaults
    first = read(client, order="asc", limit=97)
    eq([x.id for x in first.data], up[:97])
    assert first.has_next_page()
    second = whole(first.get_next_page())
    eq([x.id for x in second.data], up[97:194])
    rest = read(client, order="asc", after=up[-3])
    eq(([x.id for x in rest.data], rest.has_next_page()), (up[-2:], False))
    eq([x.id for x in read(client, order="desc", after=up[2])], up[1::-1])
    eq(list(read(client, order="asc", after=up[-1])), [])

    async def run():
        async with AsyncOpenAI(**AT) as c:
            eq([x.id async for x in read(c, order="desc", limit=100)], up[::-1])

    asyncio.run(run())


def add(name, read):
    def play():
        turned(name, read)

    play.__name__ = "pages_of_" + name
    case(play)


for _name, _read in LISTS.items():
    add(_name, _read)


@case
def pages_of_models():
    ids = [whole(m).id for m in client.models.list()]
    assert len(ids) > int(os.environ["ORACLE_PAGES"]) and len(set(ids)) == len(ids), len(ids)
