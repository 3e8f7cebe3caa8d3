import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TrunklineClient, unwrap } from '@trunkline/client';
import { type Callees, startCallees } from './callees.ts';
import { makeModel, makeScript } from './demo-agents.ts';
import type { Screen } from './screen.ts';

/** What a campaign calls with: a number on a SIP trunk, and an agent. */
export interface SipLine {
  fromNumber: string;
  agentId: string;
  stop(): Promise<void>;
}

const FROM_NUMBER = '+14155550100';
/** How many of the demo's contacts are called where calls take as long as calls take. */
const CONTACTS = 60;
const RECORDING_SECONDS = 30;

interface PortRange {
  min: number;
  max: number;
}

/** Two ranges of RTP ports, for the server and for the callees, elsewhere at each run. */
function rtpPorts() {
  const min = 20_000 + 2 * Math.floor(Math.random() * 10_000);
  return { server: { min, max: min + 999 }, callees: { min: min + 1000, max: min + 1999 } };
}

/** The settings of a server that really calls, and may call and connect to this machine. */
export function sipSettings() {
  const ports = rtpPorts();
  const settings = {
    SIP_HOST: '127.0.0.1',
    SIP_PORT: '0',
    SIP_ALLOWED_ADDRESSES: '127.0.0.1',
    OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.1',
    RTP_PORT_MIN: String(ports.server.min),
    RTP_PORT_MAX: String(ports.server.max),
  };
  return { settings, calleePorts: ports.callees };
}

/** Starts callees, and makes a number, its trunk and an agent: a script, or a model if its key is given. */
export async function openSipLine(
  client: TrunklineClient,
  screen: Screen,
  { calleePorts, modelKey, signal }: { calleePorts: PortRange; modelKey: string | undefined; signal: AbortSignal },
): Promise<SipLine> {
  const callees: Callees = await startCallees(calleePorts);
  try {
    const agent = modelKey ? await makeModel(client, modelKey, signal) : await makeScript(client, signal);
    const trunk = { terminationUrl: callees.address, transport: 'udp' as const, callsPerSecond: 20 };
    const { id: trunkId } = await unwrap(client.POST('/v1/telephony/trunks', { body: trunk, signal }));
    const body = { phoneNumbers: [FROM_NUMBER], trunkId };
    await unwrap(client.POST('/v1/telephony/phone-numbers/import/manual', { body, signal }));
    screen.line('Trunk', `${callees.address}, SIP over UDP, with callees behind it`);
    screen.line('Agent', agent.says);
    return { fromNumber: FROM_NUMBER, agentId: agent.agentId, stop: callees.stop };
  } catch (error) {
    await callees.stop();
    throw error;
  }
}

/** The first of a file's contacts. */
export async function fewContacts(file: string): Promise<Blob> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  return new Blob([lines.slice(0, CONTACTS + 1).join('\n')]);
}

/** Saves the sound of an answered call. Returns where; undefined where none was recorded in time. */
export async function saveRecording(client: TrunklineClient, campaignId: string): Promise<string | undefined> {
  const until = performance.now() + RECORDING_SECONDS * 1000;
  const query = { campaignId, outcome: 'answered' as const };
  const { items } = await unwrap(client.GET('/v1/calls', { params: { query } }));
  const roomId = items.toSorted((a, b) => (b.durationSeconds ?? 0) - (a.durationSeconds ?? 0))[0]?.roomId;
  if (roomId === undefined) return undefined;
  while (performance.now() < until) {
    const { recording } = await unwrap(client.GET('/v1/calls/{roomId}', { params: { path: { roomId } } }));
    if (recording?.url) {
      const file = path.join(await mkdtemp(path.join(tmpdir(), 'trunkline-call-')), `${roomId}.wav`);
      await writeFile(file, Buffer.from(await (await fetch(recording.url)).arrayBuffer()));
      return file;
    }
    await sleep(500);
  }
  return undefined;
}
