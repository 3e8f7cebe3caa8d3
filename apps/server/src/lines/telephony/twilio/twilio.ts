import type { SendRequest } from '../../../foundation/outbound-http/guarded-request.ts';
import type { AccountProvider } from '../number-market.ts';
import { accountFaults } from './account-faults.ts';
import { asker, type TwilioUrls } from './ask.ts';
import { twilioMarket } from './market.ts';
import { rememberedPrices } from './prices.ts';

const itsOwn: TwilioUrls = {
  api: 'https://api.twilio.com',
  pricing: 'https://pricing.twilio.com',
  trunking: 'https://trunking.twilio.com',
};

/** Twilio, by its HTTP APIs. @param urls where they are, if not at Twilio */
export function twilio(send: SendRequest, urls: TwilioUrls = itsOwn): AccountProvider {
  const prices = rememberedPrices();
  return {
    faults: accountFaults,
    open: (account) => twilioMarket(asker(send, urls, account), account, prices),
  };
}
