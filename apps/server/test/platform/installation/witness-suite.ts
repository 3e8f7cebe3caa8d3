import { expect, test } from 'vitest';
import type { Witness, WitnessEntry, WitnessedCall } from '../../../src/platform/installation/witness.ts';

const all = async (entries: AsyncIterable<WitnessEntry>) => {
  const found: WitnessEntry[] = [];
  for await (const entry of entries) found.push(entry);
  return found;
};

const entry = (number: number): WitnessEntry => ({ number, at: '2026-11-24T10:00:00.000Z' });

/** What every witness does. @param open opens an empty one, and after that the same */
export function witnessSuite(name: string, open: () => Witness): void {
  test(`${name} keeps what servers tell, by slot and number`, async () => {
    expect(await open().newest(new Map())).toEqual(new Map());
    const witness = open();
    const call = {
      ...{ workspaceId: 'w', ownerKind: 'contact' as const, ownerId: 'c', campaignId: 'p', roomId: 'r' },
      ...{ attempt: 2, to: 'ab', at: '2026-11-24T10:00:00.000Z' },
    } satisfies WitnessedCall;
    const words = [{ type: 'opt_out' as const, workspaceId: 'w', to: ['ab'], at: call.at }];
    await witness.append(1, [entry(9), { ...entry(10), calls: [call] }]);
    await witness.append(12, [{ ...entry(3), words }]);
    const again = open();
    await again.append(1, [entry(11)]);
    expect(await again.newest(new Map([[1, 9]]))).toEqual(
      new Map([
        [1, 11],
        [12, 3],
      ]),
    );
    expect(await all(again.above(1, 9))).toEqual([{ ...entry(10), calls: [call] }, entry(11)]);
    expect(await all(again.above(12, 0))).toEqual([{ ...entry(3), words }]);
    expect(await all(again.above(2, 0))).toEqual([]);
  });

  test(`${name} forgets what is old, but never the newest of a slot`, async () => {
    await open().cut(new Date(Date.now() + 86_400_000 * 2));
    const newest = await open().newest(new Map());
    expect(newest.get(1)).toBe(11);
    expect(newest.get(12)).toBe(3);
  });
}
