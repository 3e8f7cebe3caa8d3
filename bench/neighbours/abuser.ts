// A workspace that takes what it can, in a process of its own at the lowest priority: its own work is not what is measured.
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@trunkline/client';
import { createUserAgent, SdpSession } from '@trunkline/sip';
import { settingsOf, tell } from '../child.ts';

/** Where the server is, and who abuses it. */
export interface AbuserSettings {
  port: number;
  apiKey: string;
  sipPort: number;
  /** The address of its carrier. */
  carrier: string;
}

const { port, apiKey, sipPort, carrier } = settingsOf<AbuserSettings>();
setPriority(19);

const key = { 'X-API-Key': apiKey };
const agent = new Agent({ keepAlive: true, maxSockets: 4000 });
const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey, maxRetries: 0 });

/** What it can do, each until it is told to stop. */
const abuses: Record<string, (isOver: () => boolean) => Promise<void>> = {
  'bodies of unknown keys': (isOver) => inLanes(2, isOver, () => post(junk)),
  'bodies of a million values': (isOver) => inLanes(2, isOver, () => post(values)),
  'requests without a pause': (isOver) => inLanes(32, isOver, () => client.GET('/v1/calls/campaigns', {})),
  'streams at once': async (isOver) => {
    const made = await client.POST('/v1/calls/contact-lists', { body: { name: 'Noise', fileName: 'noise.csv' } });
    const { id, uploadID } = { id: made.data!.id, uploadID: made.data!.uploadDetails.id };
    const open = Array.from({ length: 3300 }, () => stream(`/v1/calls/contact-lists/${id}/uploads/${uploadID}/events`));
    await until(isOver);
    for (const each of open) each.destroy();
  },
  'INVITEs to nobody': async (isOver) => {
    const userAgent = await createUserAgent({ host: carrier, port: 0 });
    const targets = [{ transport: 'udp' as const, address: '127.0.0.1', port: sipPort }];
    const sdp = new SdpSession({ address: carrier, port: 9, codecs: ['PCMU'] }).offer();
    for (let at = 0; !isOver(); at += 1) {
      const to = `sip:+1415555${String(1000 + (at % 9000))}@127.0.0.1:${sipPort}`;
      userAgent.invite({ to, from: '<sip:+14155550177@theirs.example>', targets, sdp });
      if (at % 3 === 0) await sleep(10);
    }
    await userAgent.stop(0);
  },
  'silent connections': async (isOver) => {
    const open = Array.from({ length: 2000 }, () => connect(sipPort, '127.0.0.1').on('error', () => {}));
    await until(isOver);
    for (const each of open) each.destroy();
  },
};

async function until(isOver: () => boolean): Promise<void> {
  while (!isOver()) await sleep(20);
}

async function inLanes(lanes: number, isOver: () => boolean, one: () => Promise<unknown>): Promise<void> {
  const lane = async () => {
    // A refusal is what is to be expected.
    while (!isOver()) await one().catch(() => sleep(10));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** 7.6 MB, of which the first key is one too many. */
const junk = Buffer.from(`{${Array.from({ length: 650_000 }, (_, at) => `"k${at}":0`).join(',')}}`);

/** 8 MB, which are parsed to the end. */
const values = Buffer.from(`{"recipients":[${Array.from({ length: 1_000_000 }, () => '1234567').join(',')}]}`);

/** An answer to who is known: a stranger would measure less. */
function taken(response: IncomingMessage): IncomingMessage {
  if (response.statusCode === 401) throw new Error('The abuser has no valid key.');
  return response.resume();
}

const post = (body: Buffer) =>
  new Promise<void>((resolve, reject) => {
    const headers = { ...key, 'content-type': 'application/json', 'content-length': body.length };
    const sent = request({ port, agent, headers, method: 'POST', path: '/v1/calls/batch' });
    sent.on('error', reject).on('response', (response) => taken(response).on('end', resolve).on('error', reject));
    sent.end(body);
  });

const stream = (path: string) => {
  const sent = request({ port, agent, headers: key, path });
  sent.on('error', () => {}).on('response', (response) => taken(response).on('error', () => {}));
  return sent.end();
};

let isOver = true;
let underWay: Promise<void> = Promise.resolve();
tell(0, async (question) => {
  const { begin } = question as { begin?: string };
  if (begin !== undefined) {
    isOver = false;
    underWay = abuses[begin]!(() => isOver);
    // What is thrown is told at the end.
    underWay.catch(() => {});
    return true;
  }
  isOver = true;
  await underWay;
  return true;
});
