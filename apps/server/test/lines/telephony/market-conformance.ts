import { beforeEach, describe, expect, test } from 'vitest';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import type { NumberMarket } from '../../../src/lines/telephony/number-market.ts';

/** A market under test. */
export interface MarketUnderTest {
  market: NumberMarket;
  /** Where it has numbers to sell. */
  country: string;
  /** A number that can be bought, and the answer to whose purchase is lost. */
  losesAnswer: string;
}

/** What every market of numbers must do. */
export function marketConformance(name: string, makeMarket: () => Promise<MarketUnderTest>): void {
  describe(`${name} conforms to the port of a number market`, () => {
    let under: MarketUnderTest;
    let market: NumberMarket;
    beforeEach(async () => {
      under = await makeMarket();
      market = under.market;
    });
    const onOffer = async () =>
      (await market.searchNumbers({ country: under.country, type: 'local', limit: 5 }))[0]!.phoneNumber;

    test('of several buyers of one number one has it, and it is on offer again when it is given back', async () => {
      const phoneNumber = await onOffer();
      const buy = () => market.buyNumber({ phoneNumber, idempotencyKey: newUuid() });
      const results = await Promise.allSettled([buy(), buy(), buy()]);
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const refused = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason.reason);
      expect(refused).toEqual(['unavailable', 'unavailable']);

      const search = { country: under.country, type: 'local' as const, contains: phoneNumber.slice(-7), limit: 1 };
      expect(await market.searchNumbers(search)).toEqual([]);
      await market.releaseNumber({ phoneNumber });
      expect(await market.searchNumbers(search)).toMatchObject([{ phoneNumber }]);
    });

    test('one key buys once, and one that is given back twice is given back', async () => {
      const phoneNumber = await onOffer();
      const purchase = { phoneNumber, idempotencyKey: newUuid() };
      const bought = await market.buyNumber(purchase);
      expect(bought).toMatchObject({ phoneNumber });
      if (market.knowsKeys) expect(await market.buyNumber(purchase)).toEqual(bought);
      else expect(await market.lookupNumberPurchase(purchase.idempotencyKey)).toEqual(bought);
      await market.releaseNumber(bought);
      await market.releaseNumber(bought);
    });

    test('a purchase whose answer is lost is found by its key', async () => {
      const purchase = { phoneNumber: under.losesAnswer, idempotencyKey: newUuid() };
      await expect(market.buyNumber(purchase)).rejects.toMatchObject({
        reason: market.knowsKeys ? 'temporary' : 'unknown',
      });
      expect(await market.lookupNumberPurchase(purchase.idempotencyKey)).toMatchObject({
        phoneNumber: under.losesAnswer,
      });
      expect(await market.lookupNumberPurchase(newUuid())).toBeUndefined();
      await market.releaseNumber({ phoneNumber: under.losesAnswer });
    });
  });
}
