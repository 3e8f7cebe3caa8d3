import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@trunkline/client';
import { SdpSession } from '@trunkline/sip';
import { grantTrunks } from '../../apps/server/src/commands/trunk-grants.ts';
import { systemClock } from '../../apps/server/src/foundation/values/clock.ts';
import { createKey } from '../../apps/server/src/platform/api-keys/first-key.ts';
import { type Agent, sayHello, startAgent } from '../../apps/server/test/lines/media/agent.ts';
import { tone } from '../../apps/server/test/lines/media/tone.ts';
import { type Callee, type Carrier, startCarrier } from '../../apps/server/test/lines/telephony/carrier.ts';
import { atEnd } from '../at-end.ts';
import { type Child, forkServer, forkTrunkline } from '../child.ts';
import { type Postgres, startPostgres, temporaryFolder } from '../postgres.ts';
import { type Effort, inTurns, median, percentile } from '../rounds.ts';
import type { Cost, Found, Row } from '../table.ts';
import type { AbuserSettings } from './abuser.ts';

/** What the other workspace does meanwhile: the names of what `abuser.ts` can. */
const abuses = [
  'bodies of unknown keys',
  'bodies of a million values',
  'requests without a pause',
  'streams at once',
  'INVITEs to nobody',
  'silent connections',
] as const;
type Abuse = (typeof abuses)[number];
type Where = 'nothing' | 'here' | 'elsewhere';

const SIZES = { whole: { rounds: 3, seconds: 6 }, quick: { rounds: 1, seconds: 4 } };
const WARM_UP_MS = 1000;
const REQUEST_APART_MS = 25;
const CALL_APART_MS = 500;
/** Calls with sound both ways. */
const TALKING = 4;
const PACKETS_A_SECOND = 50;
const SIP_PORT = 25_160;
const OURS = { host: '127.0.0.2', number: '+14155550100' };
const THEIRS = { host: '127.0.0.3', number: '+14155550200' };

const KEYS = 5;
type Client = ReturnType<typeof createClient>;

interface Figures {
  p99: number;
  /** The share of the packets that the telephones should have heard. */
  sound: number;
  /** Calls that arrived and were not taken. */
  refused: number;
}

/** How a workspace fares beside one that abuses the server, beside one that abuses another server, and beside none, in turns. */
export async function benchNeighbours(effort: Effort): Promise<Found> {
  const quiet = await startQuiet();
  const rows: Row[] = [];
  const costs: Cost[] = [];
  for (const abuse of abuses) {
    const found = await inTurns(['nothing', 'here', 'elsewhere'] as const, SIZES[effort].rounds, (where) =>
      quiet.measure(effort, abuse, where),
    );
    const of = (where: Where, figure: keyof Figures) => median(found[where].map((each) => each[figure]));
    const what = `beside ${abuse}, p99 of another workspace’s requests`;
    const row = (peer: string, where: Where, aim?: string) =>
      rows.push({ what, ours: of('here', 'p99'), peer, theirs: of(where, 'p99'), unit: 'ms', ...(aim && { aim }) });
    row('the same with nobody there', 'nothing', '≤ 2');
    row('the same at another server', 'elsewhere');
    const cost = (of: string, value: number, unit: string, aim: string) =>
      costs.push({ what: `beside ${abuse}, ${of}`, value, unit, aim });
    cost('sound that it hears', of('here', 'sound') * 100, '%', '≥ 99 %');
    cost('its calls that are refused', Math.max(...found.here.map(({ refused }) => refused)), '', '0');
    const times = (['nothing', 'here', 'elsewhere'] as const).map(
      (where) => `${where} ${of(where, 'p99').toFixed(1)} ms`,
    );
    console.error(`  ${abuse}: p99 with it ${times.join(', ')}`);
  }
  return { rows, costs };
}

/** A server with two workspaces at two carriers, of which one keeps quiet, and another server with but the other. */
async function startQuiet() {
  const postgres = await startPostgres();
  const agent = await startAgent(sayHello);
  atEnd(() => agent.stop());
  const { server, keyOf, abuser } = await startAbused(postgres, agent, SIP_PORT);
  const ours = await join(server, agent, await keyOf('Default'), OURS);
  // One key may send 600 requests a minute.
  const keys = await Promise.all(Array.from({ length: KEYS }, () => keyOf('Default')));
  const clients = keys.map((apiKey) =>
    createClient({ baseUrl: `http://127.0.0.1:${server.port}`, apiKey, maxRetries: 0 }),
  );
  const elsewhere = await startAbused(postgres, agent, SIP_PORT + 200);
  const abusers = { here: abuser, elsewhere: elsewhere.abuser };
  return {
    measure: (effort: Effort, abuse: Abuse, where: Where) =>
      measure({ ...ours, clients, agent, abuser: where === 'nothing' ? undefined : abusers[where] }, effort, abuse),
  };
}

