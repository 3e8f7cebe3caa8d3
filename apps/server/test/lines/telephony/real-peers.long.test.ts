import { describe, test } from 'vitest';
import { hasCarrier, runRealCampaign } from './real-campaign.ts';

describe.skipIf(!hasCarrier)('a long campaign over a real carrier, which needs kamailio and sipp', () => {
  test('200 contacts are called once, and every outcome is what the peers have logged', { timeout: 300_000 }, () =>
    runRealCampaign({
      callees: { '00': 60, '11': 50, '86': 25, '03': 20, '04': 20, '08': 12, '09': 13 },
      pace: { maxChannels: 10, callsPerSecond: 5 },
    }),
  );
});
