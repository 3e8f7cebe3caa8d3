import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type InboundTrunk, watchInboundPeers } from '../../src/lines/telephony/sip/inbound-peers.ts';
import { expectNoGrowth } from './cost-of-one.ts';

test('a packet of a carrier costs the same however many trunks there are', () =>
  expectNoGrowth(
    async (others) => {
      const addressOf = (at: number) => `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`;
      const trunks = Array.from(
        { length: others },
        (_, at): InboundTrunk => ({
          id: `trunk ${at}`,
          workspaceId: 'one',
          terminationUrl: 'sip.example',
          transport: 'udp',
          ipAllowlist: [addressOf(at)],
          country: 'US',
          headersToAgent: [],
          digestNumbers: [],
          alikeNumbers: [],
          mediaEncryption: 'none',
          keysInClear: false,
        }),
      );
      const peers = watchInboundPeers({
        directory: { trunks: async () => trunks, trunk: async () => undefined, numbersOf: async () => [] },
        locate: async () => [],
        registeredAt: () => new Set(),
        log: pino({ level: 'silent' }),
      });
      onTestFinished(() => peers.close());
      await vi.waitFor(() => expect(peers.knows(addressOf(others - 1))).toBe(true), { timeout: 120_000 });
      return (items) => {
        for (let item = 0; item < items; item += 1) peers.knows(addressOf(others - 1 - (item % 10)));
      };
    },
    { few: 100, many: 3000 },
  ));
