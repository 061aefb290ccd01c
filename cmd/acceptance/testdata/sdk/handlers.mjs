// Functions that the caller runs, through the SDK's helpers, and subagents. A part of
// real.mjs, the twin of handlers.py and subagents.py.
import { all, eq, event, has, OpenAI, refused, whole } from './check.mjs';

const client = new OpenAI();
const { responses } = client;
const { agents } = client.beta;
const { sessions } = agents;
const environment = { type: 'self_hosted' };
const other = { apiKey: process.env.OTHER_API_KEY };
const OSLO = '[[mcp: agenthost get_weather {"city":"Oslo"}]]';
const ROME = '[[mcp: agenthost get_weather {"city":"Rome"}]]';
const NOON = '[[mcp: agenthost get_time {"city":"Rome"}]]';
const FAILED = 'Tool handler failed.'; // what the SDK tells of a handler that throws

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const tools = ['get_weather', 'get_time'].map((name) => ({ type: 'function', name, description: 'Tells of a city.', parameters }));

// weather is a handler that notes its calls.
function weather(answer = (city) => `sunny in ${city}`) {
  const calls = [];
  const handler = async (args) => {
    calls.push(args);
    return answer(args.city);
  };
  return Object.assign(handler, { calls });
}

const session = async (model) => (await sessions.create({ environment, agent: { model, tools } })).id;
const items = async (id, type) => (await all(sessions.items.list(id, { order: 'asc' }))).map((i) => whole(i, 'AgentSessionItem')).filter((i) => i.type === type);

// turn is a turn's events, each checked, and its result.
async function turn(id, input, toolHandlers) {
  const stream = sessions.stream(id, { input, toolHandlers }).withResultCollection();
  const events = (await all(stream)).map(event);
  return [events, await stream.finalResult()];
}

const onEachCLI = {
  async handler_of_a_saved_agents_function(model) {
    const a = whole(await agents.create({ model, tools }), 'Agent');
    eq(a.tools.map((t) => t.name), ['get_weather', 'get_time']);
    const { id } = await sessions.create({ environment, agent_id: a.id });
    const get_weather = weather();
    const [events, result] = await turn(id, `[[say: I will look.]] ${OSLO}`, { get_weather });
    eq([get_weather.calls, result.output_text], [[{ city: 'Oslo' }], 'The tool returned: sunny in Oslo']);
    const at = events.findIndex((e) => e.type === 'agent.session.turn.item.added' && e.item.type === 'function_call');
    const call = events[at].item;
    eq([call.status, call.name, call.arguments], ['in_progress', 'get_weather', { city: 'Oslo' }]);
    const asked = events.filter((e) => e.type === 'agent.session.requires_action');
    eq(asked.map((e) => e.session.required_actions.map((r) => [r.type, r.call_id, r.turn_id])), [[['function_call', call.call_id, call.turn_id]]]);
    const [answer] = await items(id, 'function_call_output');
    eq([answer.call_id, answer.output, answer.status], [call.call_id, 'sunny in Oslo', 'completed']);
    const [, again] = await turn(id, ROME, { get_weather });
    eq([again.output_text, get_weather.calls.length], ['The tool returned: sunny in Rome', 2]);
    await agents.delete(a.id);
  },
  async handlers_in_parallel_and_in_two_rounds(model) {
    const [get_weather, get_time] = [weather(), weather(() => ({ hour: 12 }))];
    const id = await session(model);
    const [, result] = await turn(id, `${OSLO} [[and]] ${NOON} ${ROME}`, { get_weather, get_time });
    eq([get_weather.calls, get_time.calls], [[{ city: 'Oslo' }, { city: 'Rome' }], [{ city: 'Rome' }]]);
    const told = result.output_text.replace('The tool returned: ', '').split('\n');
    const outputs = (await items(id, 'function_call_output')).map((i) => i.output);
    // Of the parallel ones, either comes first.
    for (const said of [told, outputs]) eq([said.slice(0, 2).sort(), said[2]], [['sunny in Oslo', '{"hour":12}'].sort(), 'sunny in Rome']);
  },
  async handler_that_throws(model) {
    const id = await session(model);
    const [, result] = await turn(id, OSLO, { get_weather: weather(() => Promise.reject(new Error("a secret of the caller's"))) });
    has(result.output_text, FAILED);
    const [answer] = await items(id, 'function_call_output');
    eq([answer.status, answer.error, answer.output], ['failed', FAILED, null]);
  },
  async handlers_of_a_created_stream(model) {
    const get_weather = weather(() => [{ type: 'input_text', text: 'rain' }]);
    const stream = await sessions.create({ environment, agent: { model, tools }, input: OSLO, stream: true, toolHandlers: { get_weather } });
    const result = await stream.finalResult();
    eq([result.output_text, get_weather.calls], ['The tool returned: rain', [{ city: 'Oslo' }]]);
  },
  async without_a_handler(model) {
    const id = await session(model);
    const error = await sessions.stream(id, { input: OSLO, toolHandlers: { get_time: weather() } }).finalResult().then(() => null, (e) => e);
    eq([error?.reason, error?.required_actions?.map((a) => a.name)], ['requires_action', ['get_weather']]);
    const now = whole(await sessions.retrieve(id), 'AgentSession');
    const [asked] = now.required_actions;
    eq([now.status, asked.name], ['requires_action', 'get_weather']);
    const answer = ({ to = id, ...more } = {}) => (c) =>
      c.beta.agents.sessions.events.create(to, { events: [{ type: 'agent.session.input.tool_result', call_id: asked.call_id, turn_id: asked.turn_id, success: true, output: 'fog', ...more }] });
    const once = (kind, name, call, code, options) => refused(kind, `${name}_${model}`, call, code, options);
    await once(OpenAI.NotFoundError, 'unknown_call', answer({ call_id: 'call_' + '0'.repeat(32) }), 'tool_call_not_found');
    await once(OpenAI.NotFoundError, 'foreign_call', answer(), 'session_not_found', other);
    await once(OpenAI.BadRequestError, 'no_success', answer({ success: null }));
    await once(OpenAI.BadRequestError, 'odd_output', answer({ output: { a: 1 } }));
    const stream = await sessions.events.stream(id);
    await answer()(client);
    for await (const e of stream) if (event(e).type === 'agent.session.idle') break;
    await once(OpenAI.ConflictError, 'answered_twice', answer(), 'tool_call_already_answered');
    eq((await items(id, 'message')).at(-1).content[0].text, 'The tool returned: fog');
  },
  async responses_with_functions(model) {
    const strict = [{ type: 'function', name: 'get_weather', description: 'Tells of a city.', parameters, strict: true }];
    const stream = responses.stream({ model, input: `[[say: I will look.]] ${OSLO}`, tools: strict });
    const seen = [];
    stream.on('response.function_call_arguments.delta', (e) => seen.push(e));
    const first = whole(await stream.finalResponse(), 'Response');
    eq(first.output.map((i) => i.type), ['message', 'function_call']);
    const call = first.output[1];
    eq([call.name, call.status, call.parsed_arguments], ['get_weather', 'completed', { city: 'Oslo' }]);
    eq([seen.map((e) => e.delta).join(''), seen.at(-1).snapshot], [call.arguments, call.arguments]);
    const second = (more) => (c) =>
      c.responses.parse({ model, previous_response_id: first.id, tools: strict, input: [{ type: 'function_call_output', call_id: call.call_id, output: 'hail', ...more }] });
    eq((await refused(OpenAI.BadRequestError, `no_output_${model}`, second({ output: undefined }))).param, 'input[0].output');
    await refused(OpenAI.NotFoundError, `foreign_response_${model}`, second(), undefined, other);
    await refused(OpenAI.NotFoundError, `no_such_call_${model}`, second({ call_id: 'call_' + '0'.repeat(32) }), 'tool_call_not_found');
    const last = whole(await second()(client), 'Response');
    eq([last.output_text, last.previous_response_id, last.conversation], ['The tool returned: hail', first.id, first.conversation]);
    await refused(OpenAI.ConflictError, `response_answered_twice_${model}`, second(), 'tool_call_already_answered');
    const parsed = await responses.parse({ model, previous_response_id: last.id, input: ROME, tools: strict });
    eq(parsed.output.at(-1).parsed_arguments, { city: 'Rome' });
    eq((await responses.cancel(parsed.id)).status, 'completed'); // the response has ended, its turn waits
    await sessions.delete('agsess_' + parsed.conversation.id.slice('conv_'.length));
  },
};

