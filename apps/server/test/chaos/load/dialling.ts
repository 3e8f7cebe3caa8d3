import { setTimeout as sleep } from 'node:timers/promises';
import { ConflictError, type TrunklineClient } from '@trunkline/client';
import { fromId } from '../../../src/foundation/values/ids.ts';
import type { Window } from '../history.ts';
import { isOpen } from '../laws/limits.ts';
import { MAX_CALL_SECONDS } from '../limits.ts';
import type { Clients } from './client-record.ts';
import { importFile } from './files.ts';
import type { Setting } from './setting.ts';
import type { Watching } from './streams.ts';

const MINUTES = 24 * 60;
/** Where the hours are open during the whole run, and where they are not. */
const OPEN_ZONE = 'UTC';
const farZones = ['Asia/Tokyo', 'Pacific/Honolulu'];
const RATE = 8;
/** The longest until something that dials is paused, and until it goes on, in milliseconds. */
const LONGEST_DELAY_MS = 3000;

/** Numbers of callees: of campaigns, where hours are over, over SIP, of single calls and runs, and of people whom many call. */
const numbers = {
  open: 14_152_000_000,
  closed: 14_157_000_000,
  sip: 14_156_000_000,
  single: 14_153_000_000,
  wanted: 14_154_000_000,
  callers: 14_159_000_000,
};
const phone = (digits: number) => `+${digits}`;

/** One of few people: several campaigns and calls by themselves want them at the same time. */
const wantedBy = (chance: () => number) => numbers.wanted + Math.floor(chance() * 4);

/** From two hours ago to four hours ahead, in UTC. */
function windowsNow(): Window {
  const now = Math.floor(Date.now() / 60_000) % MINUTES;
  return { start: (now - 120 + MINUTES) % MINUTES, end: (now + 240) % MINUTES };
}

/** A file of people, some of whom must not be called now or at all, and a campaign that calls them; some are followed. */
export async function runCampaign(clients: Clients, setting: Setting, watching: Watching): Promise<void> {
  const { insist, record, next, chance } = clients;
  const windows = windowsNow();
  const zones = new Map<number, string>();
  const count = 8 + Math.floor(chance() * 16);
  for (let at = 0; at < count; at += 1) {
    const isFar = at % 8 === 7;
    zones.set((isFar ? numbers.closed : numbers.open) + next(), isFar ? farZones[at % 2]! : OPEN_ZONE);
  }
  zones.set(wantedBy(chance), OPEN_ZONE);
  const name = `campaign-${next()}`;
  const people = [...zones].map(([number, zone]) => `${phone(number)},${zone}`);
  const refused = setting.refused.map((number) => `${phone(number)},${OPEN_ZONE}`);
  const lines = ['phone_number,timezone', ...people, ...refused, 'nobody,UTC'];
  const contacts = people.length + refused.length;
  const listId = await importFile(clients, name, lines, contacts);
  const body = {
    ...{ name, agentId: setting.agentId, fromNumber: setting.simulated },
    lists: [{ id: listId, role: 'contacts' as const }],
    callingWindows: [{ days: [1, 2, 3, 4, 5, 6, 7], ...windows }],
    ...{ maxConcurrency: 3 + Math.floor(chance() * 8), ringTimeoutSeconds: 10, maxCallSeconds: MAX_CALL_SECONDS },
    ...(chance() < 0.5 && { callsPerSecond: RATE }),
    ...(chance() < 0.5 && { retryPolicy: [1] }),
  };
  const { id } = await insist('createCampaign', (client) => client.campaigns.create(body, { idempotencyKey: name }));
  await act(clients, 'startCampaign', (client) => client.campaigns.start(id));
  const promise = { kind: 'campaign' as const, id: fromId(id), contacts, windows, zones, refused: setting.refused };
  const isStopped = chance() < 0.15;
  record.promised.push({ ...promise, isStopped });
  if (chance() < 0.5) watching.follow('campaign', id, (client, options) => client.campaigns.streamEvents(id, options));
  if (isStopped) {
    await sleep(LONGEST_DELAY_MS * chance());
    await act(clients, 'stopCampaign', (client) => client.campaigns.stop(id));
    record.silences.push({ campaign: fromId(id), from: Date.now(), to: Number.POSITIVE_INFINITY });
  } else if (chance() < 0.6)
    await pauseAwhile(clients, fromId(id), {
      pause: (client) => client.campaigns.pause(id),
      resume: (client) => client.campaigns.resume(id),
    });
}

