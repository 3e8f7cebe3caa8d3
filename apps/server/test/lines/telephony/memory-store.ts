import type { StoredCall } from '../../../src/lines/telephony/simulator/progress.ts';
import type { Purchase, SimulatorStore } from '../../../src/lines/telephony/simulator/store.ts';

/** A store for tests of the simulator alone; it lives as long as the object. */
export function memoryStore(): SimulatorStore & { calls: Map<string, StoredCall> } {
  const calls = new Map<string, StoredCall>();
  const purchases = new Map<string, Purchase>();
  const withKey = (key: string) => [...purchases.values()].find(({ idempotencyKey }) => idempotencyKey === key);
  return {
    calls,
    async insert(rows) {
      const added = new Set<string>();
      for (const row of rows) {
        const kept = calls.get(row.roomId);
        calls.set(row.roomId, kept ? { ...kept, placements: kept.placements + row.placements } : row);
        if (!kept) added.add(row.roomId);
      }
      return added;
    },
    async find(roomIds) {
      const found = new Map<string, StoredCall>();
      for (const roomId of roomIds) {
        const call = calls.get(roomId);
        if (call) found.set(roomId, call);
      }
      return found;
    },
    async end(ends) {
      const ended = new Set<string>();
      for (const { roomId, ...end } of ends) {
        const call = calls.get(roomId);
        if (!call || call.ended) continue;
        calls.set(roomId, { ...call, ended: end });
        ended.add(roomId);
      }
      return ended;
    },
    async findBought(phoneNumbers) {
      return new Set(phoneNumbers.filter((phoneNumber) => purchases.has(phoneNumber)));
    },
    async buy(purchase) {
      const { phoneNumber, idempotencyKey } = purchase;
      if (!purchases.has(phoneNumber) && !withKey(idempotencyKey)) purchases.set(phoneNumber, purchase);
      return [...purchases.values()].filter(
        (kept) => kept.phoneNumber === phoneNumber || kept.idempotencyKey === idempotencyKey,
      );
    },
    async findPurchase(idempotencyKey) {
      return withKey(idempotencyKey);
    },
    async release(phoneNumber) {
      purchases.delete(phoneNumber);
    },
  };
}
