import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasChromium, startBrowser } from '../../../../../openapi/test/browser.ts';
import { addresses } from '../../../src/config-values.ts';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { type Agent, startAgent } from '../../lines/media/agent.ts';
import { msOf, tone } from '../../lines/media/tone.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { type SpeechDouble, startSpeechDouble } from '../speech/speech-server.ts';

let server: TestServer;
let agent: Agent;
let speech: SpeechDouble;
let folder: string;
let browser: Awaited<ReturnType<typeof startBrowser>> | undefined;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trunkline-talk-'));
  speech = await startSpeechDouble();
  const outboundAllowedAddresses = addresses('127.0.0.1');
  server = await startTestServer({ config: { outboundAllowedAddresses, speechUrl: speech.url } });
  agent = await startAgent();
});
afterAll(async () => {
  await browser?.stop();
  await server.stop();
  await agent.stop();
  await speech[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** A WAV file of PCM at 16 kHz with a tone, for a microphone. */
function microphone(hertz: number): Buffer {
  const samples = Int16Array.from({ length: 16_000 }, (_, at) =>
    Math.round(8000 * Math.sin((2 * Math.PI * hertz * at) / 16_000)),
  );
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.byteLength, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(16_000, 24);
  header.writeUInt32LE(32_000, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.byteLength, 40);
  return Buffer.concat([header, Buffer.from(samples.buffer)]);
}

/** Has the page say what it plays: the loudest frequency in Hz, 0 for silence. */
const listening = `
  const connect = AudioNode.prototype.connect;
  AudioNode.prototype.connect = function (to, ...more) {
    if (to instanceof AudioDestinationNode) {
      window.analyser = new AnalyserNode(this.context, { fftSize: 1024, smoothingTimeConstant: 0 });
      connect.call(this, window.analyser);
    }
    return connect.call(this, to, ...more);
  };
  window.played = () => {
    const levels = new Float32Array(512);
    window.analyser?.getFloatFrequencyData(levels);
    const loudest = levels.indexOf(Math.max(...levels));
    return levels[loudest] > -60 && levels[loudest] < 0 ? (loudest * 16000) / 1024 : 0;
  };`;

test.skipIf(!hasChromium)('a browser with a microphone talks to an agent on the page', async () => {
  const { data } = await server.client.POST('/v1/agents', {
    body: { name: 'Anna', connection: { type: 'stream', url: 'wss://agents.example.com/' } },
  });
  const id = fromId(data!.data.agent.id);
  const row = { connection_url: agent.url };
  await server.database.inEngine(({ db }) => db.updateTable('agents').set(row).where('id', '=', id).execute());
  const file = path.join(folder, 'microphone.wav');
  await writeFile(file, microphone(400));
  browser = await startBrowser([
    ...['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream'],
    ...[`--use-file-for-fake-audio-capture=${file}`, '--autoplay-policy=no-user-gesture-required'],
  ]);
  const page = await browser.page();
  await page.open(`${server.url}/talk#${server.apiKey}`);
  expect(await page.run<string>('location.href')).toBe(`${server.url}/talk`);
  await page.run(listening);
  const shown = (id: string) => page.run<string>(`document.getElementById('${id}').innerText`);
  await until(async () => (await shown('agent')) === 'Anna', 20);
  await page.run(`document.getElementById('variables').value = 'first_name=Ada'`);
  await page.run(`document.getElementById('talk').click()`);
  await until(() => msOf(400, agent.sound()) > 300, 30);
  expect(agent.of('start')[0]!.start!.customParameters).toMatchObject({ first_name: 'Ada' });
  agent.say(tone(600, 40_000));
  const plays = () => page.run<number>('played()');
  await until(async () => Math.abs((await plays()) - 600) < 20, 30);
  agent.clear();
  await until(async () => (await plays()) === 0);
  await page.run(`document.getElementById('keys').children[4].click()`);
  await until(() => agent.digits() === '5');
  await page.run(`document.getElementById('hang-up').click()`);
  await until(() => agent.connections.every(({ readyState }) => readyState === 3));
  await until(async () => (await shown('state')) === 'Over.');
  expect(page.told().errors).toEqual([]);
});

test.skipIf(!hasChromium)(
  'who is signed in to the console needs no key, and a script is chosen by the address: its greeting is heard and shown, and a key silences it',
  async () => {
    speech.says('Hello Ada.', { hertz: 900, seconds: 40 });
    const made = await server.client.POST('/v1/agents', {
      body: {
        name: 'Zoe',
        connection: {
          type: 'script',
          steps: [
            { id: 'hello', type: 'ask', text: 'Hello {{first_name}}.', keys: '5', saveAs: 'key' },
            { id: 'wait', type: 'ask', text: ' ', keys: '1', timeoutSeconds: 60 },
          ],
        },
      },
    });
    const page = await browser!.page();
    await page.open(`${server.url}/talk#${server.apiKey}`);
    const body = JSON.stringify({ apiKey: server.apiKey });
    const signIn = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
    await page.run(`fetch('/v1/sessions', ${JSON.stringify(signIn)}).then((answer) => answer.text())`);
    await page.open(`${server.url}/talk?agent=${made.data!.data.agent.id}`);
    expect(await page.run<string>(`document.getElementById('key').value`)).toBe('');
    await page.run(listening);
    const shown = (id: string) => page.run<string>(`document.getElementById('${id}').innerText`);
    await until(() => page.run<boolean>(`document.getElementById('agent').selectedOptions[0]?.label === 'Zoe'`), 20);
    await page.run(`document.getElementById('variables').value = 'first_name=Ada'`);
    await page.run(`document.getElementById('talk').click()`);
    const plays = () => page.run<number>('played()');
    await until(async () => Math.abs((await plays()) - 900) < 20, 30);
    // What is said is shown ten times a second, behind its first sound.
    await until(async () => expect(await shown('log')).toContain('Hello Ada.'));
    await page.run(`document.getElementById('keys').children[4].click()`);
    await until(async () => (await plays()) === 0);
    await until(async () => {
      const log = await shown('log');
      expect(log).toContain('The key 5 was pressed.');
      expect(log).toContain('{"data":{"key":"5"}} → Nothing comes of it in a talk');
    });
    await page.run(`document.getElementById('hang-up').click()`);
    await until(async () => (await shown('state')) === 'Over.');
    expect(page.told().errors).toEqual([]);
  },
);