type Move = (client: TrunklineClient) => Promise<unknown>;

/** Pauses a campaign or a batch while it dials, and lets it go on after a while. */
async function pauseAwhile(
  clients: Clients,
  campaign: string,
  { pause, resume }: { pause: Move; resume: Move },
): Promise<void> {
  const { chance, record } = clients;
  await sleep(LONGEST_DELAY_MS * chance());
  await act(clients, 'pause', pause);
  const from = Date.now();
  await sleep(LONGEST_DELAY_MS * chance());
  record.silences.push({ campaign, from, to: Date.now() });
  await act(clients, 'resume', resume);
}

/** A move of a state, which a lost answer may have made already, or the end of the campaign overtaken. */
const act = ({ insist }: Clients, operation: string, move: Move) =>
  insist(operation, async (client) => {
    await move(client).catch((error) => {
      if (!(error instanceof ConflictError)) throw error;
    });
  });

/** A batch over SIP, as the first is, or simulated; asked for twice now and then. */
export async function runBatch(clients: Clients, setting: Setting): Promise<void> {
  const { insist, record, next, chance } = clients;
  const overSip = chance() < 0.6 || !record.promised.some(({ kind }) => kind === 'batch');
  const base = overSip ? numbers.sip : numbers.single;
  const recipients = Array.from({ length: 3 + Math.floor(chance() * 8) }, () => ({
    phoneNumber: phone(base + next()),
  }));
  const idempotencyKey = `batch-${next()}`;
  const fromNumber = overSip ? setting.overSip : setting.simulated;
  const start = () =>
    insist('startBatch', (client) =>
      client.batches.start({ agentId: setting.agentId, fromNumber, recipients, maxConcurrency: 5 }, { idempotencyKey }),
    );
  const { batchId } = await start();
  record.promised.push({ kind: 'batch', id: fromId(batchId), contacts: recipients.length });
  if (chance() < 0.5 && (await start()).batchId !== batchId)
    record.wrongAnswers.push({ operation: 'startBatch', what: `another batch than ${batchId} for one key` });
  if (chance() < 0.4)
    await pauseAwhile(clients, fromId(batchId), {
      pause: (client) => client.batches.pause(batchId),
      resume: (client) => client.batches.resume(batchId),
    });
}

/** A call by itself, and some of them ended by who asked for them. */
export async function runCall(clients: Clients, setting: Setting): Promise<void> {
  const { insist, record, next, chance } = clients;
  const idempotencyKey = `call-${next()}`;
  const toNumber = phone(chance() < 0.3 ? wantedBy(chance) : numbers.single + next());
  const { roomId } = await insist('createCall', (client) =>
    client.calls.create(
      { agentId: setting.agentId, fromNumber: setting.simulated, toNumber, ringTimeoutSeconds: 10 },
      { idempotencyKey },
    ),
  );
  record.promised.push({ kind: 'call', id: fromId(roomId) });
  if (chance() < 0.3) await act(clients, 'endCall', (client) => client.calls.end(roomId));
}

/** Somebody calls a number of ours, at any server; whoever is not answered hangs up. */
export async function receiveCall({ next, chance }: Clients, { overSip, carrier, servers }: Setting): Promise<void> {
  const { sip } = servers[Math.floor(chance() * servers.length)]!;
  carrier.call({ from: numbers.callers + next(), to: overSip, ...sip });
}

/** A run of a workflow, some of them followed to their end. */
export async function startRun(clients: Clients, setting: Setting, watching: Watching): Promise<void> {
  const { insist, record, next, chance } = clients;
  const person = next();
  const context = { person, phone_number: phone(numbers.single + next()) };
  const { id } = await insist('startWorkflowRun', (client) =>
    client.workflows.startRun(
      setting.workflowId,
      { context },
      { idempotencyKey: `run-${person}`, concurrencyKey: `person-${person}` },
    ),
  );
  record.promised.push({ kind: 'run', id: fromId(id), person });
  if (chance() < 0.4) watching.follow('run', id, (client, options) => client.workflowRuns.streamRunEvents(id, options));
}

/** Whether the far zones are closed at this hour of UTC, as they must be for the laws to have something to see. */
export const farZonesAreClosed = (windows = windowsNow()): boolean =>
  farZones.every((zone) => !isOpen(windows, zone, Date.now()));
