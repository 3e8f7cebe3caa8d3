import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TrunklineClient } from '@trunkline/client';
import { ULAW_SILENCE } from '@trunkline/media';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Database } from '../../../src/foundation/database/database.ts';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { until } from '../../until.ts';
import {
  type Behaviour,
  type ModelSession,
  type OpenaiModel,
  startOpenaiModel,
} from '../media/realtime/openai-model.ts';
import { type Callee, type Carrier, startCarrier } from './carrier.ts';
import { killableServers, RTP_PORTS } from './killable-servers.ts';

const FROM = '+14155550100';
const tools = {
  opt_out: {},
  record_result: { summary: 'Comes.', converted: true },
  call_back: { inMinutes: 600 },
  book: { day: '2026-11-30' },
};
type Tool = keyof typeof tools;
const names = Object.keys(tools) as Tool[];
/** A number for each tool, of each of two servers. */
const numberOf = (tool: Tool, server: number) => `+1415555${server}0${10 + names.indexOf(tool)}`;

interface World {
  database: Database;
  model: OpenaiModel;
  carrier: Carrier;
  client: TrunklineClient;
  agentId: string;
}

/** Calls somebody for each tool. @returns how each one's model has its tool used, once all are up */
async function callAll({ client, model, agentId }: World, server: number): Promise<Record<Tool, () => void>> {
  for (const tool of names) {
    const body = { agentId, fromNumber: FROM, toNumber: numberOf(tool, server) };
    expect((await client.POST('/v1/calls', { body })).error).toBeUndefined();
  }
  const sessionOf = (tool: Tool) =>
    model.sessions.find((session) => JSON.stringify(session.of('session.update')).includes(numberOf(tool, server)));
  await until(() => names.every((tool) => sessionOf(tool)?.of('response.create').length === 1));
  const uses = (tool: Tool) => [tool, () => void use(sessionOf(tool)!, tool)];
  return Object.fromEntries(names.map(uses));
}

const use = (session: ModelSession, tool: Tool) => session.respond({ tools: { [tool]: tools[tool] } });

/** What the tools of a server's calls have come to. */
async function effects({ database }: World, server: number) {
  const digits = (tool: Tool) => Number(numberOf(tool, server).slice(1));
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ opted_out: number; result: object | null; opt_out_result: object | null; called_back: number }>`
      select
        (select count(*)::int from do_not_call where phone_number = ${digits('opt_out')}) as opted_out,
        (select result from calls where to_number = ${digits('opt_out')} and answered_at is not null) as opt_out_result,
        (select result from calls where to_number = ${digits('record_result')}) as result,
        (select count(*)::int from call_intents where to_number = ${digits('call_back')}
          and next_attempt_at > now() + interval '1 hour') as called_back`.execute(db),
  );
  return rows[0]!;
}

test('a server that is killed between the call of a tool and its answer has done it once, or not at all', () =>
  withDatabase(async (database) => {
    const asked: { id: unknown; body: string }[] = [];
    // It never answers: the server dies before that.
    const tool = createServer(async (request) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      asked.push({ id: request.headers['webhook-id'], body });
    }).listen(0, '127.0.0.1');
    await once(tool, 'listening');
    const behaviour: Behaviour = { asked: (session) => void session.respond({ hertz: 700, ms: 200, words: 'Hello.' }) };
    const model = await startOpenaiModel(behaviour);
    const talks: Callee = async (_call, answer) => {
      const phone = await answer();
      phone.send(Buffer.alloc(160, ULAW_SILENCE));
    };
    const carrier = await startCarrier(() => talks);
    const { start, clientOf, clear } = await killableServers(database);
    const rtpPort = 41_000 + 2 * Math.floor(Math.random() * 4000);
    const first = await start('one', rtpPort);
    const world = { database, model, carrier, client: clientOf(first), agentId: '' };
    world.agentId = await prepare(world, `http://127.0.0.1:${(tool.address() as AddressInfo).port}/book`);
    let second: Awaited<ReturnType<typeof start>> | undefined;
    try {
      // Killed while each waits for the row of its call: nothing of it is left.
      const before = await callAll(world, 1);
      await database.inEngine(async (tx) => {
        await sql`select from calls for update`.execute(tx.db);
        for (const tool of names) before[tool]();
        await until(async () => expect(await waiting(database)).toBeGreaterThanOrEqual(3));
        await until(() => asked.length === 1);
        await first.kill();
      });
      second = await start('two', rtpPort + RTP_PORTS);
      world.client = clientOf(second);
      await until(async () => {
        const { data } = await world.client.GET('/v1/calls', {});
        for (const { endedAt, outcome } of data!.items)
          expect({ isOver: endedAt !== undefined, outcome }).toEqual({ isOver: true, outcome: 'answered' });
      });
      expect(await effects(world, 1)).toEqual({ opted_out: 0, result: null, opt_out_result: null, called_back: 0 });
      expect(asked).toHaveLength(1);

      // Killed as soon as each is done: it was done once.
      const after = await callAll(world, 2);
      for (const tool of names) after[tool]();
      const done = { opted_out: 1, result: tools.record_result, opt_out_result: { optOut: true }, called_back: 1 };
      await until(async () => expect(await effects(world, 2)).toMatchObject(done));
      await until(() => asked.length === 2);
      await second.kill();
      expect(await effects(world, 2)).toMatchObject(done);
      expect(asked).toHaveLength(2);
      expect(new Set(asked.map(({ id }) => id)).size).toBe(2);
    } finally {
      await Promise.all([first.kill(), second?.kill(), carrier.stop(), model[Symbol.asyncDispose]()]);
      tool.closeAllConnections();
      tool.close();
      await clear();
    }
  }));

/** How many statements wait for a lock. */
async function waiting(database: Database): Promise<number> {
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ count: number }>`select count(*)::int from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db),
  );
  return rows[0]!.count;
}

/** A number to call from, and an agent that is a model, with a tool of its owner's. */
async function prepare({ client, carrier, model }: World, url: string): Promise<string> {
  await client.PATCH('/v1/workspace', { body: { quietHours: null } });
  const trunk = await client.POST('/v1/telephony/trunks', {
    body: { terminationUrl: `127.0.0.1:${carrier.port}`, callsPerSecond: 50 },
  });
  const number = { phoneNumbers: [FROM], trunkId: trunk.data!.id };
  await client.POST('/v1/telephony/phone-numbers/import/manual', { body: number });
  const parameters = { type: 'object', properties: { day: { type: 'string' } } };
  const made = await client.POST('/v1/agents', {
    body: {
      name: 'Anna',
      connection: { type: 'realtime', protocol: 'openai_realtime', url: model.url, model: 'gpt-realtime-2' },
      instructions: 'Remind {{name}}.',
      tools: [{ name: 'book', description: 'Books a day.', url, parameters, timeoutSeconds: 20 }],
    },
  });
  expect(made.error).toBeUndefined();
  return made.data!.data.agent.id;
}
