import type { components } from '@trunkline/client';
import type { Command } from 'commander';
import type { First } from '../client-types.ts';
import { Fault, Interrupted } from '../faults.ts';
import { type Client, type Context, group } from '../group.ts';
import type { Io } from '../io.ts';
import { plain } from '../text.ts';
import { pollUntil } from '../wait.ts';
import { reasonInWords } from './reasons.ts';

type Call = components['schemas']['Call'];

const EXAMPLE = 'room_…';
const LAST_STATES: ReadonlySet<Call['status']> = new Set(['completed', 'failed', 'cancelled']);

export function addCalls(program: Command, io: Io): void {
  const calls = group(program, io, 'calls', 'Calls, one by one', EXAMPLE);
  calls.list(
    (client: Client) => client.calls.list,
    [
      ['room', 'roomId'],
      ['outcome', ({ outcome, status }) => outcome ?? status],
      ['to', 'toNumber'],
      ['when', 'queuedAt'],
      ['from', 'fromNumber'],
      ['agent', 'agentId'],
    ],
    {
      phoneNumber: ['text', 'of this number'],
      status: ['text', 'queued, in_progress, completed, …'],
      outcome: ['text', 'answered, voicemail, busy, …'],
      direction: ['text', 'outbound or inbound'],
      campaignId: ['text', 'of this campaign'],
      batchId: ['text', 'of this batch'],
      tag: ['text', 'of this tag'],
      metadata: ['text', 'name=value, of their metadata'],
    },
  );
  calls.one('show <room>', 'Show a call', (client, room = '') => client.calls.get(room));
  const place = {
    usage: 'place <to>',
    says: 'Call somebody, once',
    example: 'place +14155550100 --agent-id agent_hello',
  };
  const make = (client: Context['client'], body: First<'calls', 'create'>, toNumber = '') =>
    client.calls.create({ ...body, toNumber });
  calls.send(
    place,
    {
      agentId: ['text', 'the agent that talks'],
      fromNumber: ['text', 'the number that calls'],
      numberPoolId: ['text', 'or the pool of numbers'],
      defaultCountry: ['text', 'reads a national number'],
      scheduledAt: ['text', 'not before then'],
      expiresAt: ['text', 'not after then'],
      externalId: ['text', 'what you call it'],
      tags: ['list', 'to find it by'],
    },
    make,
  );
  calls.one('listen <room>', 'Make a URL to listen at, once', (client, room = '') => client.calls.listenTo(room));
  calls.one('end <room>', 'Hang up', (client, room = '') => client.calls.end(room));
  const dtmf = {
    usage: 'dtmf <room> <digits>',
    says: 'Press keys; w pauses half a second, W one',
    example: `dtmf ${EXAMPLE} 2W104#`,
  };
  calls.add(dtmf, sendDigits);
  const transfer = {
    usage: 'transfer <room> <to>',
    says: 'Hand the person on to a number',
    example: `transfer ${EXAMPLE} +14155550199`,
  };
  calls.add(transfer, handOn).option('--timeout-seconds <n>', 'how long it rings there', Number);
  const follow = { usage: 'follow <room>', says: 'Follow a call to its end', example: `follow ${EXAMPLE}` };
  calls.add(follow, followCall);
}

/** Has keys pressed, and waits until they are. */
async function sendDigits({ client, io, screen }: Context, room = '', digits = ''): Promise<void> {
  const asked = await client.calls.sendDtmf(room, { digits });
  const read = () => client.calls.getDtmf(room, asked.id);
  const sent = await pollUntil(read, ({ endedAt }) => endedAt !== undefined, { signal: io.signal });
  screen.record(sent);
  if (sent.status === 'failed') throw new Fault(`The keys were not pressed: ${sent.reason}.`);
}

/** Hands a call on, and waits until both parties are joined. */
async function handOn({ client, io, screen, options }: Context, room = '', to = ''): Promise<void> {
  const timeoutSeconds = options['timeoutSeconds'] as number | undefined;
  const asked = await client.calls.transfer(room, { to, ...(timeoutSeconds !== undefined && { timeoutSeconds }) });
  const read = () => client.calls.getTransfer(room, asked.id);
  const settled = await pollUntil(read, ({ settledAt }) => settledAt !== undefined, { signal: io.signal });
  screen.record(settled);
  if (settled.status === 'failed') throw new Fault(`The call was not handed on: ${settled.reason}.`);
}

/** Reads a call twice a second, and tells each state. Calls have no stream of events of their own. */
async function followCall({ client, io, screen }: Context, room = ''): Promise<void> {
  let last: Call['status'] | undefined;
  const tell = (call: Call) => {
    if (call.status !== last) screen.event(call, stateOf(call));
    last = call.status;
  };
  try {
    const read = () => client.calls.get(room);
    const call = await pollUntil(read, ({ status }) => LAST_STATES.has(status), { signal: io.signal, onValue: tell });
    if (call.status !== 'completed')
      throw new Fault(`The call was not answered: ${call.outcome ?? call.status}.`, {
        next: reasonInWords(call.reason),
      });
  } catch (error) {
    if (!io.signal.aborted) throw error;
    throw new Interrupted(`Stopped following. The call goes on; hang up: trunkline calls end ${room}`);
  }
}

function stateOf(call: Call): string {
  const why = call.reason ? `: ${reasonInWords(call.reason)}` : '';
  const outcome = call.outcome && call.outcome !== 'answered' ? `, ${call.outcome}` : '';
  const at = call.endedAt ?? call.answeredAt ?? call.ringingAt ?? call.dialedAt ?? call.queuedAt;
  return `${plain(at)}  ${call.status}${outcome}${why}`;
}
