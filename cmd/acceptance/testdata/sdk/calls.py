"""What the SDK can call besides, each called once: what is not built is refused by
its name, and what has few words here is tested elsewhere. A part of oracle.py.
"""

import openai
from check import case, eq, has, refused, until, whole
from openai import OpenAI

strict = OpenAI(_strict_response_validation=True)
sessions = strict.beta.agents.sessions
WORKSPACE = {"type": "self_hosted"}
ZERO = "0" * 32
SESSION, SUBAGENT, ENV, TEMPLATE, AUTOMATION, VAULT = (p + ZERO for p in ("agsess_", "agent_", "env_", "tmpl_", "auto_", "vault_"))
TARGET = {"type": "new_session", "agent_id": "agent_" + ZERO, "input": "x"}
BEARER = {"type": "static_bearer", "token": "t", "mcp_server_url": "https://example.com"}

# A call of each operation that is not built.
UNBUILT = {
    "traces": lambda c: c.beta.agents.sessions.traces.list(SESSION),
    "environment_create": lambda c: c.beta.agents.environments.create(environment={"type": "openai_hosted"}),
    "environment_get": lambda c: c.beta.agents.environments.retrieve(ENV),
    "environment_list": lambda c: c.beta.agents.environments.list(),
    "environment_file_create": lambda c: c.beta.agents.environments.files.create(ENV, path="/a", type="inline", data="eA=="),
    "environment_file_list": lambda c: c.beta.agents.environments.files.list(ENV),
    "template_create": lambda c: c.beta.agents.environments.templates.create(name="x"),
    "template_get": lambda c: c.beta.agents.environments.templates.retrieve(TEMPLATE),
    "template_update": lambda c: c.beta.agents.environments.templates.update(TEMPLATE, name="x"),
    "template_list": lambda c: c.beta.agents.environments.templates.list(),
    "template_delete": lambda c: c.beta.agents.environments.templates.delete(TEMPLATE),
    "vault_create": lambda c: c.beta.agents.vaults.create(name="x"),
    "vault_get": lambda c: c.beta.agents.vaults.retrieve(VAULT),
    "vault_update": lambda c: c.beta.agents.vaults.update(VAULT, name="x"),
    "vault_list": lambda c: c.beta.agents.vaults.list(),
    "vault_delete": lambda c: c.beta.agents.vaults.delete(VAULT),
    "credential_create": lambda c: c.beta.agents.vaults.credentials.create(VAULT, name="x", auth=BEARER),
    "credential_get": lambda c: c.beta.agents.vaults.credentials.retrieve("cred_" + ZERO, vault_id=VAULT),
    "credential_update": lambda c: c.beta.agents.vaults.credentials.update("cred_" + ZERO, vault_id=VAULT, metadata={}),
    "credential_list": lambda c: c.beta.agents.vaults.credentials.list(VAULT),
    "credential_delete": lambda c: c.beta.agents.vaults.credentials.delete("cred_" + ZERO, vault_id=VAULT),
    "compact": lambda c: c.responses.compact(model="codex", input="x"),
    "count": lambda c: c.responses.input_tokens.count(model="codex", input="x"),
    "beta_compact": lambda c: c.beta.responses.compact(model="codex", input="x"),
    "beta_count": lambda c: c.beta.responses.input_tokens.count(model="codex", input="x"),
    "model_delete": lambda c: c.models.delete("codex"),
    "hook_create": lambda c: c.webhooks.create(name="x", url="https://example.com", event_types=["response.completed"]),
    "hook_get": lambda c: c.webhooks.retrieve("we_" + ZERO),
    "hook_update": lambda c: c.webhooks.update("we_" + ZERO, name="x"),
    "hook_list": lambda c: c.webhooks.list(),
    "hook_delete": lambda c: c.webhooks.delete("we_" + ZERO),
    "hook_rotate": lambda c: c.webhooks.rotate_secret("we_" + ZERO),
    "hook_test": lambda c: c.webhooks.test("we_" + ZERO, event_type="response.completed"),
    "hook_types": lambda c: c.webhooks.event_types.list(),
}
if hasattr(strict.beta.agents, "automations"):
    UNBUILT |= {
        "automation_create": lambda c: c.beta.agents.automations.create(name="x", type="once", run_at=1, target=TARGET),
        "automation_get": lambda c: c.beta.agents.automations.retrieve(AUTOMATION),
        "automation_update": lambda c: c.beta.agents.automations.update(AUTOMATION, name="x"),
        "automation_list": lambda c: c.beta.agents.automations.list(),
        "automation_delete": lambda c: c.beta.agents.automations.delete(AUTOMATION),
        "automation_pause": lambda c: c.beta.agents.automations.pause(AUTOMATION),
        "automation_resume": lambda c: c.beta.agents.automations.resume(AUTOMATION),
        "invocation_create": lambda c: c.beta.agents.automations.invocations.create(AUTOMATION),
        "invocation_get": lambda c: c.beta.agents.automations.invocations.retrieve("inv_" + ZERO, automation_id=AUTOMATION),
        "invocation_list": lambda c: c.beta.agents.automations.invocations.list(AUTOMATION),
    }


