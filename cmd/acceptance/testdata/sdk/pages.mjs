// Long lists, page by page. A part of oracle.mjs, the twin of pages.py.
import { all, eq, OpenAI, whole } from './check.mjs';

const { ORACLE_PAGES_URL, ORACLE_PAGES, ORACLE_PAGES_SESSION, ORACLE_PAGES_TURN, ORACLE_PAGES_TURN_SESSION, ORACLE_PAGES_ARTIFACTS, ORACLE_PAGES_CONVERSATION } = process.env;
const client = new OpenAI({ baseURL: ORACLE_PAGES_URL + '/v1' });
const { agents } = client.beta;

// A list that is paged, with the shape of its elements: one entry here.
const lists = {
  agents: ['Agent', (p) => agents.list(p)],
  sessions: ['AgentSession', (p) => agents.sessions.list(p)],
  session_items: ['AgentSessionItem', (p) => agents.sessions.items.list(ORACLE_PAGES_TURN_SESSION, p)],
  session_turns: ['Turn', (p) => agents.sessions.turns.list(ORACLE_PAGES_SESSION, p)],
  turn_items: ['AgentSessionItem', (p) => agents.sessions.turns.items.list(ORACLE_PAGES_TURN, { session_id: ORACLE_PAGES_TURN_SESSION, ...p })],
  artifacts: ['SessionArtifact', (p) => agents.sessions.artifacts.list(ORACLE_PAGES_ARTIFACTS, p)],
  conversation_items: ['ResponseInputMessageItem', (p) => client.conversations.items.list(ORACLE_PAGES_CONVERSATION, p)],
  files: ['FileObject', (p) => client.files.list(p)],
};

async function turned(shape, list) {
  const ids = async (p) => (await all(list(p))).map((x) => x.id);
  const up = (await all(list({ order: 'asc', limit: 100 }))).map((x) => whole(x, shape).id);
  if (up.length < Number(ORACLE_PAGES)) throw new Error(`${up.length} elements`);
  eq(new Set(up).size, up.length);
  eq(await ids({}), [...up].reverse()); // newest first, twenty a page, are the defaults
  const first = await list({ order: 'asc', limit: 97 });
  eq([first.data.map((x) => x.id), first.hasNextPage()], [up.slice(0, 97), true]);
  const second = await first.getNextPage();
  eq(
    second.data.map((x) => x.id),
    up.slice(97, 194),
  );
  const rest = await list({ order: 'asc', after: up.at(-3) });
  eq([rest.data.map((x) => x.id), rest.hasNextPage()], [up.slice(-2), false]);
  eq(await ids({ order: 'desc', after: up[2] }), [up[1], up[0]]);
  eq(await ids({ order: 'asc', after: up.at(-1) }), []);
}

export const pages = {
  ...Object.fromEntries(Object.entries(lists).map(([name, [shape, list]]) => [`pages_of_${name}`, () => turned(shape, list)])),
  async pages_of_models() {
    const ids = (await all(client.models.list())).map((m) => whole(m, 'Model').id);
    if (ids.length <= Number(ORACLE_PAGES) || new Set(ids).size !== ids.length) throw new Error(`${ids.length} models`);
  },
};
