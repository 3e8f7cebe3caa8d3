import type { Database, EngineTx } from '../../foundation/database/database.ts';
import type { Lease } from '../../foundation/database/lease.ts';
import { together } from '../../foundation/database/together.ts';
import type { Comparison } from './comparison.ts';
import { raiseNumber, takeSlot } from './slots.ts';

/** What was kept, with the slot's number by which a witness is told of it. */
export interface Raised<T> {
  result: T;
  slot: number;
  number: number;
}

/** Raises the number of this server's slot, in the transactions of what a witness is to be told of. */
export interface Raiser {
  /** One at a time: each locks the slot's row. Throws `NotWitnessed`, with nothing kept, where the number can't be raised. */
  raise<T>(keep: (tx: EngineTx) => Promise<T>): Promise<Raised<T>>;
  idle(): Promise<void>;
}

export function createRaiser(options: {
  database: Database;
  lease: Pick<Lease, 'serverId'>;
  comparison: Pick<Comparison, 'seen' | 'note' | 'doubt' | 'isSure'>;
}): Raiser {
  const { database, lease, comparison } = options;
  let own: { slot: number; serverId: string } | undefined;
  let turn = Promise.resolve();

  async function ownSlot(): Promise<{ slot: number; serverId: string }> {
    const serverId = lease.serverId();
    while (own?.serverId !== serverId) {
      const taken = await database.inEngine((tx) => takeSlot(tx, serverId));
      if (taken === undefined) continue;
      // Of a slot that was another's its witness may know more than this process: it must not be written over.
      comparison.doubt();
      if (!(await comparison.isSure())) throw new NotWitnessed();
      own = { slot: taken, serverId };
    }
    return own;
  }

  async function raiseNow<T>(keep: (tx: EngineTx) => Promise<T>): Promise<Raised<T>> {
    const { slot, serverId } = await ownSlot();
    const kept = await database.inHotLoop(async (tx) => {
      const raiseOwn = () => raiseNumber(tx, { slot, serverId, known: comparison.seen(slot) });
      const [result, number] = await together(tx, [() => keep(tx), raiseOwn]);
      if (number === undefined) throw new NotWitnessed();
      return { result, number };
    });
    comparison.note(slot, kept.number);
    return { ...kept, slot };
  }

  return {
    raise: (keep) => {
      const raised = turn.then(() => raiseNow(keep));
      turn = raised.then(
        () => {},
        (error) => {
          if (!(error instanceof NotWitnessed)) return;
          // The slot may be another's, too: then nothing is held.
          own = undefined;
          comparison.doubt();
        },
      );
      return raised;
    },
    idle: () => turn,
  };
}

/**
 * Nothing may be placed: no witness knows of it, the database may have lost what this process knows, dialing is held, or the
 * slot is another server's.
 */
export class NotWitnessed extends Error {
  constructor() {
    super('The call was not placed: no witness could be told of it, or the database may have lost calls.');
  }
}
