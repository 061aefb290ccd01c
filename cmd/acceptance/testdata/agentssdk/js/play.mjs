// Plays cases, a few at a time, and prints what each saw as one line of JSON. Every
// address that the process turns to is noted, so that its caller can tell whether
// the SDK spoke to anything but the server.

import { subscribe } from "node:diagnostics_channel";

const atOnce = 4;
const hosts = new Set();
subscribe("undici:client:beforeConnect", ({ connectParams }) => hosts.add(connectParams.host));
subscribe("net.client.socket", ({ socket }) =>
  socket.on("connect", () => hosts.add(`${socket.remoteAddress}:${socket.remotePort}`)),
);

// facts are what a program can learn of a run that has ended.
export function facts(result) {
  const { usage } = result.state;
  const total = (details, name) => details.reduce((n, d) => n + (d[name] ?? 0), 0);
  return {
    final: result.finalOutput,
    items: result.newItems.map((i) => i.type),
    texts: result.newItems.filter((i) => i.type === "message_output_item").map((i) => i.content),
    outputs: result.newItems.filter((i) => i.type === "tool_call_output_item").map((i) => i.output),
    id: result.lastResponseId,
    agent: result.lastAgent.name,
    responses: result.rawResponses.length,
    usage: {
      requests: usage.requests,
      input: usage.inputTokens,
      output: usage.outputTokens,
      total: usage.totalTokens,
      cached: total(usage.inputTokensDetails, "cached_tokens"),
      reasoning: total(usage.outputTokensDetails, "reasoning_tokens"),
    },
  };
}

// streamed is the facts of a streamed run, with what came on the way.
export async function streamed(result) {
  const raw = [];
  const named = [];
  const agents = [];
  let text = "";
  for await (const e of result) {
    if (e.type === "run_item_stream_event") named.push(e.name);
    else if (e.type === "agent_updated_stream_event") agents.push(e.agent.name);
    else if (e.data.type === "model") raw.push(e.data.event.type); // as the wire has it
    else if (e.data.type === "output_text_delta") text += e.data.delta;
  }
  await result.completed;
  return { ...facts(result), raw, named, agents, text };
}

const say = (line) => console.log(JSON.stringify(line));

export async function main(cases, names, flush) {
  const left = [...names];
  const player = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const start = performance.now();
      const line = { case: name };
      try {
        line.facts = await cases[name]();
      } catch (e) {
        line.raised = `${e.constructor.name}: ${e.message}`;
      }
      line.seconds = Math.round((performance.now() - start) / 100) / 10;
      say(line);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, player));
  await flush(); // what is not sent by now would be sent at exit
  say({ end: names.length, known: Object.keys(cases).sort(), hosts: [...hosts].sort() });
}
