import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { hangUp, json, standInServer, stream } from './stand-in.ts';

// What Node keeps of sources nobody reads again of a folder that goes, and it takes longer to write than to make.
delete process.env['NODE_COMPILE_CACHE'];
export const run = promisify(execFile);
export const root = path.dirname(import.meta.dirname);

/** An empty folder elsewhere, which is a package. */
export async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-client-'));
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ name: 'elsewhere', type: 'module' }));
  return folder;
}

/** Packs the package into the folder, and resolves to the tarball. */
export async function pack(folder: string): Promise<string> {
  const { stdout } = await run('pnpm', ['pack', '--json', '--pack-destination', folder], { cwd: root });
  return JSON.parse(stdout).filename;
}

/** Uses what the platforms do each in its way: fetch, streams, random numbers, signatures, the environment. */
const script = `
  import { createClient, NotFoundError, webhooks } from '@trunkline/client';
  const client = createClient();
  const seen = [];
  for await (const { data } of client.campaigns.streamEvents('cmp_1')) seen.push(data.campaign.status);
  const batch = { agentId: 'a', fromNumber: '+14155550200', recipients: [{ phoneNumber: '+14155550100' }] };
  seen.push((await client.batches.start(batch)).batchId);
  const documents = await client.knowledgeBases.addDocuments('kb_1', [{ name: 'a.txt', content: new Blob(['a']) }]);
  seen.push(documents.documents.length);
  seen.push(await client.campaigns.get('cmp_2').catch((error) => error instanceof NotFoundError));
  seen.push(await webhooks.unwrap('{}', {}, 'whsec_').catch((error) => error.name));
  console.log(seen.join());
`;

const event = (eventId: string, status: string) =>
  `id: ${eventId}\ndata: ${JSON.stringify({ eventId, eventType: 'campaign.x', data: { campaign: { status } } })}\n\n`;

/** Runs that script there: a request, a retry, a stream that breaks, a form, an error and a webhook. */
export async function tryIn(folder: string, program: string, words: readonly string[] = []): Promise<void> {
  await writeFile(path.join(folder, 'try.mjs'), script);
  const { url, received } = await standInServer(
    stream(event('1', 'running'), { cut: true }),
    hangUp,
    // What came right before the break may be lost on the way to the program, and is then asked for again.
    (response, request) => {
      const first = request.headers['last-event-id'] === '1' ? '' : event('1', 'running');
      return stream(first + event('2', 'completed'))(response, request);
    },
    json(503, {}, { 'Retry-After': '0' }),
    json(202, { batchId: 'bat_1' }),
    json(201, { documents: [{}] }),
    json(404, { code: 'not_found', error: 'No.' }),
  );
  const env = { PATH: process.env['PATH'], TRUNKLINE_BASE_URL: url, TRUNKLINE_API_KEY: 'tl_test' };
  const { stdout } = await run(program, [...words, 'try.mjs'], { cwd: folder, env });
  expect(stdout.trim()).toBe('running,completed,bat_1,1,true,WebhookSignatureError');
  expect(received[4]!.headers['idempotency-key']).toBe(received[3]!.headers['idempotency-key']);
  expect(received[5]!.body).toContain('filename="a.txt"');
}

/** Its last line must be found wrong. */
export const typed = `
  import { createClient, type WebhookEvent } from '@trunkline/client';
  import type { components } from '@trunkline/client/schema';
  const status: components['schemas']['CampaignStatus'] = (await createClient().campaigns.start('cmp_1')).status;
  export const told = (event: WebhookEvent) => (event.type === 'call.ended' ? event.data.roomId : status);
  // @ts-expect-error not an operation
  createClient().campaigns.launch;
`;