@case
def refused_501():
    for name, call in UNBUILT.items():
        refused(openai.InternalServerError, "unbuilt_" + name, call, "operation_unavailable")


@case
def refused_404_below_a_session():
    s = sessions.create(environment=WORKSPACE, agent={"model": "codex"}).id
    turn = {"session_id": s, "subagent_id": SUBAGENT}
    for name, call in {
        "list": lambda c: c.beta.agents.sessions.subagents.list(SESSION),
        "get": lambda c: c.beta.agents.sessions.subagents.retrieve(SUBAGENT, session_id=s),
        "items": lambda c: c.beta.agents.sessions.subagents.items.list(SUBAGENT, session_id=s),
        "turns": lambda c: c.beta.agents.sessions.subagents.turns.list(SUBAGENT, session_id=s),
        "turn": lambda c: c.beta.agents.sessions.subagents.turns.retrieve("turn_" + ZERO, **turn),
        "turn_items": lambda c: c.beta.agents.sessions.subagents.turns.items.list("turn_" + ZERO, **turn),
        "artifact": lambda c: c.beta.agents.sessions.artifacts.retrieve("art_" + ZERO, session_id=s),
        "content": lambda c: c.beta.agents.sessions.artifacts.content("art_" + ZERO, session_id=s),
        "artifact_gone": lambda c: c.beta.agents.sessions.artifacts.delete("art_" + ZERO, session_id=s),
    }.items():
        refused(openai.NotFoundError, "below_" + name, call)
    eq((list(sessions.subagents.list(s)), list(sessions.artifacts.list(s))), ([], []))


@case
def functions_that_an_adapter_cannot_call():
    function = {"type": "function", "name": "f", "description": "", "parameters": {"type": "object", "properties": {}}}
    saved = strict.beta.agents.create(model="echo", tools=[function]).id  # who runs it is known when it is used
    for name, call in {
        "response": lambda c: c.responses.create(model="echo", input="x", tools=[{**function, "strict": False}]),
        "session": lambda c: c.beta.agents.sessions.create(environment=WORKSPACE, agent={"model": "echo", "tools": [function]}),
        "saved": lambda c: c.beta.agents.sessions.create(environment=WORKSPACE, agent_id=saved),
    }.items():
        refused(openai.BadRequestError, "functions_" + name, call, "agents.functions_unsupported")


@case
def calls_that_nobody_waits_for():
    r = strict.responses.create(model="codex", input="x")
    session, turn = "agsess_" + r.conversation.id.removeprefix("conv_"), "turn_" + r.id.removeprefix("resp_")
    said = {"type": "agent.session.input.tool_result", "call_id": "call_" + ZERO, "turn_id": turn, "success": True, "output": "x"}
    decided = {"type": "agent.session.input.mcp_approval_request_result", "request_id": "item_" + ZERO, "response": {"type": "mcp_tool_call", "decision": "approve"}}
    for name, event in {"result": said, "decision": decided}.items():
        refused(openai.NotFoundError, "nobody_" + name, lambda c: c.beta.agents.sessions.events.create(session, events=[event]), "tool_call_not_found")
    output = {"type": "function_call_output", "call_id": "call_" + ZERO, "output": "x"}
    refused(openai.NotFoundError, "nobody_output", lambda c: c.responses.create(model="codex", previous_response_id=r.id, input=[output]), "tool_call_not_found")


@case
def spend_control_is_kept():
    if not hasattr(openai.types.beta.AgentSession, "model_fields") or "spend_control" not in openai.types.beta.AgentSession.model_fields:
        return
    s = whole(sessions.create(environment=WORKSPACE, agent={"model": "claude-code"}, spend_control={"limit": 200}))
    eq((s.spend_control.limit, s.spend_control.consumed), (200, 0))
    eq(whole(sessions.update(s.id, spend_control={"limit": 500})).spend_control.limit, 500)


@case
def beta_responses():
    beta = strict.beta.responses
    r = beta.create(model="codex", input="hello", background=True)
    until(lambda: beta.retrieve(r.id).status == "completed")
    eq([i.type for i in beta.input_items.list(r.id)], ["message"])
    eq(beta.cancel(r.id).status, "completed")
    beta.delete(r.id)
    has(refused(openai.NotFoundError, "beta_gone", lambda c: c.beta.responses.retrieve(r.id)).message, r.id)
