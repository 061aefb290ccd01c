// What the SDK can call besides, each called once. A part of oracle.mjs, the twin of
// calls.py.
import { all, eq, OpenAI, refused, until, whole } from './check.mjs';

const client = new OpenAI();
const { sessions } = client.beta.agents;
const WORKSPACE = { type: 'self_hosted' };
const ZERO = '0'.repeat(32);
const [SESSION, SUBAGENT, ENV, TEMPLATE, AUTOMATION, VAULT, HOOK] = ['agsess_', 'agent_', 'env_', 'tmpl_', 'auto_', 'vault_', 'we_'].map((p) => p + ZERO);
const target = { type: 'new_session', agent_id: 'agent_' + ZERO, input: 'x' };

// A call of each operation that is not built.
const unbuilt = {
  traces: (c) => c.beta.agents.sessions.traces.list(SESSION),
  environment_create: (c) => c.beta.agents.environments.create({ environment: { type: 'openai_hosted' } }),
  environment_get: (c) => c.beta.agents.environments.retrieve(ENV),
  environment_list: (c) => c.beta.agents.environments.list(),
  environment_file_create: (c) => c.beta.agents.environments.files.create(ENV, { path: '/a', type: 'inline', data: 'eA==' }),
  environment_file_list: (c) => c.beta.agents.environments.files.list(ENV),
  template_create: (c) => c.beta.agents.environments.templates.create({ name: 'x' }),
  template_get: (c) => c.beta.agents.environments.templates.retrieve(TEMPLATE),
  template_update: (c) => c.beta.agents.environments.templates.update(TEMPLATE, { name: 'x' }),
  template_list: (c) => c.beta.agents.environments.templates.list(),
  template_delete: (c) => c.beta.agents.environments.templates.delete(TEMPLATE),
  vault_create: (c) => c.beta.agents.vaults.create({ name: 'x' }),
  vault_get: (c) => c.beta.agents.vaults.retrieve(VAULT),
  vault_update: (c) => c.beta.agents.vaults.update(VAULT, { name: 'x' }),
  vault_list: (c) => c.beta.agents.vaults.list(),
  vault_delete: (c) => c.beta.agents.vaults.delete(VAULT),
  credential_create: (c) => c.beta.agents.vaults.credentials.create(VAULT, { name: 'x', auth: { type: 'static_bearer', token: 't', mcp_server_url: 'https://example.com' } }),
  credential_get: (c) => c.beta.agents.vaults.credentials.retrieve('cred_' + ZERO, { vault_id: VAULT }),
  credential_update: (c) => c.beta.agents.vaults.credentials.update('cred_' + ZERO, { vault_id: VAULT, metadata: {} }),
  credential_list: (c) => c.beta.agents.vaults.credentials.list(VAULT),
  credential_delete: (c) => c.beta.agents.vaults.credentials.delete('cred_' + ZERO, { vault_id: VAULT }),
  automation_create: (c) => c.beta.agents.automations.create({ name: 'x', type: 'once', run_at: 1, target }),
  automation_get: (c) => c.beta.agents.automations.retrieve(AUTOMATION),
  automation_update: (c) => c.beta.agents.automations.update(AUTOMATION, { name: 'x' }),
  automation_list: (c) => c.beta.agents.automations.list(),
  automation_delete: (c) => c.beta.agents.automations.delete(AUTOMATION),
  automation_pause: (c) => c.beta.agents.automations.pause(AUTOMATION),
  automation_resume: (c) => c.beta.agents.automations.resume(AUTOMATION),
  invocation_create: (c) => c.beta.agents.automations.invocations.create(AUTOMATION),
  invocation_get: (c) => c.beta.agents.automations.invocations.retrieve('inv_' + ZERO, { automation_id: AUTOMATION }),
  invocation_list: (c) => c.beta.agents.automations.invocations.list(AUTOMATION),
  compact: (c) => c.responses.compact({ model: 'codex', input: 'x' }),
  count: (c) => c.responses.inputTokens.count({ model: 'codex', input: 'x' }),
  beta_compact: (c) => c.beta.responses.compact({ model: 'codex', input: 'x' }),
  beta_count: (c) => c.beta.responses.inputTokens.count({ model: 'codex', input: 'x' }),
  model_delete: (c) => c.models.delete('codex'),
  hook_create: (c) => c.webhooks.create({ name: 'x', url: 'https://example.com', event_types: ['response.completed'] }),
  hook_get: (c) => c.webhooks.retrieve(HOOK),
  hook_update: (c) => c.webhooks.update(HOOK, { name: 'x' }),
  hook_list: (c) => c.webhooks.list(),
  hook_delete: (c) => c.webhooks.delete(HOOK),
  hook_rotate: (c) => c.webhooks.rotateSecret(HOOK),
  hook_test: (c) => c.webhooks.test(HOOK, { event_type: 'response.completed' }),
  hook_types: (c) => c.webhooks.eventTypes.list(),
};

