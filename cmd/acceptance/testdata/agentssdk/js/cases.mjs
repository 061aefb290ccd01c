// The OpenAI Agents SDK for JavaScript, used the way its documentation does, on a
// server that OPENAI_BASE_URL names. Behind it works a coding agent whose model is
// scripted: the directives in the prompts are those of fakes/mind. AGENTS_SDK is the
// folder of the installed packages. Arguments: the cases to play.

import { facts, main, streamed } from "./play.mjs";

const from = (file) => import(`${process.env.AGENTS_SDK}/${file}`);
const sdk = await from("@openai/agents/dist/index.mjs");
const { Agent, MemorySession, OpenAIConversationsSession, OpenAIResponsesModel, run, tool } = sdk;
const { default: OpenAI } = await from("openai/index.mjs");
const { z } = await from("zod/index.js");

sdk.setTracingDisabled(true);

const remember = "Please remember the word heron.";
const recall = "What did I ask you to remember?";
const weather = '[[call: get_weather {"city": "Oslo"}]]';
const user = (content) => ({ role: "user", content });
const City = z.object({ name: z.string(), people: z.number().int(), sights: z.array(z.string()) });

const getWeather = tool({
  name: "get_weather",
  description: "The weather of a city.",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `sunny in ${city}`,
});
const getTime = tool({
  name: "get_time",
  description: "The time in a city.",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `noon in ${city}`,
});
const getParts = tool({
  name: "get_parts",
  description: "The weather of a city in parts.",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => [
    { type: "text", text: "sunny" },
    { type: "text", text: `in ${city}` },
  ],
});
const fail = tool({
  name: "fail",
  description: "Throws.",
  parameters: z.object({ text: z.string() }),
  execute: ({ text }) => {
    throw new Error(text);
  },
});

const agent = (more) =>
  new Agent({ name: "helper", model: "codex", instructions: "Speak like a heron in javascript.", ...more });
const stream = async (a, input, options) => streamed(await run(a, input, { ...options, stream: true }));
const conversationOf = async (result) => (await new OpenAI().responses.retrieve(result.lastResponseId)).conversation.id;

const handoffPrompt = "How much is it? [[try: transfer_to_expert {}]] [[say: forty-two]]";
const triage = () =>
  agent({
    name: "triage",
    instructions: "Hand over to the expert.",
    handoffs: [agent({ name: "expert", instructions: "You know numbers.", handoffDescription: "Knows numbers." })],
  });
const roles = (items) => items.map((i) => i.role ?? i.type);