async function approval(decision) {
  const { id } = await sessions.create({ environment, agent: { model: 'careful' } });
  const stream = await sessions.events.stream(id);
  const input = [{ role: 'user', content: [{ type: 'input_text', text: '[[write: a.txt text]] [[say: done]]' }] }];
  await sessions.events.create(id, { events: [{ type: 'agent.session.input.message', input }] });
  for await (const e of stream) {
    if (event(e).type === 'agent.session.requires_action') {
      const [asked] = e.session.required_actions;
      eq([asked.type, asked.request.name], ['mcp_approval_request', 'Write']);
      await sessions.events.create(id, { events: [{ type: 'agent.session.input.mcp_approval_request_result', request_id: asked.request_id, response: { type: 'mcp_tool_call', decision } }] });
    }
    if (e.type === 'agent.session.idle') break;
  }
  return id;
}

export const handlers = {
  ...Object.fromEntries(
    process.env.ORACLE_CLIS.split(',').flatMap((model) => Object.entries(onEachCLI).map(([name, play]) => [`${name}_${model}`, () => play(model)])),
  ),
  async approvals_are_answered() {
    eq((await all(sessions.artifacts.list(await approval('approve')))).length, 1);
    eq((await all(sessions.artifacts.list(await approval('deny')))).length, 0);
  },
  async subagents() {
    const prompt = 'Look. [[shell: echo from a subagent]] [[say: child is done]]';
    const stream = await sessions.create({ environment, agent: { model: 'claude-code' }, input: `[[task: ${prompt}]] [[say: parent is done]]`, stream: true });
    const result = await stream.finalResult();
    has(result.output_text, 'parent is done');
    const session_id = result.turn.session_id;
    const [s, ...more] = await all(sessions.subagents.list(session_id));
    eq(more, []);
    eq({ ...(await sessions.subagents.retrieve(s.id, { session_id })) }, { ...whole(s, 'Subagent') });
    const [t] = await all(sessions.subagents.turns.list(s.id, { session_id }));
    eq([whole(t, 'Turn').subagent_id, t.status], [s.id, 'completed']);
    eq({ ...(await sessions.subagents.turns.retrieve(t.id, { session_id, subagent_id: s.id })) }, { ...t });
    const did = (await all(sessions.subagents.items.list(s.id, { session_id, order: 'asc' }))).map((i) => whole(i, 'AgentSessionItem'));
    eq(did.map((i) => i.type), ['message', 'command_execution', 'message']);
    eq((await all(sessions.subagents.turns.items.list(t.id, { session_id, subagent_id: s.id, order: 'asc', limit: 1 }))).map((i) => i.id), did.map((i) => i.id));
  },
};
