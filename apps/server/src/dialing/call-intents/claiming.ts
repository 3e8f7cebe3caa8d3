import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import type { Lease } from '../../foundation/database/lease.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import { someAtOnce } from '../../foundation/values/some-at-once.ts';
import { every, type Repeating } from '../../platform/jobs/every.ts';
import { whileQuiet } from '../../platform/jobs/quiet.ts';
import type { OperatorLimits } from '../../platform/workspace/operator-limits.ts';
import type { RecordCallEvents } from '../calls/call-events.ts';
import type { Switchboard } from '../calls/switchboard.ts';
import { traceClaim } from '../calls/trace-calls.ts';
import { claimIntent } from './claim-intent.ts';
import { dueIntents, expireIntents, firstDue, firstToWakeOrGiveUp, TURN_SIZE, wakeBlocked } from './due-intents.ts';
import type { IntentKey } from './intent.ts';

/** How long each loop rests when it found nothing to do. A call that is accepted in this process nudges it. */
const CLAIM_REST_MS = 100;
const WAKE_REST_MS = 1000;
/** How many workspaces are served at a time, so that one whose rows are locked keeps none of the others waiting. */
const MOST_WORKSPACES = 4;
/** When an intent that could not be claimed is tried again. */
const FAILED_CLAIM_MS = 10_000;

/** What this process does for intents by itself: claims them, wakes those that were blocked, gives up those that expire. */
export interface IntentClaiming {
  start(): void;
  /** Looks for work at once, after a change that may have made some. */
  nudge(): void;
  /** Claims nothing more. */
  stop(): Promise<void>;
}

export interface IntentClaimingOptions {
  database: Database;
  lease: Lease;
  clock: Clock;
  log: Logger;
  /** Places what is claimed. */
  switchboard: Pick<Switchboard, 'place' | 'free' | 'isSimulated' | 'mayClaim'>;
  operator: OperatorLimits;
  recordEvents: RecordCallEvents;
}

/** Puts the loops of intents together. */
export function createIntentClaiming(options: IntentClaimingOptions): IntentClaiming {
  const { database, lease, clock, log, switchboard, operator, recordEvents } = options;
  const { place, free, isSimulated, mayClaim } = switchboard;
  let loops: Repeating[] = [];

  /** Keeps a fault of one intent from the others; nothing goes on without the database. */
  const claim = async (key: IntentKey): Promise<void> => {
    const began = performance.now();
    const terms = { serverId: lease.serverId(), now: clock.now(), isSimulated, operator };
    try {
      const call = await claimIntent(database, key, terms, recordEvents);
      if (call) place([call]);
      traceClaim(key.roomId, began, call ? 1 : 0);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'unavailable') throw error;
      log.error({ err: error, ...key }, 'a call could not be claimed; it is tried again');
      await database.inEngine((tx) =>
        sql`
          update call_intents set next_attempt_at = ${new Date(terms.now.getTime() + FAILED_CLAIM_MS)}
          where workspace_id = ${key.workspaceId} and id = ${key.roomId} and next_attempt_at is not null`.execute(
          tx.db,
        ),
      );
    }
  };

  const underWay = new Set<IntentKey>();
  /** The workspace whose call was claimed last. */
  let served = '';
  const hasRoom = (workspaceId: string) => {
    const own = [...underWay].filter((key) => key.workspaceId === workspaceId);
    return free(workspaceId) > own.length && lease.isHeld();
  };
  const claimTurn = async (): Promise<boolean> => {
    if (!lease.isHeld() || !(await mayClaim())) return false;
    const due = await database.inHotLoop((tx) => dueIntents(tx, clock.now()));
    // Behind the one that was served last: where there is room for few, all come to their turn.
    const next = Math.max(
      due.findIndex(([first]) => first!.workspaceId > served),
      0,
    );
    await someAtOnce(MOST_WORKSPACES, [...due.slice(next), ...due.slice(0, next)], async (own) => {
      for (const key of own) {
        if (!hasRoom(key.workspaceId)) return;
        served = key.workspaceId;
        underWay.add(key);
        await claim(key).finally(() => underWay.delete(key));
      }
    });
    return due.some((own) => own.length === TURN_SIZE && hasRoom(own[0]!.workspaceId));
  };

  const wakeTurn = async (): Promise<boolean> => {
    if (!lease.isHeld()) return false;
    const now = clock.now();
    if ((await database.inHotLoop((tx) => wakeBlocked(tx, now))) > 0) nudge();
    return database.inEngine((tx) => expireIntents(tx, now, recordEvents));
  };

  const nudge = () => loops[0]?.nudge();
  return {
    nudge,
    start: () => {
      loops = [
        every(CLAIM_REST_MS, claimTurn, { name: 'claiming calls', log, asleep: whileQuiet(database, firstDue) }),
        every(WAKE_REST_MS, wakeTurn, {
          name: 'waking and giving up calls',
          log,
          asleep: whileQuiet(database, firstToWakeOrGiveUp),
        }),
      ];
    },
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.close()));
    },
  };
}