export const calls = {
  async refused_501() {
    for (const [name, call] of Object.entries(unbuilt)) await refused(OpenAI.InternalServerError, `unbuilt_${name}`, call, 'operation_unavailable');
  },
  async refused_404_below_a_session() {
    const { id } = await sessions.create({ environment: WORKSPACE, agent: { model: 'codex' } });
    const at = { session_id: id, subagent_id: SUBAGENT };
    const missing = {
      list: (c) => c.beta.agents.sessions.subagents.list(SESSION),
      get: (c) => c.beta.agents.sessions.subagents.retrieve(SUBAGENT, { session_id: id }),
      items: (c) => c.beta.agents.sessions.subagents.items.list(SUBAGENT, { session_id: id }),
      turns: (c) => c.beta.agents.sessions.subagents.turns.list(SUBAGENT, { session_id: id }),
      turn: (c) => c.beta.agents.sessions.subagents.turns.retrieve('turn_' + ZERO, at),
      turn_items: (c) => c.beta.agents.sessions.subagents.turns.items.list('turn_' + ZERO, at),
      artifact: (c) => c.beta.agents.sessions.artifacts.retrieve('art_' + ZERO, { session_id: id }),
      content: (c) => c.beta.agents.sessions.artifacts.content('art_' + ZERO, { session_id: id }),
      artifact_gone: (c) => c.beta.agents.sessions.artifacts.delete('art_' + ZERO, { session_id: id }),
    };
    for (const [name, call] of Object.entries(missing)) await refused(OpenAI.NotFoundError, `below_${name}`, call);
    eq([await all(sessions.subagents.list(id)), await all(sessions.artifacts.list(id))], [[], []]);
  },
  async functions_that_an_adapter_cannot_call() {
    const tools = [{ type: 'function', name: 'f', description: '', parameters: { type: 'object', properties: {} } }];
    const saved = await client.beta.agents.create({ model: 'echo', tools }); // who runs it is known when it is used
    const odd = {
      response: (c) => c.responses.create({ model: 'echo', input: 'x', tools: [{ ...tools[0], strict: false }] }),
      session: (c) => c.beta.agents.sessions.create({ environment: WORKSPACE, agent: { model: 'echo', tools } }),
      saved: (c) => c.beta.agents.sessions.create({ environment: WORKSPACE, agent_id: saved.id }),
    };
    for (const [name, call] of Object.entries(odd)) await refused(OpenAI.BadRequestError, `functions_${name}`, call, 'agents.functions_unsupported');
  },
  async calls_that_nobody_waits_for() {
    const r = await client.responses.create({ model: 'codex', input: 'x' });
    const session = 'agsess_' + r.conversation.id.slice('conv_'.length);
    const events = {
      result: { type: 'agent.session.input.tool_result', call_id: 'call_' + ZERO, turn_id: 'turn_' + r.id.slice('resp_'.length), success: true, output: 'x' },
      decision: { type: 'agent.session.input.mcp_approval_request_result', request_id: 'item_' + ZERO, response: { type: 'mcp_tool_call', decision: 'approve' } },
    };
    for (const [name, event] of Object.entries(events)) {
      await refused(OpenAI.NotFoundError, `nobody_${name}`, (c) => c.beta.agents.sessions.events.create(session, { events: [event] }), 'tool_call_not_found');
    }
    const input = [{ type: 'function_call_output', call_id: 'call_' + ZERO, output: 'x' }];
    await refused(OpenAI.NotFoundError, 'nobody_output', (c) => c.responses.create({ model: 'codex', previous_response_id: r.id, input }), 'tool_call_not_found');
  },
  async spend_control_is_kept() {
    const s = whole(await sessions.create({ environment: WORKSPACE, agent: { model: 'claude-code' }, spend_control: { limit: 200 } }), 'AgentSession');
    eq(s.spend_control, { limit: 200, consumed: 0 });
    eq((await sessions.update(s.id, { spend_control: { limit: 500 } })).spend_control.limit, 500);
  },
  async beta_responses() {
    const beta = client.beta.responses;
    const r = await beta.create({ model: 'codex', input: 'hello', background: true });
    await until(async () => (await beta.retrieve(r.id)).status === 'completed');
    eq((await all(beta.inputItems.list(r.id))).map((i) => i.type), ['message']);
    eq((await beta.cancel(r.id)).status, 'completed');
    await beta.delete(r.id);
    await refused(OpenAI.NotFoundError, 'beta_gone', (c) => c.beta.responses.retrieve(r.id));
  },
};
