// The twin of torn.py.
const { default: OpenAI } = await import(process.env.ORACLE_SDK);

try {
  for await (const event of await new OpenAI().responses.create({ model: 'claude-code', input: '[[events: 3000 40 20]]', stream: true })) {
    if (event.type === 'response.output_text.delta') console.log('reading');
  }
  console.log('ended');
} catch (e) {
  console.log('raised', e.constructor.name, e.message);
}
