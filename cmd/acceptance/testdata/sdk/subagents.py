"""Subagents of a real CLI, read through the official Python SDK.

A part of real.py: the agents are the real CLIs on the scripted model.
"""

from check import case, eq, has, main, whole
from openai import OpenAI

strict = OpenAI(_strict_response_validation=True)
sessions = strict.beta.agents.sessions
subagents = sessions.subagents


def delegated(adapter, model, prompt):
    """A session's events, each checked, and what they say in common."""
    with sessions.create(environment={"type": "self_hosted"}, agent={"model": model}, input=prompt, stream=True, extra_headers={"X-ABX-Adapter": adapter}) as stream:
        events = [whole(e) for e in stream]
    session = events[0].session.id
    types = [e.type for e in events]
    eq((types[-2], types[-1]), ("agent.session.turn.completed", "agent.session.idle"))
    turns = [e.turn for e in events if e.type == "agent.session.turn.created"]
    eq([t.subagent_id for t in turns], [None])  # the one that the SDK's helpers select
    eq([t.id for t in sessions.turns.list(session)], [turns[0].id])
    ids = [e.subagent.id for e in events if e.type == "agent.session.subagent.created"]
    eq(sorted(e.subagent.id for e in events if e.type == "agent.session.subagent.closed"), sorted(ids))
    eq([whole(s).id for s in subagents.list(session, order="asc")], ids)
    eq([s.id for s in subagents.list(session, limit=1)], ids[::-1])  # page by page
    done = [e.item for e in events if e.type == "agent.session.turn.item.done"]
    eq([i.id for i in done], [i.id for i in sessions.turns.items.list(turns[0].id, session_id=session, order="asc")][1:])
    return session, events, ids, done


def read(session, subagent):
    """A subagent with its only turn and its items, which are the turn's."""
    s = whole(subagents.retrieve(subagent, session_id=session))
    (turn,) = [whole(t) for t in subagents.turns.list(subagent, session_id=session)]
    eq(whole(subagents.turns.retrieve(turn.id, session_id=session, subagent_id=subagent)), turn)
    items = [whole(i) for i in subagents.items.list(subagent, session_id=session, order="asc")]
    eq([i.id for i in subagents.turns.items.list(turn.id, session_id=session, subagent_id=subagent, order="asc", limit=1)], [i.id for i in items])
    eq({i.turn_id for i in items}, {turn.id})
    eq((turn.subagent_id, turn.session_id), (subagent, session))
    return s, turn, items


def text(item):
    return "".join(c.text for c in item.content)


@case
def subagents_of_claude():
    prompt = "Look around. [[think: hm]] [[say: I look.]] [[shell: echo from a subagent; exit 3]] [[say: I dig.]] [[task: Deeper. [[say: deep is done]]]] [[say: child is done]]"
    session, events, ids, done = delegated("claude-code", "claude-code", f"[[say: I delegate.]] [[task: {prompt}]] [[say: parent is done]]")
    eq(len(ids), 2)
    s, turn, items = read(session, ids[0])
    eq((s.status, s.name, text_of(s.instructions), turn.status), ("closed", "general-purpose", prompt, "completed"))
    assert s.closed_at >= s.opened_at and turn.completed_at, (s, turn)
    eq([i.type for i in items], ["message", "reasoning", "message", "command_execution", "message", "mcp_call", "message"])
    eq((items[0].role, text(items[0])), ("user", prompt))
    eq((items[3].output.strip(), items[3].exit_code, items[3].status), ("from a subagent", 3, "failed"))
    eq((text(items[-1]), items[-1].phase, text(items[2]), items[2].phase), ("child is done", "final_answer", "I look.", "commentary"))
    inner, _, theirs = read(session, ids[1])
    eq((inner.parent_agent_id, [text(i) for i in theirs]), (ids[0], ["Deeper. [[say: deep is done]]", "deep is done"]))
    # Of all that the session's own items have the call only, and its usage not twice:
    # of a subagent's message the CLI tells the first token.
    (call,) = [i for i in done if i.type == "mcp_call"]
    eq((call.name, call.status, call.output), ("subagent", "completed", "child is done"))
    assert all("child" not in text(i) and "deep" not in text(i) for i in done if i.type == "message"), done
    eq((text(done[-1]), done[-1].phase), ("parent is done", "final_answer"))
    answers = [i for i in done if i.type == "message"]
    eq(events[-2].turn.usage.output_tokens, 30 * len(answers) + 4)


def text_of(content):
    return "".join(c.text for c in content)


@case
def subagents_of_codex():
    prompt = "Look. [[shell: echo from a subagent]] [[say: child is done]]"
    session, _, ids, done = delegated("codex", "a-model-that-codex-offers-subagents", f"[[say: I delegate.]] [[task: {prompt}]] [[join]] [[say: parent is done]]")
    eq(len(ids), 1)
    s, turn, items = read(session, ids[0])
    eq((s.status, text_of(s.instructions), turn.status), ("closed", prompt, "completed"))
    eq([text(i) for i in items], [prompt, "child is done"])  # Codex tells no more of it
    call, wait = [i for i in done if i.type == "mcp_call"]
    eq((call.name, call.output, wait.name), ("subagent", "child is done", "wait"))
    has(text(done[-1]), "parent is done")


@case
def subagents_switched_off():
    agent = {"model": "claude-code", "multi_agent": {"enabled": False}}
    with sessions.create(environment={"type": "self_hosted"}, agent=agent, input="[[task: [[say: x]]]] [[say: alone]]", stream=True) as stream:
        events = [whole(e) for e in stream]
    session = events[0].session.id
    (s,) = subagents.list(session)  # the model may still ask, and is told no
    (turn,) = [whole(t) for t in subagents.turns.list(s.id, session_id=session)]
    eq(turn.status, "failed")
    has(turn.error.message, "disabled")
    eq(whole(sessions.retrieve(session)).agent.multi_agent.enabled, False)


if __name__ == "__main__":
    main()
