// Files with the official JavaScript SDK. A part of oracle.mjs, the twin of files.py.
import { all, eq, has, OpenAI, refused, whole } from './check.mjs';

const client = new OpenAI();
const file = (content, name = 'x.txt', type) => OpenAI.toFile(Buffer.from(content), name, type && { type });
const bytes = async (response) => Buffer.from(await (await response).arrayBuffer());

export const files = {
  async files_create_retrieve_content_delete() {
    const made = whole(await client.files.create({ file: await file('line 1\nline 2\n', 'notes.txt'), purpose: 'user_data' }), 'FileObject');
    eq([made.filename, made.bytes, made.purpose, made.status, made.expires_at], ['notes.txt', 14, 'user_data', 'processed', null]);
    eq({ ...whole(await client.files.retrieve(made.id), 'FileObject') }, { ...made });
    eq((await bytes(client.files.content(made.id))).toString(), 'line 1\nline 2\n');
    eq((await client.files.waitForProcessing(made.id, { pollInterval: 10 })).id, made.id);
    eq(whole(await client.files.delete(made.id), 'FileDeleted').deleted, true);
    await refused(OpenAI.NotFoundError, 'file_gone', (c) => c.files.retrieve(made.id), 'file_not_found');
    await refused(OpenAI.NotFoundError, 'file_content_gone', (c) => c.files.content(made.id), 'file_not_found');
    await refused(OpenAI.NotFoundError, 'file_gone_twice', (c) => c.files.delete(made.id), 'file_not_found');
  },
  async files_every_byte_comes_back() {
    const content = Buffer.concat([...Array(2000).fill(Buffer.from(Array.from({ length: 256 }, (_, i) => i))), Buffer.from('\r\n--boundary--\r\n')]);
    for (const type of [undefined, 'image/png']) {
      const made = whole(await client.files.create({ file: await file(content, 'all.bin', type), purpose: 'assistants' }), 'FileObject');
      eq([made.bytes, content.equals(await bytes(client.files.content(made.id)))], [content.length, true]);
    }
  },
  async files_names_are_only_shown() {
    for (const [name, kept] of [['../../etc/passwd', 'passwd'], ['übung.txt', 'übung.txt'], ['a b.txt', 'a b.txt']]) {
      const made = whole(await client.files.create({ file: await file('x', name), purpose: 'user_data' }), 'FileObject');
      eq(made.filename, kept);
      has((await client.files.content(made.id)).headers.get('content-disposition'), 'attachment; filename=');
    }
  },
  async files_lists_turn_their_pages() {
    const made = [];
    for (let i = 0; i < 5; i++) made.push((await client.files.create({ file: await file('x', `${i}.txt`), purpose: 'batch' })).id);
    const mine = async (list) => (await all(list)).map((f) => whole(f, 'FileObject').id).filter((id) => made.includes(id)); // other judges upload as well
    eq(await mine(client.files.list({ purpose: 'batch', limit: 2 })), [...made].reverse());
    eq(await mine(client.files.list({ purpose: 'batch', order: 'asc', after: made[2] })), made.slice(3));
    await refused(OpenAI.BadRequestError, 'files_limit', (c) => c.files.list({ limit: 0 }), 'invalid_request');
  },
  async files_another_principal_sees_nothing() {
    const made = await client.files.create({ file: await file('secret'), purpose: 'user_data' });
    const other = { apiKey: process.env.OTHER_API_KEY };
    const listed = await all(new OpenAI(other).files.list());
    eq(listed.filter((f) => f.id === made.id), []);
    for (const name of ['retrieve', 'content', 'delete']) {
      await refused(OpenAI.NotFoundError, `foreign_${name}`, (c) => c.files[name](made.id), 'file_not_found', other);
    }
  },
  async files_too_much_is_refused() {
    const big = await refused(OpenAI.APIError, 'large_file', async (c) => c.files.create({ file: await file('x'.repeat((1 << 20) + 1)), purpose: 'user_data' }), 'agents.file_too_large');
    eq(big.status, 413);
    await refused(OpenAI.BadRequestError, 'odd_purpose', async (c) => c.files.create({ file: await file('x'), purpose: 'party' }), 'invalid_request');
  },
  async files_text_is_read_by_the_agent() {
    const made = await client.files.create({ file: await file('the scripted word is: heron\n', 'task.txt'), purpose: 'user_data' });
    const input = [{ role: 'user', content: [{ type: 'input_text', text: 'read this' }, { type: 'input_file', file_id: made.id }] }];
    has((await client.responses.create({ model: 'codex', input })).output_text, '--- file: task.txt ---\nthe scripted word is: heron');
  },
};
