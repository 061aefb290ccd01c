// Artifacts of sessions with the official JavaScript SDK, unchanged, on the real
// Codex. The twin of artifacts.py.
import { all, eq, OpenAI, whole } from './check.mjs';

const { sessions } = new OpenAI().beta.agents;
const { artifacts } = sessions;
const REPORT = '/workspace/outputs/report.txt';

const session = async () => (await sessions.create({ environment: { type: 'self_hosted' }, agent: { model: 'codex' } })).id;

async function gone(call) {
  const e = await call().then(() => null, (e) => e);
  eq([e?.status, e?.code], [404, 'artifact_not_found']);
}

export const artifactCases = {
  async a_report_is_listed_read_and_deleted() {
    const id = await session();
    const result = await sessions.stream(id, { input: "[[shell: mkdir -p outputs && printf 'the report' > outputs/report.txt]]" }).finalResult();
    const [made, ...more] = await all(artifacts.list(id));
    eq(more, []);
    eq(whole(made, 'SessionArtifact'), await artifacts.retrieve(made.id, { session_id: id }));
    eq([made.path, made.size_bytes, made.session_id, made.turn_id], [REPORT, 10, id, result.turn_id]);
    eq(await (await artifacts.content(made.id, { session_id: id })).text(), 'the report');
    const mine = artifacts.forResult(result);
    eq((await mine.retrieve(REPORT)).id, made.id);
    eq(await (await mine.content(REPORT)).text(), 'the report');
    const deleted = await artifacts.delete(made.id, { session_id: id });
    eq(whole(deleted, 'SessionArtifactDeleted').id, made.id);
    await gone(() => artifacts.retrieve(made.id, { session_id: id }));
    await gone(() => artifacts.content(made.id, { session_id: id }));
    await gone(() => artifacts.delete(made.id, { session_id: id }));
  },

  async lists_turn_their_pages() {
    const id = await session();
    await sessions.stream(id, { input: '[[shell: mkdir -p outputs && for i in 1 2 3 4 5 6 7 8 9; do echo $i > outputs/$i; done]]' }).finalResult();
    const up = (await all(artifacts.list(id, { order: 'asc', limit: 4 }))).map((a) => a.path);
    eq(up, [1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => `/workspace/outputs/${i}`));
    eq((await all(artifacts.list(id, { limit: 2, environment_id: null }))).map((a) => a.path), up.reverse());
  },
};
