import { expect, test } from 'vitest';
import type { Trunk } from '../../../src/lines/telephony/trunk.ts';
import type { TrunkProber } from '../../../src/lines/telephony/trunk-prober.ts';

/** What asks trunks, with one that is there and one that is not. */
export interface ProberUnderTest {
  prober: TrunkProber;
  there: Trunk;
  gone: Trunk;
  close(): Promise<void>;
}

/** What everything that asks trunks must do. */
export function proberConformance(name: string, makeProber: () => Promise<ProberUnderTest>): void {
  test(`${name} conforms to the port that asks trunks: a trunk that is gone is an answer`, async () => {
    const { prober, there, gone, close } = await makeProber();
    const { signal } = new AbortController();
    expect(await prober.probeTrunk(there, signal)).toMatchObject({ valid: true, reachable: true });
    expect(await prober.probeTrunk(gone, signal)).toMatchObject({ valid: false, reachable: false });
    await close();
  });
}
