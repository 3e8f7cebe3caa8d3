import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { claimIntent } from '../../../src/dialing/call-intents/claim-intent.ts';
import { dueIntents, expireIntents, TURN_SIZE, wakeBlocked } from '../../../src/dialing/call-intents/due-intents.ts';
import { intentCallOwner } from '../../../src/dialing/call-intents/own-calls.ts';
import type { Database } from '../../../src/foundation/database/database.ts';
import { openLease } from '../../../src/foundation/database/lease.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { noOperatorLimits } from '../../../src/platform/workspace/operator-limits.ts';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { seedNumber, seedWorkspace } from '../../seed/workspace.ts';
import { analyzeOnOld } from '../claim-cost.ts';
import { type StatementCost, statementCosts } from '../statement-cost.ts';

const LITTLE = 1000;
const MUCH = 50_000;
/** Of any statement of a turn. */
const MOST = 120;
/** A larger index is a level higher. */
const LEVEL_MORE = 1.6;
const now = new Date();

/** A workspace of whose intents a quarter each is due, blocked, to come, and placed; no statistics are taken. */
async function seedIntents(database: Database, intents: number): Promise<string> {
  const workspaceId = await seedWorkspace(database);
  const phoneNumberId = await seedNumber(database, workspaceId, '+14155550100');
  await database.inEngine(({ db }) =>
    sql`
      insert into call_intents (workspace_id, id, to_number, agent_id, phone_number_id, from_number, simulated, variables,
        metadata, expires_at, timezone, callee_time_zone, ring_timeout_seconds, max_call_seconds, next_attempt_at, reason,
        looked_at, created_at)
      select ${workspaceId}, gen_random_uuid(), 14152000000 + i, 'agent', ${phoneNumberId}, 14155550100, true, '{}', '{}',
        ${now}::timestamptz + interval '1 day', 'UTC', 'strictest', 30, 60,
        case i % 4 when 0 then ${now}::timestamptz - i * interval '1 millisecond' when 3 then null
          else ${now}::timestamptz + i * interval '1 second' end,
        case i % 4 when 1 then 'no_caller_id' end, case i % 4 when 1 then ${now}::timestamptz + interval '1 hour' end,
        ${now}
      from generate_series(1, ${intents}::int) as i`.execute(db),
  );
  return workspaceId;
}

/** What a turn touches in each of its statements: the look, a claim, its end, the wake, and what expires. */
async function costsOf(database: Database, intents: number) {
  await seedIntents(database, intents);
  await analyzeOnOld(database, 'call_intents');
  const lease = await openLease({ database, seconds: 30, log: pino({ level: 'silent' }) });
  const terms = { serverId: lease.serverId(), now, isSimulated: () => true, operator: noOperatorLimits };
  const owner = intentCallOwner(() => {});
  const costs = await statementCosts(database, async (measured) => {
    const due = await measured.inHotLoop((tx) => dueIntents(tx, now));
    expect(due.every((own) => own.length === TURN_SIZE)).toBe(true);
    const call = await claimIntent(measured, due.at(-1)![0]!, terms, async () => {});
    const placed = call!;
    await measured.inHotLoop((tx) =>
      owner.onCallsReturned(tx, [{ ...placed, attemptTakenBack: true, queuedAt: now }], now),
    );
    await measured.inHotLoop((tx) =>
      owner.onCallsEnded(tx, [{ ...placed, roomId: newUuid(), outcome: 'busy', endedAt: now }], now),
    );
    await measured.inHotLoop((tx) => wakeBlocked(tx, now));
    await measured.inEngine((tx) => expireIntents(tx, now, async () => {}));
  });
  await lease.release();
  return costs;
}

test('calls that wait are claimed at the same cost, however many wait', async () => {
  const costs: StatementCost[][] = [];
  for (const intents of [LITTLE, MUCH]) {
    await withDatabase(async (database) => void costs.push(await costsOf(database, intents)));
  }
  const [few = [], many = []] = costs;
  expect(many.length).toBeGreaterThan(10);
  expect(many.map(({ text }) => text)).toEqual(few.map(({ text }) => text));
  for (const [at, { text, buffers }] of many.entries()) {
    expect(buffers, text).toBeLessThanOrEqual(Math.max(10, few[at]!.buffers * LEVEL_MORE));
    expect(buffers, text).toBeLessThan(MOST);
  }
});
