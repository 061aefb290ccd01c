"""Hosted MCP tools through the official Python SDK, unchanged: only base_url is set.

OPENAI_BASE_URL and OPENAI_API_KEY say where and who; ORACLE_MODEL is the coding agent,
ORACLE_MCP_URL an MCP server that insists on the headers Authorization and X-Key with
the values ORACLE_MCP_TOKEN and ORACLE_MCP_KEY.
"""

import os

import openai
from check import case, eq, main, whole
from openai import OpenAI

client = OpenAI(_strict_response_validation=True)
model, url = os.environ["ORACLE_MODEL"], os.environ["ORACLE_MCP_URL"]
token, key = os.environ["ORACLE_MCP_TOKEN"], os.environ["ORACLE_MCP_KEY"]
sessions = client.beta.agents.sessions
PROMPT = '[[mcp: docs echo {"text":"hi"}]]'
TOOL = {"type": "mcp", "server_label": "docs", "server_url": url, "headers": {"X-Key": key}, "authorization": token, "require_approval": "never"}
AGENT_TOOL = {"type": "mcp", "server_label": "docs", "transport": {"type": "http", "server_url": url, "headers": {"X-Key": key}, "authorization": token}}


def called(items, text):
    calls = [i for i in items if i.type == "mcp_call"]
    eq([(c.server_label, c.name, c.status) for c in calls], [("docs", "echo", "completed")])
    assert text in str(calls[0].output), calls[0].output


def hidden(value):
    text = value.model_dump_json()
    assert token not in text and key not in text, text


@case
def responses_create():
    r = whole(client.responses.create(model=model, input=PROMPT, tools=[TOOL]))
    called(r.output, "echo: hi")
    eq([(t.type, t.server_label, t.server_url, t.headers, t.require_approval) for t in r.tools], [("mcp", "docs", url, {"X-Key": "[redacted]"}, "never")])
    hidden(r)
    hidden(whole(client.responses.retrieve(r.id)))


@case
def responses_stream():
    kinds = []
    with client.responses.stream(model=model, input=PROMPT, tools=[{**TOOL, "allowed_tools": ["echo"]}]) as stream:
        for e in stream:
            whole(e)
            kinds.append(e.type)
        called(stream.get_final_response().output, "echo: hi")
    assert "response.mcp_call.completed" in kinds, kinds


@case
def agents_session():
    agent = whole(client.beta.agents.create(model=model, tools=[{**AGENT_TOOL, "transport": {"type": "http", "server_url": url, "headers": {"X-Key": key, "Authorization": "Bearer " + token}}}]))
    hidden(agent)
    eq(agent.tools[0].transport.headers, {"X-Key": "[redacted]", "Authorization": "[redacted]"})
    for about in ({"agent_id": agent.id}, {"agent": {"model": model, "tools": [AGENT_TOOL]}}):
        session = whole(sessions.create(environment={"type": "self_hosted"}, **about))
        hidden(session)
        eq(session.agent.tools[0].server_label, "docs")
        with sessions.events.stream(session.id) as stream:
            sessions.events.create(session.id, events=[{"type": "agent.session.input.message", "input": [{"role": "user", "content": [{"type": "input_text", "text": PROMPT}]}]}])
            for e in stream:
                whole(e)
                if e.type == "agent.session.idle":
                    break
        called(list(sessions.items.list(session.id)), "echo: hi")


@case
def not_allowed():
    try:
        client.responses.create(model=model, input="hi", tools=[{**TOOL, "server_url": "https://elsewhere.example/"}])
    except openai.PermissionDeniedError as e:
        eq((e.code, e.param), ("mcp_not_allowed", "tools[0].server_url"))
    else:
        raise AssertionError("was not refused")


@case
def approval_on_an_adapter_without_prompts():
    try:
        client.responses.create(model=model, input="hi", tools=[{**TOOL, "require_approval": "always"}])
    except openai.BadRequestError as e:
        eq((e.code, e.param), ("agents.unsupported", "tools[0].require_approval"))
    else:
        raise AssertionError("was not refused")


main()