const cases = {
  // -- what needs no function tools

  async plain() {
    return [facts(await run(agent(), remember))];
  },
  async plain_streamed() {
    return [await stream(agent(), "[[think: let me see]] [[say: one two three]]")];
  },
  // The coding agent's own tools are shown, and not executed by the SDK.
  async own_tools() {
    return [facts(await run(agent(), "[[say: I will run it.]] [[shell: echo from a shell]]"))];
  },
  async own_tools_streamed() {
    return [await stream(agent(), "[[say: I will run it.]] [[shell: echo from a shell]]")];
  },
  async structured() {
    return [facts(await run(agent({ outputType: City }), "[[json]]"))];
  },
  async structured_streamed() {
    return [await stream(agent({ outputType: City }), "[[say: I will look.]] [[shell: true]] [[json]]")];
  },
  async previous_response() {
    const first = await run(agent(), remember);
    const second = await run(agent(), recall, { previousResponseId: first.lastResponseId });
    return [facts(first), facts(second), await stream(agent(), recall, { previousResponseId: second.lastResponseId })];
  },
  async conversation() {
    const first = await run(agent(), remember);
    return [facts(first), facts(await run(agent(), recall, { conversationId: await conversationOf(first) }))];
  },
  async transcript() {
    const first = await run(agent(), `${remember} [[think: hm]] [[shell: echo from a shell]]`);
    return [facts(first), facts(await run(agent(), [...first.history, user(recall)]))];
  },
  async local_memory() {
    const session = new MemorySession();
    const first = await run(agent(), remember, { session });
    return [facts(first), facts(await run(agent(), recall, { session }))];
  },
  // Everything that modelSettings has is taken, and what has no effect is named.
  async settings() {
    let ignored;
    const client = new OpenAI({
      fetch: async (...request) => {
        const response = await fetch(...request);
        ignored = response.headers.get("x-agent-sandbox-ignored-params");
        return response;
      },
    });
    const modelSettings = {
      temperature: 0.5,
      topP: 0.5,
      toolChoice: "auto",
      parallelToolCalls: true,
      truncation: "auto",
      maxTokens: 1000,
      reasoning: { effort: "low", summary: "auto" },
      text: { verbosity: "low" },
      store: true,
      promptCacheRetention: "24h",
      promptCacheOptions: { mode: "implicit" },
      contextManagement: [{ type: "compaction", compactThreshold: 100000 }],
      providerData: {
        metadata: { team: "blue" },
        include: ["reasoning.encrypted_content"],
        top_logprobs: 2,
        prompt_cache_key: "mine",
        service_tier: "default",
        safety_identifier: "someone",
        parallel_tool_calls: true,
      },
    };
    const a = agent({ model: new OpenAIResponsesModel(client, "codex"), modelSettings });
    return [{ ...facts(await run(a, "[[say: set]]")), ignored: (ignored ?? "").split(",") }];
  },
  // What goes wrong is thrown as the SDK's own errors.
  async refused() {
    const thrown = (promise) =>
      promise.then(
        () => "nothing",
        (e) => e.constructor.name,
      );
    return [
      {
        raised: await Promise.all([
          thrown(run(agent(), "hello", { previousResponseId: `resp_${"0".repeat(32)}` })),
          thrown(run(agent(), "[[error: 401]]")),
          thrown(run(agent({ outputType: City }), "[[say: no JSON]]")),
        ]),
      },
    ];
  },

  // -- function tools

  async tool() {
    return [facts(await run(agent({ tools: [getWeather] }), weather))];
  },
  async tool_streamed() {
    return [await stream(agent({ tools: [getWeather] }), `[[say: Let me look.]] ${weather}`)];
  },
  async tools_parallel() {
    const prompt = `${weather} [[and]] [[call: get_time {"city": "Rome"}]]`;
    return [facts(await run(agent({ tools: [getWeather, getTime] }), prompt))];
  },
  async tools_in_turn() {
    const prompt = `${weather} [[call: get_time {"city": "Rome"}]]`;
    return [facts(await run(agent({ tools: [getWeather, getTime] }), prompt))];
  },
  async tool_fails() {
    return [facts(await run(agent({ tools: [fail] }), '[[call: fail {"text": "no"}]]'))];
  },
  async tool_parts() {
    return [facts(await run(agent({ tools: [getParts] }), '[[call: get_parts {"city": "Oslo"}]]'))];
  },
  // Instructions made anew for each step of the loop are no handoff.
  async tool_dynamic() {
    let step = 0;
    const instructions = () => `This is step ${++step}.`;
    return [facts(await run(agent({ tools: [getWeather], instructions }), weather))];
  },
  // A function tool between the coding agent's own.
  async tool_beside_own() {
    return [facts(await run(agent({ tools: [getWeather] }), `[[shell: echo one]] ${weather} [[shell: echo two]]`))];
  },
  async tool_structured() {
    return [facts(await run(agent({ tools: [getWeather], outputType: City }), `${weather} [[json]]`))];
  },
  // Only what is new is sent, in each step of the loop.
  async tool_previous_response() {
    const a = agent({ tools: [getWeather] });
    const before = await run(a, "[[say: hello]]");
    const first = await run(a, `${remember} ${weather}`, { previousResponseId: before.lastResponseId });
    return [facts(first), facts(await run(a, recall, { previousResponseId: first.lastResponseId }))];
  },
  async tool_transcript() {
    const a = agent({ tools: [getWeather] });
    const first = await run(a, `${remember} ${weather}`);
    return [facts(first), facts(await run(a, [...first.history, user(recall)]))];
  },
  async tool_conversation() {
    const a = agent({ tools: [getWeather] });
    const first = await run(a, remember);
    return [facts(first), facts(await run(a, weather, { conversationId: await conversationOf(first) }))];
  },
  async tool_required() {
    const a = agent({ tools: [getWeather], modelSettings: { toolChoice: "required", parallelToolCalls: false } });
    const named = agent({ tools: [getWeather], modelSettings: { toolChoice: "get_weather" } });
    return [facts(await run(a, weather)), facts(await run(named, weather))];
  },
  // A model that may call no tool is not offered any.
  async tool_none() {
    const a = agent({ tools: [getWeather], modelSettings: { toolChoice: "none" } });
    return [facts(await run(a, '[[try: get_weather {"city": "Oslo"}]] [[say: without]]'))];
  },
  async agent_as_tool() {
    const expert = agent({ name: "expert" }).asTool({ toolName: "ask_expert", toolDescription: "Asks the expert." });
    return [facts(await run(agent({ tools: [expert] }), '[[call: ask_expert {"input": "[[say: forty-two]]"}]]'))];
  },

  // -- handoffs

  async handoff() {
    return [facts(await run(triage(), handoffPrompt))];
  },
  async handoff_streamed() {
    return [await stream(triage(), handoffPrompt)];
  },
  // The other agent remembers what was said before, and goes on.
  async handoff_transcript() {
    const first = await run(triage(), `${remember} [[try: transfer_to_expert {}]] [[say: yes]]`);
    return [facts(first), facts(await run(first.lastAgent, [...first.history, user(recall)]))];
  },

  // -- memory that the server keeps

  async server_memory() {
    const session = new OpenAIConversationsSession();
    const first = await run(agent(), remember, { session });
    const second = await stream(agent(), recall, { session });
    const all = roles(await session.getItems());
    const newest = roles(await session.getItems(1));
    const popped = (await session.popItem()).role;
    const left = (await session.getItems()).length;
    await session.clearSession();
    return [facts(first), second, { roles: all, newest, popped, left }];
  },
  async server_memory_tool() {
    const session = new OpenAIConversationsSession();
    const a = agent({ tools: [getWeather] });
    const first = await run(a, `${remember} ${weather}`, { session });
    const second = await run(a, recall, { session });
    return [facts(first), facts(second), { roles: roles(await session.getItems()) }];
  },
};

await main(cases, process.argv.slice(2), () => sdk.getGlobalTraceProvider().forceFlush());
