// The official JavaScript SDK against a running server, unchanged: only the base URL
// is set. The twin of oracle.py.
import { calls } from './calls.mjs';
import { all, counted, eq, event, has, OpenAI, refused, requestsOf, run, until, whole } from './check.mjs';
import { conversationCases } from './conversations.mjs';
import { files } from './files.mjs';
import { pages } from './pages.mjs';

const client = new OpenAI();
const { responses } = client;
const { agents } = client.beta;
const { sessions } = agents;
const HEARD = 'I am a scripted model and heard: ';
const NONE = { type: 'none' };
const ZERO = '0'.repeat(32);
const tag = `js-${process.pid}`;

const message = (text) => ({ type: 'agent.session.input.message', input: [{ role: 'user', content: [{ type: 'input_text', text }] }] });

const ends = ['agent.session.turn.completed', 'agent.session.turn.failed', 'agent.session.turn.cancelled'];

// agentEvents are a session's events, each checked, up to the root turn's end plus idle, or stop.
async function agentEvents(stream, stop) {
  const seen = [];
  const ids = new Set();
  let ended = false;
  for await (const e of stream) {
    event(e);
    if (!e.event_id || ids.has(e.event_id)) throw new Error(`event id ${e.event_id} again`);
    ids.add(e.event_id);
    seen.push(e);
    ended ||= ends.includes(e.type);
    if (stop ? stop(e) : ended && e.type === 'agent.session.idle') break;
  }
  return seen;
}

const idle = (id) => until(async () => (await sessions.retrieve(id)).status === 'idle');

// sessionWith is a session whose turns are done.
async function sessionWith(...prompts) {
  const s = await sessions.create({ environment: NONE, agent: { model: 'codex' }, input: prompts[0] });
  for (const p of prompts.slice(1)) await sessions.events.create(s.id, { events: [message(p)] });
  await idle(s.id);
  return s;
}

const finished = (id) =>
  until(async () => {
    const r = await responses.retrieve(id);
    return !['queued', 'in_progress'].includes(r.status) && whole(r, 'Response');
  });

