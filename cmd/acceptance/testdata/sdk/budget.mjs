// A caller's budget for a session, as the newest SDK types it: it is reached, holds
// the session and its queue, refuses further input, and is raised.

import assert from "node:assert/strict";

const { default: OpenAI } = await import(process.env.ORACLE_SDK);
const client = new OpenAI();
const sessions = client.beta.agents.sessions;
const message = (text) => ({ type: "agent.session.input.message", input: [{ type: "message", role: "user", content: text }] });

const agent = { model: "claude-code" };
const open = (spend_control) => sessions.create({ agent, environment: { type: "self_hosted" }, spend_control });

assert.equal((await open(undefined)).spend_control, undefined);
assert.equal((await open(null)).spend_control, undefined);
assert.deepEqual((await open({ limit: null })).spend_control, { consumed: 0, limit: null });

const session = await open({ limit: 2 });
assert.deepEqual([session.status, session.spend_control], ["idle", { consumed: 0, limit: 2 }]);

const seen = [];
const stream = await sessions.events.stream(session.id);
// A response of 4,000 and 600 tokens costs a little more than two cents.
await sessions.events.create(session.id, { events: [message("[[use: 4000 600]] [[say: the first]]"), message("[[say: the second]]")] });
for await (const event of stream) {
  seen.push(event.type);
  if (event.type === "agent.session.idle") assert.fail("idle while a turn is queued");
  if (event.type === "agent.session.budget_reached") {
    assert.equal(event.session.status, "budget_reached");
    assert.deepEqual(event.session.spend_control, { consumed: 2, limit: 2 });
    break;
  }
}
assert.equal(seen.filter((t) => t === "agent.session.turn.created").length, 2);
assert.equal(seen.filter((t) => t === "agent.session.turn.in_progress").length, 1);

const held = await sessions.retrieve(session.id);
assert.deepEqual([held.status, held.spend_control], ["budget_reached", { consumed: 2, limit: 2 }]);
const statuses = (await sessions.turns.list(session.id, { order: "asc" })).data.map((t) => t.status);
assert.deepEqual(statuses, ["failed", "queued"]); // the CLI says so, though its answer was whole

await assert.rejects(sessions.events.create(session.id, { events: [message("more")] }), (e) => {
  assert.ok(e instanceof OpenAI.ConflictError, String(e));
  assert.equal(e.code, "budget_reached");
  assert.match(e.message, /spend_control\.limit.*\$0\.02.*raise/);
  return true;
});

const raised = await sessions.update(session.id, { spend_control: { limit: 500 } });
assert.equal(raised.spend_control.limit, 500);
assert.equal(raised.status, "in_progress");
const after = await sessions.events.stream(session.id, {}, { query: { after: "0" } });
const later = [];
for await (const event of after) {
  later.push(event.type);
  if (event.type === "agent.session.idle") break;
}
assert.deepEqual(later.filter((t) => /^agent\.session\.(in_progress|budget_reached|idle)$/.test(t)),
  ["agent.session.in_progress", "agent.session.budget_reached", "agent.session.in_progress", "agent.session.idle"]);
assert.deepEqual((await sessions.turns.list(session.id, { order: "asc" })).data.map((t) => t.status), ["failed", "completed"]);

// The helper that waits for a turn comes back at the budget. A turn in the middle of
// which it is reached is stopped by the CLI itself, which was told what is left.
const small = await open({ limit: 1 });
const run = await sessions.events.stream(small.id);
await sessions.events.create(small.id, { events: [message("[[use: 2000 400]] [[say: kept]] [[shell: true]] [[shell: true]] [[shell: true]] [[say: never]]")] });
for await (const event of run) if (event.type === "agent.session.budget_reached") break;
const turn = (await sessions.turns.list(small.id)).data[0];
assert.equal(turn.status, "failed");
assert.equal(turn.error.code, "session_budget_exceeded");
assert.match(turn.error.message, /spend_control\.limit/);
const said = (await sessions.items.list(small.id, { order: "asc" })).data.filter((i) => i.type === "message" && i.role === "assistant").map((i) => i.content[0].text);
assert.ok(said.includes("kept") && !said.includes("never"), JSON.stringify(said));

// Without a limit the spend goes on being told.
const free = await sessions.update(small.id, { spend_control: null });
assert.deepEqual([free.status, free.spend_control], ["idle", undefined]);
console.log("held");
