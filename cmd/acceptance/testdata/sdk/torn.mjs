// The twin of torn.py.
import { deepStrictEqual } from 'node:assert';
import { createInterface } from 'node:readline/promises';

const { default: OpenAI } = await import(process.env.ORACLE_SDK);

let id, last;
try {
  for await (const event of await new OpenAI().responses.create({ model: 'claude-code', input: '[[events: 3000 40 20]]', stream: true, background: true })) {
    id ??= event.response.id;
    last = event.sequence_number;
    if (event.type === 'response.output_text.delta') console.log('reading');
  }
  console.log('ended');
} catch (e) {
  console.log('raised', e.constructor.name, e.message);
  const lines = createInterface({ input: process.stdin });
  const client = new OpenAI({ baseURL: (await lines.question('')) + '/v1' });
  lines.close();
  const rest = [];
  for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: last })) rest.push(event);
  deepStrictEqual(
    rest.map((event) => event.sequence_number),
    rest.map((_, i) => last + 1 + i),
  );
  const end = rest.at(-1);
  const { output_text, ...now } = await client.responses.retrieve(id);
  deepStrictEqual(JSON.parse(JSON.stringify(now)), end.response);
  console.log('resumed', end.type, end.response.error.type);
}
