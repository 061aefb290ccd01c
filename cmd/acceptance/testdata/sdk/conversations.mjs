// Conversations with the official JavaScript SDK, unchanged: the twin of
// conversations.py.
import { all, eq, has, OpenAI } from './check.mjs';

const { conversations, responses } = new OpenAI();
const { items } = conversations;
const other = new OpenAI({ apiKey: process.env.OTHER_API_KEY }).conversations;
const HEARD = 'I am a scripted model and heard: ';
const user = (content) => ({ role: 'user', content });

async function refused(kind, code, param, call) {
  try {
    await call();
  } catch (e) {
    if (e.constructor !== kind) throw new Error(`threw ${e.constructor.name}: ${e.message}`);
    eq([e.code, e.param], [code, param]);
    return e;
  }
  throw new Error('was not refused');
}

function conversation(c) {
  eq(Object.keys(c).sort(), ['created_at', 'id', 'metadata', 'object']);
  eq([typeof c.created_at, c.object, c.id.slice(0, 5)], ['number', 'conversation', 'conv_']);
  return c;
}

export const conversationCases = {
  async create_retrieve_update_delete() {
    const made = conversation(await conversations.create({ metadata: { a: 'b' }, items: [user('hi')] }));
    eq(await conversations.retrieve(made.id), made);
    eq(conversation(await conversations.update(made.id, { metadata: { c: 'd' } })).metadata, { c: 'd' });
    eq((await items.list(made.id)).data.map((i) => i.content[0].text), ['hi']);
    eq(await conversations.delete(made.id), { id: made.id, deleted: true, object: 'conversation.deleted' });
    const gone = { retrieve: () => conversations.retrieve(made.id), list: () => items.list(made.id), create: () => items.create(made.id, { items: [user('x')] }) };
    for (const call of Object.values(gone)) await refused(OpenAI.NotFoundError, 'session_not_found', 'conversation_id', call);
    for (const bare of [await conversations.create(), await conversations.create({ items: [] })]) eq(await all(items.list(conversation(bare).id)), []);
  },
  async items_come_back() {
    const c = await conversations.create();
    const posted = [
      user([{ type: 'input_text', text: 'a' }, { type: 'input_image', image_url: 'https://example.com/x.png', detail: 'low' }]),
      { role: 'assistant', content: 'plain' },
      { role: 'developer', content: 'Be brief.' },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: '42' },
      { type: 'reasoning', id: 'r', summary: [] },
      { type: 'file_search_call', id: 's', queries: ['q'], status: 'completed' },
      { type: 'shell_call_output', call_id: 'c5', output: [] },
    ];
    const made = await items.create(c.id, { items: posted, include: ['message.output_text.logprobs'] });
    eq([made.first_id, made.last_id, made.has_more], [made.data[0].id, made.data[7].id, false]);
    eq(made.data.map((i) => i.type), posted.map((i) => i.type ?? 'message'));
    const back = await all(items.list(c.id, { order: 'asc' }));
    eq(back, made.data);
    for (const i of back) eq(await items.retrieve(i.id, { conversation_id: c.id, include: ['reasoning.encrypted_content'] }), i);
    const again = await items.create((await conversations.create()).id, { items: back });
    eq(again.data.map((i) => ({ ...i, id: '' })), back.map((i) => ({ ...i, id: '' })));
    const r = await responses.create({ model: 'codex', input: [...back, user('go')] });
    for (const part of ['user: a', 'assistant: plain', '[called f {}]', '[result -> 42]', 'go']) has(r.output_text, part);
  },
  async items_are_deleted_one_by_one() {
    const c = await conversations.create({ items: [user('a'), user('b')] });
    const [a, b] = await all(items.list(c.id, { order: 'asc' }));
    eq(await items.delete(b.id, { conversation_id: c.id }), c);
    eq((await all(items.list(c.id))).map((i) => i.id), [a.id]);
    await refused(OpenAI.NotFoundError, 'item_not_found', 'item_id', () => items.retrieve(b.id, { conversation_id: c.id }));
  },
  async lists_turn_their_pages() {
    const c = await conversations.create();
    for (let i = 0; i < 260; i += 20) await items.create(c.id, { items: Array.from({ length: 20 }, (_, n) => user(String(i + n))) });
    const up = await all(items.list(c.id, { order: 'asc', limit: 37 }));
    eq(up.map((i) => i.content[0].text), Array.from({ length: 260 }, (_, n) => String(n)));
    eq((await all(items.list(c.id))).map((i) => i.id), up.map((i) => i.id).reverse());
  },
  async a_response_is_told_once() {
    const c = await conversations.create({ items: [user('the word is heron')] });
    const first = await responses.create({ model: 'codex', input: 'which?', conversation: c.id });
    has(first.output_text, 'user: the word is heron');
    eq(first.conversation, { id: c.id });
    const stream = await responses.create({ input: 'and now?', conversation: { id: c.id }, stream: true });
    const last = (await all(stream)).at(-1).response;
    eq([last.conversation, last.output[0].content[0].text], [{ id: c.id }, HEARD + 'and now?']);
    eq((await all(items.list(c.id, { order: 'asc' }))).map((i) => i.role), ['user', 'user', 'assistant', 'user', 'assistant']);
  },
  async what_cannot_be_posted_is_named() {
    const c = await conversations.create();
    const post = (item) => () => items.create(c.id, { items: [user('x'), user('y'), user('z'), item] });
    await refused(OpenAI.BadRequestError, 'invalid_request', 'items[3].content[0].type', post(user([{ type: 'hologram' }])));
    await refused(OpenAI.BadRequestError, 'invalid_request', 'items', () => items.create(c.id, { items: Array(21).fill(user('x')) }));
  },
  async another_principal_sees_nothing() {
    const c = await conversations.create({ items: [user('secret')] });
    await refused(OpenAI.NotFoundError, 'session_not_found', 'conversation_id', () => other.retrieve(c.id));
    await refused(OpenAI.NotFoundError, 'session_not_found', 'conversation_id', () => other.items.list(c.id));
  },
};
