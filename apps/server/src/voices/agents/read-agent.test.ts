import { expect, test } from 'vitest';
import { readAgent } from './read-agent.ts';

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

const needed = 'it needs an id and a name';
test.each<[unknown, string]>([
  [null, needed],
  ['a', needed],
  [[], needed],
  [{ id: 'a' }, needed],
  [{ id: '', name: 'Anna' }, needed],
  [{ id: 7, name: 'Anna' }, needed],
  [{ id: 'a', name: 'A', connection: url }, 'connection must be an object with a type and a url'],
  [{ id: 'a', name: 'A', connection: { url } }, 'connection.type must be stream'],
  [{ id: 'a', name: 'A', connection: { type: 'stream', url: 'https://a' } }, 'connection.url must be a wss:// URL'],
  [
    { id: 'a', name: 'A', connection: { ...connection, headers: { a: 1 } } },
    'connection.headers must be names and texts',
  ],
  [{ id: 'a', name: 'A', connection: { ...connection, connectAt: 'soon' } }, 'connectAt must be answered or ringing'],
  [{ id: 'a', name: 'A', maxConcurrentCalls: 0 }, 'maxConcurrentCalls must be a whole number above 0'],
  [{ id: 'a', name: 'A', recording: 'yes' }, 'recording must be true or false'],
])('%j is no agent', (value, message) => {
  expect(() => readAgent(value)).toThrow(message);
});
