import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { openWav } from '../../../src/voices/sounds/wav.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { formWith, readSound, sendSound, sounds, uploadSound } from './sounds.ts';
import { formatChunk, riffOf, toneChunk, toneFile } from './wav-files.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ config: { storageMaxBytes: 6_000_000 } });
});
afterAll(() => server.stop());

const tone = (seconds: number, rate = 16_000) => toneFile({ rate, kind: 'pcm16', channels: 2, seconds });

const filesOnDisk = () => readdir(path.join(server.dataDir, 'objects/sounds')).catch(() => [] as string[]);
const answerTo = async (response: Response) => {
  const body = (await response.json()) as { code: string; error: string; details?: object[] };
  return { status: response.status, code: body.code, error: body.error, details: body.details };
};

test('a sound is sent, listed, heard and deleted', async () => {
  const made = await uploadSound(server, 'Greeting.wav', tone(1.5, 44_100));
  expect(made).toMatchObject({ name: 'Greeting.wav', durationMs: 1500, sizeBytes: 12_058 });
  const { url, ...inLists } = await readSound(server, made.id);
  const { data } = await server.client.GET(sounds, { params: { query: { searchText: 'GREET' } } });
  expect(data!.data).toMatchObject({ items: [inLists], totalCount: 1 });

  const heard = await fetch(url!);
  expect(heard.headers.get('content-type')).toBe('audio/wav');
  const file = Buffer.from(await heard.arrayBuffer());
  expect(file.length).toBe(12_058);
  expect((await openWav(Readable.from([file]))).samples).toBe(12_000);

  const params = { path: { soundId: made.id } };
  const deleted = await server.client.DELETE(`${sounds}/{soundId}`, { params });
  expect(deleted.data).toEqual({ success: true, data: { id: made.id, deleted: true } });
  expect((await server.client.GET(`${sounds}/{soundId}`, { params })).response.status).toBe(404);
  expect((await server.client.DELETE(`${sounds}/{soundId}`, { params })).response.status).toBe(404);
  await until(async () => (await filesOnDisk()).length === 0);
});

test('what is no sound is refused with its place, and nothing of it stays', async () => {
  const wav = { rate: 8000, kind: 'pcm16' } as const;
  const long = riffOf(
    formatChunk({ rate: 8000, kind: 'ulaw' }),
    toneChunk({ rate: 8000, kind: 'ulaw', seconds: 301 }, 440),
  );
  const cases: [FormData, number, RegExp][] = [
    [formWith({ 'a.mp3': Buffer.from('ID3 and more of an MP3 file') }), 400, /^body\/file must be a WAV file$/],
    [formWith({ 'a.wav': toneFile(wav).subarray(0, 3000) }), 400, /breaks off/],
    [formWith({ 'a.wav': toneFile({ ...wav, rate: 96_000 }) }), 400, /and has 96000/],
    [formWith({}), 400, /file is required/],
    [formWith({ 'a.wav': tone(0.1), 'b.wav': tone(0.1) }), 400, /one part named file/],
    [formWith({ 'a.wav': tone(0.1) }, 'files'), 400, /one part named file/],
    [formWith({ 'a.wav': long }), 413, /longer than 5 minutes/],
  ];
  for (const [form, status, error] of cases) {
    const answer = await answerTo(await sendSound(server, form));
    expect(answer).toMatchObject({ status, error: expect.stringMatching(error) });
    if (status === 400) expect(answer.details).toEqual([{ path: '/body/file', message: expect.any(String) }]);
  }
  const { data } = await server.client.GET(sounds);
  expect(data!.data.items).toEqual([]);
  await until(async () => (await filesOnDisk()).length === 0);
});

test('a request that is sent again makes one sound', async () => {
  const key = { 'Idempotency-Key': 'greeting' };
  const [first, again] = [
    await sendSound(server, formWith({ 'a.wav': tone(0.2) }), key),
    await sendSound(server, formWith({ 'a.wav': tone(0.2) }), key),
  ];
  const idOf = async (response: Response) => ((await response.json()) as { data: { id: string } }).data.id;
  expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 201, 'true']);
  expect(await idOf(again)).toBe(await idOf(first));
  const other = await sendSound(server, formWith({ 'a.wav': tone(0.3) }), key);
  expect(await answerTo(other)).toMatchObject({ status: 409, code: 'idempotency_key_reused' });
  expect(await filesOnDisk()).toHaveLength(1);
});

test('it counts among the bytes that a workspace keeps', async () => {
  const fives = toneFile({ rate: 8000, kind: 'ulaw', seconds: 300 });
  const kept = [await uploadSound(server, 'a.wav', fives), await uploadSound(server, 'b.wav', fives)];
  const answer = await answerTo(await sendSound(server, formWith({ 'c.wav': fives })));
  expect(answer).toMatchObject({ status: 409, code: 'limit_reached' });
  for (const { id } of kept) await server.client.DELETE(`${sounds}/{soundId}`, { params: { path: { soundId: id } } });
});

test('one that an agent plays is not deleted', async () => {
  const { id } = await uploadSound(server, 'a.wav', tone(0.1));
  const connection = { type: 'stream' as const, url: 'wss://agents.invalid/anna' };
  const { data } = await server.client.POST('/v1/agents', { body: { name: 'Anna', connection } });
  const agentId = data!.data.agent.id;
  await server.database.inEngine(({ db }) =>
    sql`insert into agent_sounds select workspace_id, ${fromId(agentId)}, id from sounds where id = ${fromId(id)}`.execute(
      db,
    ),
  );
  const params = { path: { soundId: id } };
  const { error, response } = await server.client.DELETE(`${sounds}/{soundId}`, { params });
  expect(response.status).toBe(409);
  expect(error).toEqual({
    code: 'sound_in_use',
    error: 'The agent "Anna" plays this sound. Change the agent first.',
    details: [{ path: '/path/soundId', message: `is played by the agent "Anna" (${agentId})` }],
  });
  await server.client.DELETE('/v1/agents/{agentId}', { params: { path: { agentId } } });
  expect((await server.client.DELETE(`${sounds}/{soundId}`, { params })).response.status).toBe(200);
});

test('others are served while a large file is turned into sound', async () => {
  const file = toneFile({ rate: 48_000, kind: 'pcm16', channels: 2, seconds: 10 });
  let turns = 0;
  let isDone = false;
  const sending = uploadSound(server, 'long.wav', file).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  const { durationMs, id } = await sending;
  expect(durationMs).toBe(10_000);
  expect(turns).toBeGreaterThan(file.length / 65_536);
  await server.client.DELETE(`${sounds}/{soundId}`, { params: { path: { soundId: id } } });
});
