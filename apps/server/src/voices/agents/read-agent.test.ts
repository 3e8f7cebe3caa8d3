import { expect, test } from 'vitest';
import { readAgent as readWith } from './read-agent.ts';

const readAgent = (value: unknown) =>
  readWith(value, (text) => (text.endsWith('{{') ? 'has a loose brace' : undefined));
const url = 'wss://agents.example.com/anna';
const connection = { type: 'stream', url };

test('an agent has an ID and a name, and unknown fields are left out', () => {
  expect(readAgent({ id: 'a', name: 'Anna', color: 'red' })).toEqual({ id: 'a', name: 'Anna' });
});

test('a connection has the defaults of the contract', () => {
  const read = readAgent({ id: 'a', name: 'Anna', connection, maxConcurrentCalls: 3, maxCallSeconds: 60 });
  expect(read).toEqual({
    id: 'a',
    name: 'Anna',
    connection: { ...connection, headers: {}, connectAt: 'answered', connectTimeoutSeconds: 2, reconnect: false },
    maxConcurrentCalls: 3,
    maxCallSeconds: 60,
  });
  const given = { headers: { Authorization: 'x' }, secret: 's', connectAt: 'ringing', connectTimeoutSeconds: 5 };
  const whole = { ...connection, ...given, reconnect: true };
  expect(readAgent({ id: 'a', name: 'A', connection: whole }).connection).toEqual(whole);
});

const model = { type: 'realtime', protocol: 'openai_realtime', model: 'gpt-realtime-2' };
const hill = { id: 'a', name: 'Anna', instructions: 'Be brief, {{name}}.' };
const tool = { name: 'slots', description: 'Tells slots.', url: 'https://a.example/slots', color: 'red' };

test('an agent may be a speech model', () => {
  const read = readAgent({ ...hill, connection: model }).connection;
  expect(read).toMatchObject({
    ...{ ...model, url: 'wss://api.openai.com/v1/realtime', instructions: hill.instructions },
    ...{ speaksFirst: true, silenceSeconds: 30, http: { tools: [] } },
  });
  expect(read).not.toMatchObject({ apiKey: expect.anything() });
  const more = { apiKey: 'sk-1', url, voice: 'marin', language: 'de', secret: 'a-key' };
  const whole = readAgent({
    ...{ ...hill, connection: { ...model, ...more }, firstMessage: 'Hi.', speaksFirst: false, silenceSeconds: 9 },
    ...{ tools: [{ ...tool, headers: { 'X-Key': 'k' } }], resultSchema: { type: 'object' } },
    knowledgeBaseIds: [`kb_${'0'.repeat(32)}`],
  }).connection;
  expect(whole).toMatchObject({
    ...{ apiKey: 'sk-1', url, voice: 'marin', language: 'de', firstMessage: 'Hi.', speaksFirst: false },
    ...{ silenceSeconds: 9, asksFor: 'record_result' },
    http: { secret: 'a-key', tools: [{ name: 'slots', url: tool.url, headers: { 'X-Key': 'k' }, timeoutMs: 8000 }] },
  });
  const names = (whole as unknown as { tools: { name: string }[] }).tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['end_call', 'search_knowledge', 'slots']));
});

const needed = 'it needs an id and a name';
test.each<[unknown, string]>([
  [null, needed],
  ['a', needed],
  [[], needed],
  [{ id: 'a' }, needed],
  [{ id: '', name: 'Anna' }, needed],
  [{ id: 7, name: 'Anna' }, needed],
  [{ id: 'a', name: 'A', connection: url }, 'connection must be an object with a type and a url'],
  [{ id: 'a', name: 'A', connection: { url } }, 'connection.type must be stream or realtime'],
  [{ id: 'a', name: 'A', connection: { type: 'stream', url: 'ftp://a' } }, 'connection.url must be a wss:// URL'],
  [
    { id: 'a', name: 'A', connection: { ...connection, headers: { a: 1 } } },
    'connection.headers must be names and texts',
  ],
  [{ id: 'a', name: 'A', connection: { ...connection, connectAt: 'soon' } }, 'connectAt must be answered or ringing'],
  [{ id: 'a', name: 'A', connection: model }, 'instructions must be given'],
  [{ ...hill, connection: { ...model, protocol: 'toString' } }, 'connection.protocol must be one of openai_realtime, '],
  [{ ...hill, connection: { ...model, backendModel: 'm' } }, 'connection/backendModel is for openai_live alone'],
  [{ ...hill, connection: { ...model, model: 7 } }, 'model must be a text'],
  [{ ...hill, connection: { ...model, url: 'https://a' } }, 'connection.url must be a wss:// URL'],
  [{ ...hill, connection: model, instructions: 'Be {{' }, 'instructions has a loose brace'],
  [{ ...hill, connection: model, resultSchema: { type: 'array' } }, 'resultSchema must be the schema of an object'],
  [{ ...hill, connection: model, tools: [{ name: 'A' }] }, 'tools must be a list of tools'],
  [{ ...hill, connection: model, tools: [tool] }, 'connection.secret must be a text'],
  [
    { ...hill, connection: { ...model, secret: 's' }, tools: [{ ...tool, name: 'opt_out' }] },
    'tools/0/name is the name of another tool',
  ],
  [{ id: 'a', name: 'A', maxConcurrentCalls: 0 }, 'maxConcurrentCalls must be a whole number above 0'],
  [{ id: 'a', name: 'A', recording: 'yes' }, 'recording must be true or false'],
])('%j is no agent', (value, message) => {
  expect(() => readAgent(value)).toThrow(message);
});
