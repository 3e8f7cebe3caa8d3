import { describe, test } from 'vitest';
import { hasCarrier, runRealCampaign } from './real-campaign.ts';

describe.skipIf(!hasCarrier)('a campaign over a real carrier, which needs kamailio and sipp', () => {
  test('every contact is called once, and every outcome is what the peers have logged', () =>
    runRealCampaign({
      callees: { '00': 9, '11': 5, '86': 5, '03': 4, '04': 4, '08': 2, '09': 2 },
      pace: { maxChannels: 6, callsPerSecond: 10 },
    }));
});
