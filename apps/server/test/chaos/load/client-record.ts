import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionError, type TrunklineClient, TrunklineError } from '@trunkline/client';
import type { Promised, Silence, StreamSeen, WrongAnswer } from '../history.ts';
import type { World } from '../world.ts';

/** What clients were told: what they may count on, and what they should not have been told. */
export interface ClientRecord {
  promised: Promised[];
  silences: Silence[];
  wrongAnswers: WrongAnswer[];
  streams: StreamSeen[];
  /** Requests that were answered. */
  answered: number;
}

/** Clients that ask until they are answered, of one server after another. */
export interface Clients {
  record: ClientRecord;
  chance: () => number;
  /** A number of its own each time, below a million. */
  next(): number;
  /** Whether nothing new is to be begun. */
  isOver(): boolean;
  /** Asks until a server answers; a refusal, which no load should meet, is kept and thrown. */
  insist<T>(operation: string, ask: (client: TrunklineClient) => Promise<T>): Promise<T>;
  /** A client of any server. */
  any(): TrunklineClient;
}

/** What is thrown when load gives up; it is on record. */
export class GivenUp extends Error {}

/** How long a client asks before it gives up, in milliseconds: longer than any fault, restart and recovery. */
const PATIENCE_MS = 90_000;

/** Refusals that pass: the server or its database is away, or an equal request is still under way. */
const passes = (error: TrunklineError) => error.status === 503 || error.code === 'idempotency_in_progress';

/** @param first the first of their numbers: others have those below */
export function createClients(world: World, chance: () => number, isOver: () => boolean, first = 0): Clients {
  const record: ClientRecord = { promised: [], silences: [], wrongAnswers: [], streams: [], answered: 0 };
  const clients = world.servers.map(world.client);
  let made = first;
  let turn = 0;
  const any = () => clients[turn++ % clients.length]!;
  return {
    record,
    chance,
    isOver,
    any,
    next: () => made++,
    insist: async (operation, ask) => {
      const began = performance.now();
      for (;;) {
        const error = await ask(any()).then(
          (value) => ({ value }),
          (reason: unknown) => ({ reason }),
        );
        if ('value' in error) {
          record.answered += 1;
          return error.value;
        }
        const { reason } = error;
        const isPassing = reason instanceof TrunklineError ? passes(reason) : reason instanceof ConnectionError;
        if (!isPassing) {
          const told = reason instanceof TrunklineError ? `${reason.status} ${reason.code}: ` : '';
          record.wrongAnswers.push({ operation, what: `${told}${String((reason as Error).message)}` });
          throw new GivenUp(operation);
        }
        if (performance.now() - began > PATIENCE_MS) {
          record.wrongAnswers.push({ operation, what: `not answered in ${PATIENCE_MS / 1000} s: ${reason}` });
          throw new GivenUp(operation);
        }
        await sleep(50 + 250 * Math.random());
      }
    },
  };
}
