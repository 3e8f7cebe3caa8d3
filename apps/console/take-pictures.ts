import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openAsBlob, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createClient, type TrunklineClient } from '@trunkline/client';
import { type Page, startBrowser } from '../../openapi/test/browser.ts';
import { animated } from './animated-webp.ts';

// Takes the README's picture that moves, of a campaign in the console, light and dark, by Debian's chromium:
// `node --run pictures`. Nobody is called: the telephone network is simulated.

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const folder = fileOf('../../docs/pictures/');
const LARGEST_BYTES = 700_000;
const SIZE = [1200, 760] as const;
const FRAMES = 16;
const BETWEEN_MS = 1500;
const SHOWN_MS = 700;
const LAST_MS = 3000;

/** Not by its types: it is checked with the server, and not with what runs in a browser. */
const { removeEmbeddedPostgres } = (await import(fileOf('../server/src/foundation/database/postgres/embedded.ts'))) as {
  removeEmbeddedPostgres(dataDir: string): Promise<void>;
};

/** A server with its own database, in a folder that goes with it. */
async function startServer() {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'trunkline-pictures-'));
  const apiKey = `tl_test_${randomBytes(24).toString('hex')}`;
  const child = spawn(process.execPath, ['--conditions=source', fileOf('../server/src/main.ts'), 'serve'], {
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: dataDir,
      BOOTSTRAP_API_KEY: apiKey,
      LOG_LEVEL: 'error',
      SIMULATOR_SPEED: '6',
      SIMULATOR_SEED: '7',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { url } = JSON.parse(line) as { url: string };
  return {
    url,
    apiKey,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      await removeEmbeddedPostgres(dataDir);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** From the hour that it is in the mountains of the USA, by the callee's clock: those west of them wait. */
const hours = () => {
  const hour = new Date().toLocaleString('en-GB', { hour: '2-digit', timeZone: 'America/Denver' });
  return { scheduleStart: Number(hour) * 60, scheduleEnd: 1440 };
};

/** A campaign over the demo's contacts. */
async function startCampaign(client: TrunklineClient): Promise<string> {
  const provider = 'simulator';
  const { items } = await client.phoneNumbers.searchAvailable({ provider, country: 'US' });
  const fromNumber = items[0]!.phoneNumber;
  await client.phoneNumbers.buy({ phoneNumber: fromNumber, provider });
  const file = await openAsBlob(fileOf('../demo/contacts.csv'));
  const upload = await client.contactLists.upload({
    name: 'Patients',
    fileName: 'contacts.csv',
    file,
    defaultCountry: 'US',
  });
  const list = await client.contactLists.confirm(upload.list.id);
  const { id } = await client.campaigns.create({
    name: 'Appointment reminders',
    agentId: 'agent_hello',
    fromNumber,
    lists: [{ id: list.id, role: 'contacts' }],
    maxConcurrency: 40,
    retryPolicy: [60],
    ...hours(),
  });
  await client.campaigns.start(id);
  return id;
}

async function takePictures(page: Page, name: string) {
  const frames: Buffer[] = [];
  for (let frame = 0; frame < FRAMES; frame += 1) {
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS));
    frames.push(await page.picture('webp'));
  }
  const times = frames.map((_, at) => (at === frames.length - 1 ? LAST_MS : SHOWN_MS));
  const moving = animated(frames, times, SIZE);
  if (moving.length > LARGEST_BYTES) throw new Error(`${name}.webp has ${moving.length} bytes`);
  writeFileSync(`${folder}${name}.webp`, moving);
  writeFileSync(`${folder}${name}-still.webp`, frames.at(-1)!);
}

const server = await startServer();
const browser = await startBrowser();
try {
  mkdirSync(folder, { recursive: true });
  const id = await startCampaign(createClient({ baseUrl: server.url, apiKey: server.apiKey }));
  const page = await browser.page();
  for (const dark of [false, true]) {
    await page.size(...SIZE, dark);
    await page.open(`${server.url}/livez`);
    await page.run(`fetch('/v1/sessions', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: ${JSON.stringify(JSON.stringify({ apiKey: server.apiKey }))},
    }).then(({ ok }) => { if (!ok) throw new Error('No session.'); })`);
    await page.open(`${server.url}/console/campaigns/${id}`);
    await takePictures(page, dark ? 'campaign-dark' : 'campaign-light');
  }
} finally {
  await browser.stop();
  await server.stop();
}