/** Starts a server, and a workspace of it that abuses it once it is told to. */
async function startAbused(postgres: Postgres, agent: Agent, sipPort: number) {
  const { database, connectionString } = await postgres.database();
  const keyOf = (workspace: string) =>
    createKey(database, systemClock, { workspace, name: 'Bench', permissions: ['*'] });
  const rtpPorts = { RTP_PORT_MIN: String(sipPort + 1000), RTP_PORT_MAX: String(sipPort + 1099) };
  const server = await forkTrunkline({
    ...{ DATABASE_URL: connectionString, DATA_DIR: await temporaryFolder(), LOG_LEVEL: 'silent' },
    ...{ SIP_HOST: '127.0.0.1', SIP_PORT: String(sipPort), ...rtpPorts },
    ...{ SIP_ALLOWED_ADDRESSES: '127.0.0.0/8', OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.0/8' },
  });
  for (const [workspace, { host }] of Object.entries({ Default: OURS, Noisy: THEIRS })) {
    await keyOf(workspace);
    await grantTrunks(database, { workspace, address: host, byName: false }, new Date());
  }
  const apiKey = await keyOf('Noisy');
  await join(server, agent, apiKey, THEIRS);
  const settings: AbuserSettings = { port: server.port, apiKey, sipPort, carrier: THEIRS.host };
  return { server, keyOf, abuser: await forkServer(new URL('./abuser.ts', import.meta.url), settings) };
}

/** Makes a workspace with a trunk to a carrier of its own, a number, and an agent that takes its calls. */
async function join({ port }: Child, agent: Agent, apiKey: string, { host, number }: typeof OURS) {
  const talks: Callee = async (call, answer) => {
    const phone = await answer();
    let isUp = true;
    void call.ended.then(() => {
      isUp = false;
    });
    // At the end its socket is closed while it speaks.
    while (isUp) await phone.speak(tone(400, 1600)).catch(() => (isUp = false));
  };
  const carrier = await startCarrier(() => talks, { host });
  atEnd(() => carrier.stop());
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey, maxRetries: 0 });
  await client.PATCH('/v1/workspace', { body: { quietHours: null } });
  const connection = { type: 'stream' as const, url: agent.url };
  const made = await client.POST('/v1/agents', { body: { name: 'Anna', connection } });
  const agentId = made.data!.data.agent.id;
  const trunk = await client.POST('/v1/telephony/trunks', { body: { terminationUrl: `${host}:${carrier.port}` } });
  const numbers = { phoneNumbers: [number], trunkId: trunk.data?.id ?? '', inboundAgentId: agentId };
  if (trunk.error) throw new Error(JSON.stringify(trunk.error));
  const imported = await client.POST('/v1/telephony/phone-numbers/import/manual', { body: numbers });
  if (imported.data?.imported.length !== 1) throw new Error(JSON.stringify(imported.error ?? imported.data));
  return { client, carrier, agentId };
}

type Quiet = Awaited<ReturnType<typeof join>> & { clients: Client[]; agent: Agent; abuser: Child | undefined };

async function measure({ client, clients, carrier, agentId, agent, abuser }: Quiet, effort: Effort, abuse: Abuse) {
  const ms = SIZES[effort].seconds * 1000;
  const before = { phones: carrier.phones.length, agents: agent.connections.length };
  for (let at = 0; at < TALKING; at += 1) {
    const body = { agentId, fromNumber: OURS.number, toNumber: `+1415555${1000 + before.phones + at}` };
    const placed = await client.POST('/v1/calls', { body });
    if (!placed.data) throw new Error(JSON.stringify(placed.error));
  }
  const latest = performance.now() + 10_000;
  while (agent.connections.length < before.agents + TALKING || carrier.phones.length < before.phones + TALKING) {
    if (performance.now() > latest) throw new Error('The calls did not come up.');
    await sleep(20);
  }
  const talking = agent.connections.slice(before.agents);
  const phones = carrier.phones.slice(before.phones);
  const said = tone(1000, 8 * (WARM_UP_MS + ms + 2000)).toString('base64');
  for (const socket of talking) socket.send(JSON.stringify({ event: 'media', media: { payload: said } }));
  await abuser?.ask({ begin: abuse });
  await sleep(WARM_UP_MS);

  const times: number[] = [];
  const begins = performance.now();
  const isOver = () => performance.now() - begins > ms;
  const heardBefore = phones.map(({ heard }) => heard.length);
  const requests = async () => {
    for (let at = 0; !isOver(); at += 1) {
      const from = performance.now();
      const by = clients[at % KEYS]!;
      const answer = at % 2 === 0 ? await by.GET('/v1/calls/campaigns', {}) : await addNumber(by);
      if (answer.error) throw new Error(JSON.stringify(answer.error));
      times.push(performance.now() - from);
      await sleep(REQUEST_APART_MS);
    }
  };
  const [refused] = await Promise.all([countRefused(carrier, isOver), requests()]);
  const heard = phones.reduce((sum, phone, at) => sum + phone.heard.length - heardBefore[at]!, 0);
  const seconds = (performance.now() - begins) / 1000;
  await abuser?.ask({});
  await Promise.all(carrier.calls.slice(before.phones).map(({ call }) => call.hangUp()));
  await sleep(500);
  return { p99: percentile(times, 0.99), sound: heard / (TALKING * PACKETS_A_SECOND * seconds), refused };
}

const addNumber = (client: Client) =>
  client.POST('/v1/calls/do-not-call', {
    body: { phoneNumbers: [`+1212555${1000 + Math.floor(Math.random() * 9000)}`] },
  });

/** Has people call our number, and hang up once they are answered. @returns how many were not */
async function countRefused({ userAgent }: Carrier, isOver: () => boolean): Promise<number> {
  const targets = [{ transport: 'udp' as const, address: '127.0.0.1', port: SIP_PORT }];
  const sdp = new SdpSession({ address: OURS.host, port: 9, codecs: ['PCMU'] }).offer();
  const calls: Promise<boolean>[] = [];
  while (!isOver()) {
    const to = `sip:${OURS.number}@127.0.0.1:${SIP_PORT}`;
    const call = userAgent.invite({ to, from: '<sip:+14155550177@ours.example>', targets, sdp });
    calls.push(
      call.answered.then(async (answered) => {
        await call.hangUp();
        return answered !== undefined;
      }),
    );
    await sleep(CALL_APART_MS);
  }
  return (await Promise.all(calls)).filter((isAnswered) => !isAnswered).length;
}