await run({
  // -- Responses --
  async responses_create_plain() {
    const r = whole(await responses.create({ model: 'codex', input: 'hello' }), 'Response');
    eq([r.status, r.output_text, r.error], ['completed', HEARD + 'hello', null]);
    if (!r._request_id) throw new Error('no request id');
    eq(r.output.at(-1).phase, 'final_answer');
  },
  async responses_own_items_as_input() {
    const r = await responses.create({ model: 'codex', input: '[[think: hm]] [[say: looking]] [[shell: echo hi]] [[say: done]]' });
    const input = [{ role: 'user', content: 'first' }, ...r.output, { role: 'user', content: 'next' }];
    const again = whole(await responses.create({ model: 'codex', include: [], tools: [], input }), 'Response');
    for (const part of ['first', 'looking', 'echo hi', 'done', 'next']) has(again.output_text, part);
  },
  async responses_create_stream() {
    const events = (await all(await responses.create({ model: 'codex', input: '[[think: hm]] [[say: looking]] [[shell: echo hi; exit 3]] [[say: a streamed answer]]', stream: true }))).map(event);
    eq(
      events.map((e) => e.sequence_number),
      events.map((_, i) => i),
    );
    eq([events[0].type, events.at(-1).type], ['response.created', 'response.completed']);
    const done = events.filter((e) => e.type === 'response.output_item.done').map((e) => e.item);
    eq(
      done.map((i) => i.type),
      ['reasoning', 'message', 'mcp_call', 'message'],
    );
    eq(done, events.at(-1).response.output);
    eq([done[2].name, done[2].status, done[2].output], ['command_execution', 'failed', 'hi\n']);
    const text = events.filter((e) => e.type === 'response.output_text.delta' && e.item_id === done[3].id).map((e) => e.delta);
    eq(text.join(''), 'a streamed answer');
  },
  async responses_background() {
    const r = whole(await responses.create({ model: 'codex', input: '[[wait: 300]] [[say: later]]', background: true }), 'Response');
    if (!['queued', 'in_progress'].includes(r.status)) throw new Error(`status ${r.status}`);
    eq([r.background, r.output, r.usage], [true, [], null]);
    const done = await finished(r.id);
    eq([done.status, done.output_text], ['completed', 'later']);
  },
  async responses_background_stream() {
    const events = (await all(await responses.create({ model: 'codex', input: '[[say: later]]', background: true, stream: true }))).map(event);
    eq([events[0].type, events.at(-1).type, events.at(-1).response.status], ['response.created', 'response.completed', 'completed']);
  },
  async responses_background_stream_resumes_while_it_runs() {
    const seen = [];
    const upTo = async (stream, n) => {
      for await (const e of stream) {
        seen.push(event(e));
        if (seen.length === n) break;
      }
    };
    await upTo(await responses.create({ model: 'codex', input: '[[shell: sleep 0.1]]'.repeat(8) + ' [[count: 40]]', background: true, stream: true }), 8);
    const id = seen[0].response.id;
    eq((await responses.retrieve(id)).status, 'in_progress');
    const after = () => ({ stream: true, starting_after: seen.at(-1).sequence_number });
    await upTo(await responses.retrieve(id, after()), 16);
    await upTo(await responses.retrieve(id, after()));
    eq(
      seen.map((e) => e.sequence_number),
      seen.map((_, i) => i),
    );
    eq([seen.at(-1).type, seen.at(-1).response.status], ['response.completed', 'completed']);
    eq(await all(await responses.retrieve(id, after())), []);
    await refused(OpenAI.BadRequestError, 'after_what', (c) => c.responses.retrieve(id, { stream: true, starting_after: -1 }));
  },
  async responses_parse() {
    const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'], additionalProperties: false };
    const text = { format: { type: 'json_schema', name: 'answer', strict: true, schema } };
    const r = whole(await responses.parse({ model: 'codex', input: '[[say: {"a": 3}]]', text }), 'Response');
    eq([r.output_parsed, r.text.format.schema], [{ a: 3 }, schema]);
    const final = await responses.stream({ model: 'codex', input: '[[say: {"a": 4}]]', text }).finalResponse();
    eq(final.output_parsed, { a: 4 });
  },
  async responses_settings_are_given_back() {
    const asked = {
      instructions: 'Be short.', metadata: { k: 'v' }, max_output_tokens: 100, max_tool_calls: 3, temperature: 0.5, top_p: 0.5, truncation: 'auto',
      service_tier: 'auto', user: 'u', safety_identifier: 's', prompt_cache_key: 'p', parallel_tool_calls: false, tool_choice: 'none',
    };
    const more = { reasoning: { effort: 'low', summary: 'auto' }, text: { verbosity: 'low' }, include: ['reasoning.encrypted_content'], zz_future: 1 };
    const { data, response } = await responses.create({ model: 'codex', input: 'x', ...asked, ...more }).withResponse();
    whole(data, 'Response');
    eq(Object.fromEntries(Object.keys(asked).map((k) => [k, data[k]])), asked);
    eq([data.reasoning.effort, data.reasoning.summary, data.text.verbosity], ['low', 'auto', 'low']);
    eq(
      response.headers.get('x-agent-sandbox-ignored-params'),
      'include,max_output_tokens,max_tool_calls,parallel_tool_calls,prompt_cache_key,safety_identifier,service_tier,temperature,top_p,truncation,user,zz_future',
    );
    const again = await responses.retrieve(data.id, { include: ['message.output_text.logprobs'], include_obfuscation: false });
    eq({ ...again }, { ...data });
  },
  async metadata_has_limits() {
    const many = (n) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`.padEnd(64, 'x'), 'v'.repeat(512)]));
    whole(await responses.create({ model: 'codex', input: 'x', metadata: many(16) }), 'Response');
    for (const [name, metadata] of Object.entries({ pairs: many(17), key: { ['k'.repeat(65)]: 'v' }, value: { k: 'v'.repeat(513) }, type: { k: {} } })) {
      const e = await refused(OpenAI.BadRequestError, `metadata_${name}_responses`, (c) => c.responses.create({ model: 'codex', input: 'x', metadata }));
      has(e.param, 'metadata');
      await refused(OpenAI.BadRequestError, `metadata_${name}_agents`, (c) => c.beta.agents.create({ model: 'codex', metadata }));
    }
  },
  async responses_conversation() {
    const a = await responses.create({ model: 'codex', input: 'Please remember the word otter.' });
    for (const conversation of [a.conversation.id, { id: a.conversation.id }]) {
      const b = whole(await responses.create({ model: 'codex', input: 'What did I ask you to remember?', conversation }), 'Response');
      has(b.output_text, 'otter');
      eq(b.conversation.id, a.conversation.id);
    }
  },
  async responses_not_stored() {
    const r = whole(await responses.create({ model: 'codex', input: 'x', store: false }), 'Response');
    await refused(OpenAI.NotFoundError, 'not_stored', (c) => c.responses.retrieve(r.id));
  },
  async responses_stream_helper() {
    const stream = responses.stream({ model: 'codex', input: '[[think: well]] [[shell: echo hi]] [[count: 9]]' });
    let text = '';
    stream.on('response.output_text.delta', (e) => (text += e.delta));
    const final = whole(await stream.finalResponse(), 'Response');
    eq([final.status, final.output_text, text], ['completed', '1 2 3 4 5 6 7 8 9', '1 2 3 4 5 6 7 8 9']);
    eq(
      final.output.map((i) => i.type),
      ['reasoning', 'mcp_call', 'message'],
    );
  },
  async responses_stream_helper_resumes() {
    const events = await all(await responses.create({ model: 'codex', input: '[[count: 30]]', background: true, stream: true }));
    const cut = Math.floor(events.length / 2);
    for (const more of [{ starting_after: cut }, {}]) {
      const stream = responses.stream({ response_id: events[0].response.id, ...more });
      const got = (await all(stream)).map((e) => event(e).sequence_number);
      const from = 'starting_after' in more ? cut + 1 : 0;
      eq(
        got,
        events.slice(from).map((e) => e.sequence_number),
      );
      has((await stream.finalResponse()).output_text, '28 29 30');
    }
  },
  async responses_stream_helper_follows_a_running_turn() {
    const first = await responses.create({ model: 'codex', input: '[[slow: 20]] [[count: 20]]', background: true });
    const final = await responses.stream({ response_id: first.id }).finalResponse();
    eq([final.id, final.output_text.split(' ').at(-1)], [first.id, '20']);
  },
  async responses_retrieve_stream() {
    const live = (await all(await responses.create({ model: 'codex', input: '[[shell: echo hi]] [[count: 20]]', stream: true }))).map(event);
    for (const after of [undefined, 0, 7, live.length - 2, live.length - 1]) {
      const again = await all(await responses.retrieve(live[0].response.id, { stream: true, ...(after === undefined ? {} : { starting_after: after }) }));
      eq(again, live.slice(after === undefined ? 0 : after + 1));
    }
  },
  async responses_cancel() {
    const r = await responses.create({ model: 'codex', input: '[[shell: sleep 60]]', background: true });
    await until(async () => (await responses.retrieve(r.id)).status === 'in_progress');
    whole(await responses.cancel(r.id), 'Response');
    eq((await finished(r.id)).status, 'cancelled');
    eq((await responses.cancel(r.id)).status, 'cancelled');
  },
  async responses_failed_turn() {
    const r = whole(await responses.create({ model: 'codex', input: '[[say: so far]] [[error: 500]]' }), 'Response');
    eq([r.status, r.error.code], ['failed', 'server_error']);
    const final = await responses.stream({ model: 'codex', input: '[[error: 429]]' }).finalResponse();
    eq([final.status, final.error.code], ['failed', 'rate_limit_exceeded']);
  },
  async responses_delete() {
    const r = await responses.create({ model: 'codex', input: 'forget me' });
    await responses.delete(r.id);
    await refused(OpenAI.NotFoundError, 'deleted', (c) => c.responses.retrieve(r.id));
    await refused(OpenAI.NotFoundError, 'deleted_items', (c) => c.responses.inputItems.list(r.id));
  },
  async responses_input_items() {
    const r = await responses.create({ model: 'codex', input: 'what I asked' });
    const items = await all(responses.inputItems.list(r.id));
    eq(
      items.map((i) => [whole(i, 'ResponseInputMessageItem').role, i.content[0].text]),
      [['user', 'what I asked']],
    );
  },
  async responses_previous_response() {
    const a = await responses.create({ model: 'codex', input: 'Please remember the word heron.' });
    const b = whole(await responses.create({ model: 'codex', input: 'What did I ask you to remember?', previous_response_id: a.id }), 'Response');
    has(b.output_text, 'heron');
    eq([b.previous_response_id, b.conversation.id], [a.id, a.conversation.id]);
    await refused(OpenAI.BadRequestError, 'not_latest', (c) => c.responses.create({ model: 'codex', input: 'x', previous_response_id: a.id }), 'agents.previous_response_not_latest');
    const c = await responses.create({ model: 'codex', input: 'What did I ask you to remember?', conversation: a.conversation.id });
    has(c.output_text, 'heron');
  },
  async models() {
    const listed = await all(client.models.list());
    if (!listed.some((m) => whole(m, 'Model').id === 'codex')) throw new Error('codex is no model');
    eq(whole(await client.models.retrieve('codex'), 'Model').id, 'codex');
    const saved = await agents.create({ model: 'codex', name: `${tag}-model` });
    has((await responses.create({ model: saved.name, input: 'by name' })).output_text, 'by name');
    await agents.delete(saved.id);
  },

  // -- Agents --
  async agents_crud() {
    const a = whole(await agents.create({ model: 'codex', name: `${tag}-crud`, instructions: 'Be kind.', metadata: { k: 'v' } }), 'Agent');
    const read = whole(await agents.retrieve(a.id), 'Agent');
    eq({ ...read }, { ...a });
    const b = whole(await agents.update(a.id, { instructions: 'Be brief.', metadata: { n: 'w' } }), 'Agent');
    eq([b.id, b.instructions, b.metadata, b.name], [a.id, 'Be brief.', { n: 'w' }, a.name]);
    const ids = [a.id];
    for (let i = 0; i < 4; i++) ids.push((await agents.create({ model: 'codex', name: `${tag}-crud${i}` })).id);
    const listed = (await all(agents.list({ limit: 2, order: 'asc' }))).map((x) => whole(x, 'Agent').id);
    eq(
      listed.filter((id) => ids.includes(id)),
      ids,
    );
    for (const id of ids) eq(whole(await agents.delete(id), 'AgentDeleted').deleted, true);
    await refused(OpenAI.NotFoundError, 'agent_deleted', (c) => c.beta.agents.retrieve(a.id));
  },
  async sessions_create_plain() {
    const a = await agents.create({ model: 'codex' });
    const s = whole(await sessions.create({ environment: NONE, agent_id: a.id, input: 'hello', metadata: { m: '1' } }), 'AgentSession');
    eq([s.agent.id, s.metadata, s.environment.type], [a.id, { m: '1' }, 'none']);
    await idle(s.id);
    whole(await sessions.retrieve(s.id), 'AgentSession');
    const turns = await all(sessions.turns.list(s.id));
    eq(
      turns.map((t) => [whole(t, 'Turn').status, t.subagent_id]),
      [['completed', null]],
    );
  },
  async sessions_create_stream() {
    const params = { environment: NONE, agent: { model: 'codex' }, stream: true };
    const stream = await sessions.create({ ...params, input: '[[shell: echo hi; exit 3]] [[say: done]]' });
    const events = (await all(stream)).map(event); // the server ends it after the first turn
    eq([events[0].type, events.at(-2).type, events.at(-1).type], ['agent.session.created', 'agent.session.turn.completed', 'agent.session.idle']);
    const done = events.filter((e) => e.type === 'agent.session.turn.item.done').map((e) => e.item);
    eq(
      done.map((i) => i.type),
      ['command_execution', 'message'],
    );
    has(done[0].command, 'echo hi; exit 3');
    eq([done[0].output, done[0].exit_code, done[0].status], ['hi\n', 3, 'failed']);
    const result = await (await sessions.create({ ...params, input: '[[say: at once]]' })).finalResult();
    eq(result.output_text, 'at once');
  },
  async sessions_stream_helper() {
    const s = await sessionWith('Please remember the word heron.');
    const result = await sessions.stream(s.id, { input: '[[think: hm]] [[say: I look.]] [[shell: echo hi]] [[count: 5]]' }).finalResult();
    eq([result.output_text, result.turn.status], ['1 2 3 4 5', 'completed']);
    const stream = sessions.stream(s.id, { input: 'What did I ask you to remember?' }).withResultCollection();
    const events = (await all(stream)).map(event);
    eq([events.at(-2).type, events.at(-1).type], ['agent.session.turn.completed', 'agent.session.idle']);
    has((await stream.finalResult()).output_text, 'heron');
    eq((await sessions.retrieve(s.id)).status, 'idle');
  },
  async sessions_stream_helper_failed_turn() {
    const s = await sessionWith('hello');
    const error = await sessions.stream(s.id, { input: '[[error: 401]]' }).finalResult().then(() => null, (e) => e);
    eq([error?.reason, error?.turn?.status, error?.turn?.error?.code], ['failed', 'failed', 'authentication_error']);
  },
  async events_create_and_stream() {
    const s = await sessionWith('hello');
    const stream = await sessions.events.stream(s.id);
    const raw = await sessions.events.create(s.id, { events: [message('[[count: 9]]')] }).asResponse();
    eq([raw.status, await raw.text()], [202, '']);
    const events = await agentEvents(stream);
    eq(events[0].type, 'agent.session.in_progress');
    eq(events.filter((e) => e.type === 'agent.session.turn.output_text.delta').map((e) => e.delta).join(''), '1 2 3 4 5 6 7 8 9');
    const middle = Math.floor(events.length / 2);
    const again = await agentEvents(await sessions.events.stream(s.id, {}, { query: { after: events[middle].event_id } }), (e) => e.event_id === events.at(-1).event_id);
    eq(again, events.slice(middle + 1));
  },
  async events_two_inputs_queue() {
    const s = await sessionWith('hello');
    const stream = await sessions.events.stream(s.id);
    await sessions.events.create(s.id, { events: [message('[[wait: 200]] [[say: one]]'), message('[[say: two]]')] });
    const events = await agentEvents(stream);
    eq(
      events.filter((e) => e.type === 'agent.session.turn.item.done').map((e) => e.item.content[0].text),
      ['one', 'two'],
    );
    eq(events.filter((e) => e.type === 'agent.session.idle').length, 1);
  },
  async events_cancel() {
    const s = await sessionWith('hello');
    const stream = sessions.stream(s.id, { input: '[[shell: sleep 60]]' }).withResultCollection();
    for await (const e of stream) {
      event(e);
      if (e.type === 'agent.session.turn.item.added' && e.item.type === 'command_execution') await sessions.events.create(s.id, { events: [{ type: 'agent.session.input.cancel' }] });
    }
    const error = await stream.finalResult().then(() => null, (e) => e);
    eq([error?.reason, error?.turn?.status], ['cancelled', 'cancelled']);
  },
  async items_and_turns() {
    const s = await sessionWith('[[say: one]]', '[[shell: echo hi]] [[say: two]]', '[[think: hm]] [[say: three]]');
    const up = (await all(sessions.items.list(s.id, { limit: 2, order: 'asc' }))).map((i) => whole(i, 'AgentSessionItem'));
    eq(
      up.map((i) => i.role ?? i.type),
      ['user', 'assistant', 'user', 'command_execution', 'assistant', 'user', 'reasoning', 'assistant'],
    );
    eq(
      (await all(sessions.items.list(s.id, { limit: 3 }))).map((i) => i.id),
      up.map((i) => i.id).reverse(),
    );
    const turns = (await all(sessions.turns.list(s.id, { limit: 1, order: 'asc' }))).map((t) => whole(t, 'Turn'));
    eq(
      turns.map((t) => t.status),
      ['completed', 'completed', 'completed'],
    );
    const turn = whole(await sessions.turns.retrieve(turns[1].id, { session_id: s.id }), 'Turn');
    eq({ ...turn }, { ...turns[1] });
    eq(
      (await all(sessions.turns.items.list(turn.id, { session_id: s.id, limit: 1, order: 'asc' }))).map((i) => whole(i, 'AgentSessionItem').id),
      up.filter((i) => i.turn_id === turn.id).map((i) => i.id),
    );
  },
  async sessions_list_update_delete() {
    const a = await agents.create({ model: 'codex' });
    const team = `a b ${tag}`;
    const mine = [];
    for (let i = 0; i < 3; i++) mine.push((await sessions.create({ environment: NONE, agent_id: a.id, input: 'x', metadata: { team, odd: String(i % 2) } })).id);
    const other = (await sessions.create({ environment: NONE, agent: { model: 'codex' }, input: 'x', metadata: { team, odd: '0' } })).id;
    const even = { metadata: { team, odd: '0' } };
    for (const limit of [1, 2, 20]) {
      eq((await all(sessions.list({ ...even, order: 'asc', limit }))).map((s) => s.id), [mine[0], mine[2], other]);
      eq((await all(sessions.list({ ...even, agent_id: a.id, limit }))).map((s) => s.id), [mine[2], mine[0]]);
      eq((await all(sessions.list({ ...even, order: 'asc', after: mine[0], limit }))).map((s) => s.id), [mine[2], other]);
    }
    eq((await all(sessions.list({ agent_id: a.id, metadata: { odd: '2' } }))).length, 0);
    await sessions.delete(other);
    eq(
      (await all(sessions.list({ agent_id: a.id, limit: 2, order: 'asc' }))).map((s) => whole(s, 'AgentSession').id),
      mine,
    );
    eq(
      (await all(sessions.list({ metadata: { team }, limit: 2 }))).map((s) => s.id),
      mine.toReversed?.() ?? [...mine].reverse(),
    );
    eq(whole(await sessions.update(mine[0], { metadata: { team: 'c' } }), 'AgentSession').metadata, { team: 'c' });
    for (const id of mine) eq(whole(await sessions.delete(id), 'AgentSessionDeleted').deleted, true);
    await refused(OpenAI.NotFoundError, 'session_deleted', (c) => c.beta.agents.sessions.retrieve(mine[0]));
  },

  // -- both wires --
  async both_wires_share_ids() {
    const r = await responses.create({ model: 'codex', input: 'Please remember the word heron.' });
    const session = 'agsess_' + r.conversation.id.slice('conv_'.length);
    const turn = await sessions.turns.retrieve('turn_' + r.id.slice('resp_'.length), { session_id: session });
    eq(turn.status, 'completed');
    const result = await sessions.stream(session, { input: 'What did I ask you to remember?' }).finalResult();
    has(result.output_text, 'heron');
    const back = whole(await responses.retrieve('resp_' + result.turn.id.slice('turn_'.length)), 'Response');
    eq([back.output_text, back.conversation.id, back.background], [result.output_text, r.conversation.id, true]);
    await refused(OpenAI.BadRequestError, 'older_id', (c) => c.responses.create({ model: 'codex', input: 'x', previous_response_id: r.id }), 'agents.previous_response_not_latest');
    has((await responses.create({ model: 'codex', input: 'What did I ask you to remember?', previous_response_id: back.id })).output_text, 'heron');
  },

  // -- refusals: the class, and that the SDK asks once --
  async refused_400() {
    const calls = {
      no_input: (c) => c.responses.create({ model: 'codex' }),
      bad_type: (c) => c.responses.create({ model: 'codex', input: 'x', store: 'yes' }),
      bad_limit: (c) => c.beta.agents.list({ limit: 1000 }),
      no_agent: (c) => c.beta.agents.sessions.create({ environment: NONE, input: 'x' }),
      both_ids: (c) => c.responses.create({ model: 'codex', input: 'x', previous_response_id: 'resp_' + ZERO, conversation: 'conv_' + ZERO }),
    };
    for (const [name, call] of Object.entries(calls)) await refused(OpenAI.BadRequestError, name, call);
  },
  async refused_401() {
    await refused(OpenAI.AuthenticationError, 'wrong_key', (c) => c.models.list(), undefined, { apiKey: 'wrong' });
    await refused(OpenAI.AuthenticationError, 'wrong_key_stream', (c) => c.responses.create({ model: 'codex', input: 'x', stream: true }), undefined, { apiKey: 'wrong' });
  },
  async refused_404() {
    const calls = {
      response: (c) => c.responses.retrieve('resp_' + ZERO),
      response_odd: (c) => c.responses.retrieve('a/b'),
      response_stream: (c) => c.responses.retrieve('resp_' + ZERO, { stream: true }),
      previous: (c) => c.responses.create({ model: 'codex', input: 'x', previous_response_id: 'resp_' + ZERO }),
      agent: (c) => c.beta.agents.retrieve('agent_' + ZERO),
      session: (c) => c.beta.agents.sessions.retrieve('agsess_' + ZERO),
      session_stream: (c) => c.beta.agents.sessions.events.stream('agsess_' + ZERO),
      session_post: (c) => c.beta.agents.sessions.events.create('agsess_' + ZERO, { events: [message('x')] }),
      model: (c) => c.models.retrieve('no such model'),
    };
    for (const [name, call] of Object.entries(calls)) await refused(OpenAI.NotFoundError, name, call);
  },
  async refused_403() {
    const calls = {
      models: (c) => c.models.list(),
      respond: (c) => c.responses.create({ model: 'codex', input: 'x' }),
      respond_stream: (c) => c.responses.create({ model: 'codex', input: 'x', stream: true }),
      agents: (c) => c.beta.agents.create({ model: 'codex' }),
      events: (c) => c.beta.agents.sessions.events.stream('agsess_' + ZERO),
      files: (c) => c.files.list(),
    };
    for (const [name, call] of Object.entries(calls)) {
      await refused(OpenAI.PermissionDeniedError, `reader_${name}`, call, 'permission_denied', { apiKey: process.env.READER_API_KEY });
    }
  },
  async refused_409() {
    const s = await sessionWith('hello');
    const creating = {
      response: (c, text, o) => c.responses.create({ model: 'codex', input: text }, o),
      session: (c, text, o) => c.beta.agents.sessions.create({ environment: NONE, agent: { model: 'codex' }, input: text }, o),
      events: (c, text, o) => c.beta.agents.sessions.events.create(s.id, { events: [message(text)] }, o),
      agent: (c, text, o) => c.beta.agents.create({ model: 'codex', instructions: text }, o),
      file: async (c, text, o) => c.files.create({ file: await OpenAI.toFile(Buffer.from(text), 'x.txt'), purpose: 'user_data' }, o),
    };
    for (const [name, create] of Object.entries(creating)) {
      const o = { headers: { 'Idempotency-Key': `${name}-${s.id}` } };
      const first = await create(client, 'one', o);
      eq((await create(client, 'one', o))?.id, first?.id);
      await refused(OpenAI.ConflictError, `mismatch_${name}`, (c) => create(c, 'two', o), 'idempotency.mismatch');
    }
    await idle(s.id);
    eq((await all(sessions.turns.list(s.id))).length, 2);
    await refused(OpenAI.ConflictError, 'ghost', (c) => c.responses.create({ model: 'ghost', input: 'x' }), 'runtime_not_installed');
  },
  async refused_413() {
    const input = 'x'.repeat(3 << 20);
    const calls = {
      response: (c) => c.responses.create({ model: 'codex', input }),
      response_stream: (c) => c.responses.create({ model: 'codex', input, stream: true }),
      session: (c) => c.beta.agents.sessions.create({ environment: NONE, agent: { model: 'codex' }, input }),
      upload: async (c) => c.files.create({ file: await OpenAI.toFile(Buffer.from(input), 'big'), purpose: 'user_data' }),
    };
    for (const [name, call] of Object.entries(calls)) eq((await refused(OpenAI.APIError, `big_${name}`, call, 'request_too_large')).status, 413);
  },
  async refused_429() {
    const s = await sessionWith('hello');
    await sessions.events.create(s.id, { events: [message('[[wait: 30000]]')] });
    await until(async () => (await all(sessions.turns.list(s.id))).some((t) => t.status === 'in_progress'));
    await sessions.events.create(s.id, { events: [message('[[say: one]]'), message('[[say: two]]')] });
    const e = await refused(OpenAI.RateLimitError, 'full', (c) => c.beta.agents.sessions.events.create(s.id, { events: [message('x')] }), 'queue_full', { maxRetries: 0 });
    if (!(Number(e.headers.get('retry-after')) > 0)) throw new Error('no Retry-After');
    await sessions.delete(s.id);
  },
  async refused_429_is_asked_again() {
    const s = await sessionWith('hello');
    await sessions.events.create(s.id, { events: [message('[[wait: 700]]')] });
    await until(async () => (await all(sessions.turns.list(s.id))).some((t) => t.status === 'in_progress'));
    await sessions.events.create(s.id, { events: [message('[[say: one]]'), message('[[say: two]]')] });
    await counted('busy', { maxRetries: 9 }).beta.agents.sessions.events.create(s.id, { events: [message('[[say: three]]')] }); // the SDK waits as long as it was told
    const asked = await requestsOf('busy');
    if (asked < 2 || asked > 4) throw new Error(`${asked} requests`);
    await idle(s.id);
    const said = (await all(sessions.items.list(s.id, { order: 'asc' }))).filter((i) => i.role === 'assistant').map((i) => i.content[0].text);
    eq(said.slice(-3), ['one', 'two', 'three']);
  },

  ...calls,
  ...conversationCases,
  ...files,
  ...pages,
});
