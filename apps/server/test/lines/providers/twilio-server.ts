import { createAddressGuard } from '../../../src/foundation/outbound-http/address-guard.ts';
import { createOutboundHttp } from '../../../src/foundation/outbound-http/guarded-request.ts';
import type { AccountProvider } from '../../../src/lines/telephony/number-market.ts';
import { twilio } from '../../../src/lines/telephony/twilio/twilio.ts';
import { startNumberServer } from '../phone-numbers/number-server.ts';
import { TwilioDouble, testAccount } from '../telephony/twilio/double.ts';

/**
 * A server whose Twilio is a double, in which the workspace has saved its account.
 * @param between what stands between the server and the adapter
 */
export async function startTwilioServer(
  between: (provider: AccountProvider) => AccountProvider = (provider) => provider,
  given: { purchaseWaitMs?: number; originUri?: string } = {},
) {
  const loopback = { networks: [{ address: '127.0.0.1', prefix: 32 }], hosts: [] };
  const outbound = createOutboundHttp(createAddressGuard(loopback));
  const double = await new TwilioDouble().start();
  const server = await startNumberServer({ twilio: between(twilio(outbound.send, double.urls)), ...given });
  const params = { path: { provider: 'twilio' as const } };
  const save = (body: object = testAccount, client = server.client, header?: { 'If-Match': string }) =>
    client.PUT('/v1/telephony/providers/{provider}', {
      params: { ...params, ...(header && { header }) },
      body: body as typeof testAccount,
    });
  return {
    ...server,
    double,
    save,
    read: (client = server.client) => client.GET('/v1/telephony/providers/{provider}', { params }),
    forget: (client = server.client) => client.DELETE('/v1/telephony/providers/{provider}', { params }),
    buy: (phoneNumber: string, key?: string) =>
      server.client.POST('/v1/telephony/phone-numbers/buy', {
        body: { phoneNumber, provider: 'twilio' },
        ...(key && { params: { header: { 'Idempotency-Key': key } } }),
      }),
    release: (id: string) => server.client.DELETE('/v1/telephony/phone-numbers/{id}', { params: { path: { id } } }),
    stop: async () => {
      await server.stop();
      await double.stop();
      await outbound.close();
    },
  };
}

export type TwilioServer = Awaited<ReturnType<typeof startTwilioServer>>;
