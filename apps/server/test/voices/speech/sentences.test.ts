import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { ulawPcm } from '@trunkline/media';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { espeak, hasEspeak, speechServer } from '../../../src/voices/speech/speech-engine.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { type SpeechDouble, startSpeechDouble } from './speech-server.ts';

let speech: SpeechDouble;
let server: TestServer;
beforeAll(async () => {
  speech = await startSpeechDouble();
  server = await startTestServer({ config: { speechUrl: speech.url } });
});
afterAll(async () => {
  await server.stop();
  await speech[Symbol.asyncDispose]();
});

const soon = () => AbortSignal.timeout(5000);
const spoken = { text: 'Hello.', language: 'en' };
const engine = () => speechServer({ url: speech.url, model: 'm', voice: 'v' });

test('a server of the common form is asked, and what it sends is turned into µ-law at 8 kHz', async () => {
  expect((await engine().speak(spoken, soon())).length).toBe(8000);
  expect(speech.asked.at(-1)).toMatchObject({ model: 'm', voice: 'v', input: 'Hello.', response_format: 'wav' });
});

test.each([
  ['a refusal', { isRefused: true }, 'it answered 500.'],
  ['an hour of sound', { seconds: 130 }, 'The sound is too long.'],
])('%s is told in words', async (_, tone, message) => {
  speech.says('Wrong.', tone);
  await expect(engine().speak({ ...spoken, text: 'Wrong.' }, soon())).rejects.toThrow(
    `The server of SPEECH_URL gave no sound: ${message}`,
  );
});

test('one that does not answer is given up', async () => {
  speech.says('Slow.', { afterMs: 3000 });
  await expect(engine().speak({ ...spoken, text: 'Slow.' }, AbortSignal.timeout(50))).rejects.toThrow(/gave no sound/);
});

const isInstalled = spawnSync('espeak-ng', ['--version']).status === 0;

test.runIf(isInstalled)('espeak-ng speaks, and a text is no option of it', async () => {
  expect(await hasEspeak()).toBe(true);
  const sound = await espeak.speak({ text: '--version; $(touch /tmp/x) Hello', language: 'en-GB' }, soon());
  expect(sound.some((code) => Math.abs(ulawPcm[code]!) > 1000)).toBe(true);
  await expect(espeak.speak({ ...spoken, voice: 'nobody' }, soon())).rejects.toThrow(/voice nobody/);
});

test('a sentence is made at save, once for all agents, kept, and made again once nobody has played it for long', async () => {
  const make = (text: string) =>
    server.client.POST('/v1/agents', {
      body: { name: 'A', connection: { type: 'script', steps: [{ id: 'a', type: 'say', text }] } },
    });
  const files = async () => {
    const [folder] = await readdir(path.join(server.dataDir, 'objects/speech')).catch(() => []);
    return folder === undefined ? [] : readdir(path.join(server.dataDir, 'objects/speech', folder));
  };
  const timesAsked = (text: string) => speech.asked.filter(({ input }) => input === text).length;
  await make('Good day.');
  await until(async () => (await files()).length === 1);
  const { data } = await make('Good day.');
  const params = { path: { agentId: data!.data.agent.id } };
  const tested = await server.client.POST('/v1/agents/{agentId}/test', { params });
  expect(tested.data!.data).toMatchObject({ reachable: true });
  expect(timesAsked('Good day.')).toBe(1);

  await server.database.inEngine(({ db }) => sql`update speech_sounds set used_at = '2020-01-01'`.execute(db));
  await make('Good night.');
  await until(async () => timesAsked('Good night.') === 1 && (await files()).length === 1);
  const { rows } = await server.database.inEngine(({ db }) => sql`select digest from speech_sounds`.execute(db));
  expect(rows).toHaveLength(1);
});

const examples = path.join(import.meta.dirname, '../../../../../examples/agents');
const scripts = readdirSync(examples)
  .map((name) => ({ name, body: JSON.parse(readFileSync(path.join(examples, name), 'utf8')) }))
  .filter(({ body }) => body.connection.type === 'script');

test.each(scripts)('the example $name can be made as it is', async ({ body }) => {
  const { error } = await server.client.POST('/v1/agents', { body });
  expect(error).toBeUndefined();
});
