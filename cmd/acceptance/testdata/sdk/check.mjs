// What every case uses: cases, one line each, the shape check, refusals.
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual, inspect } from 'node:util';

// OpenAI is the SDK: ORACLE_SDK is its index.mjs.
const sdk = await import(process.env.ORACLE_SDK);
export const OpenAI = Object.assign(sdk.default, { toFile: sdk.toFile });

// shapes.json: the fields of the events and objects that this server sends, as the
// SDK's types have them. A leading ? marks an optional field; a type is a word,
// "#Name" of an object, "=word", [element], {enum}, {map}, {any: one of} or {fields}.
const shapes = JSON.parse(readFileSync(new URL('./shapes.json', import.meta.url), 'utf8'));

const show = (v) => inspect(v, { depth: 4, breakLength: Infinity, maxStringLength: 200 }).slice(0, 400);

function fields(v, want, path, out) {
  if (v === null || typeof v !== 'object' || Array.isArray(v)) {
    out.push(`${path} is ${show(v)}, no object`);
    return;
  }
  for (const [name, type] of Object.entries(want)) {
    const optional = name.startsWith('?');
    const key = optional ? name.slice(1) : name;
    if (v[key] !== undefined) check(v[key], type, `${path}.${key}`, out);
    else if (!optional) out.push(`${path}.${key} is missing`);
  }
}

function check(v, type, path, out) {
  const bad = (ok) => ok || out.push(`${path} is ${show(v)}, want ${JSON.stringify(type)}`);
  if (Array.isArray(type)) {
    if (bad(Array.isArray(v)) === true) v.forEach((e, i) => check(e, type[0], `${path}[${i}]`, out));
  } else if (typeof type === 'object') {
    if (type.enum) bad(type.enum.includes(v));
    else if (type.fields) fields(v, type.fields, path, out);
    else if (type.map) {
      if (bad(v !== null && typeof v === 'object') === true) for (const [k, e] of Object.entries(v)) check(e, type.map, `${path}.${k}`, out);
    } else {
      const faults = type.any.map((t) => {
        const own = [];
        check(v, t, path, own);
        return own;
      });
      // The member that comes nearest says what is wrong.
      if (faults.every((f) => f.length > 0)) out.push(...faults.reduce((a, b) => (b.length < a.length ? b : a)));
    }
  } else if (type === 'any') {
    return;
  } else if (type === 'null') {
    bad(v === null);
  } else if (type === 'integer') {
    bad(Number.isInteger(v));
  } else if (type[0] === '=') {
    bad(String(v) === type.slice(1));
  } else if (type[0] === '#') {
    check(v, shapes.objects[type.slice(1)], path, out);
  } else {
    bad(typeof v === type);
  }
}

// event is the event itself, after the check that it has all that its type says.
export function event(e) {
  const want = shapes.events[e.type];
  if (!want) throw new Error(`event type ${e.type} is none that this server sends`);
  const out = [];
  fields(e, want, e.type, out);
  if (out.length) throw new Error(out.slice(0, 5).join('; '));
  return e;
}

// whole is the same for an object.
export function whole(v, name) {
  const out = [];
  check(v, '#' + name, name, out);
  if (out.length) throw new Error(out.slice(0, 5).join('; '));
  return v;
}

export function eq(got, want) {
  if (!isDeepStrictEqual(got, want)) throw new Error(`got ${show(got)}, want ${show(want)}`);
}

export function has(text, part) {
  if (!String(text ?? '').includes(part)) throw new Error(`no ${show(part)} in ${show(text)}`);
}

// until asks until the answer is truthy; the only wait of these scripts.
export async function until(ask, limit = 20000) {
  const end = Date.now() + limit;
  for (;;) {
    const got = await ask();
    if (got) return got;
    if (Date.now() > end) throw new Error(`not so within ${limit} ms`);
    await new Promise((r) => setTimeout(r, 20));
  }
}

export async function all(iterable) {
  const out = [];
  for await (const e of iterable) out.push(e);
  return out;
}

// requestsOf says how many requests the counting proxy has seen for a case.
export async function requestsOf(name) {
  return Number(await (await fetch(`${process.env.ORACLE_COUNT_URL}/count/${name}`)).text());
}

// counted is a client whose requests are counted under a name.
export const counted = (name, options) => new OpenAI({ baseURL: process.env.ORACLE_COUNT_URL + '/v1', defaultHeaders: { 'X-Case': name }, ...options });

// refused: the call throws that very class, and the SDK asked once.
export async function refused(kind, name, call, code, options) {
  let error;
  try {
    const got = await call(counted(name, options));
    if (got?.[Symbol.asyncIterator]) await all(got);
  } catch (e) {
    error = e;
  }
  if (!error) throw new Error(`${name} was not refused`);
  if (error.constructor !== kind && !(kind === OpenAI.APIError && error.status === 413)) throw new Error(`${name} threw ${error.constructor.name}: ${error.message}`);
  if (!error.requestID) throw new Error(`${name}: no request id`);
  if (!error.error?.message || !error.type) throw new Error(`${name}: no typed body: ${JSON.stringify(error.error)}`);
  if (code) eq(error.code, code);
  eq(await requestsOf(name), 1);
  return error;
}

// run plays the cases, several at a time, and prints one line for each.
export async function run(cases) {
  const wanted = process.argv.slice(2);
  const todo = Object.entries(cases).filter(([name]) => wanted.length === 0 || wanted.includes(name));
  let failed = 0;
  const worker = async () => {
    for (let next = todo.shift(); next; next = todo.shift()) {
      const [name, play] = next;
      const start = Date.now();
      try {
        await play();
        console.log(`ok ${name} ${((Date.now() - start) / 1000).toFixed(2)}`);
      } catch (e) {
        failed++;
        const at = (e?.stack ?? '').split('\n').find((l) => /testdata\/sdk\/(?!check)\w+\.mjs/.test(l)) ?? '';
        const why = `${e?.name}: ${e?.message} (${at.trim().replace(/^at /, '').replace(/file:\S*\//, '')})`;
        console.log(`FAIL ${name}: ${why.replace(/\s+/g, ' ').slice(0, 1500)}`);
      }
    }
  };
  const total = todo.length;
  await Promise.all(Array.from({ length: Number(process.env.ORACLE_WORKERS ?? 6) }, worker));
  console.log(`end ${total}`);
  process.exit(failed ? 1 : 0);
}
