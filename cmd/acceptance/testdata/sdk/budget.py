"""A caller's budget for a session, with the Python SDK that types it."""

import openai
from openai import OpenAI

sessions = OpenAI(max_retries=3).beta.agents.sessions


def message(text):
    return {"type": "agent.session.input.message", "input": [{"type": "message", "role": "user", "content": text}]}


session = sessions.create(agent={"model": "claude-code"}, environment={"type": "self_hosted"}, spend_control={"limit": 2})
assert (session.spend_control.limit, session.spend_control.consumed) == (2, 0), session

with sessions.events.stream(session.id) as stream:
    sessions.events.create(session.id, events=[message("[[use: 4000 600]] [[say: the first]]"), message("[[say: the second]]")])
    for event in stream:
        assert event.type != "agent.session.idle"
        if event.type == "agent.session.budget_reached":
            break

held = sessions.retrieve(session.id)
assert held.status == "budget_reached" and held.spend_control.consumed == 2, held
try:
    sessions.events.create(session.id, events=[message("more")])
    raise AssertionError("further input was taken")
except openai.ConflictError as e:
    assert e.code == "budget_reached" and "spend_control.limit" in str(e), e

sessions.update(session.id, spend_control={"limit": 500})
with sessions.events.stream(session.id, extra_query={"after": "0"}) as stream:
    for event in stream:
        if event.type == "agent.session.idle":
            break
turns = sessions.turns.list(session.id, order="asc").data
assert [t.status for t in turns] == ["failed", "completed"], turns
print("held")
