import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { createSigner } from './try-delivery.ts';
import { newSecret } from './webhook.ts';

test('every secret signs as the library of Standard Webhooks does, so that a receiver may have any of them', () => {
  const secrets = [newSecret(), newSecret()];
  const sign = createSigner(secrets);
  for (const payload of ['{}', '{"name":"Zoë \u2028 \ud83d\udc4b"}', JSON.stringify({ text: 'x'.repeat(100_000) })]) {
    const eventId = newUuid();
    const headers = sign({ eventId, payload });
    expect(headers['webhook-id']).toBe(toId('evt', eventId));
    const sentAt = new Date(Number(headers['webhook-timestamp']) * 1000);
    const signed = secrets.map((secret) => new Webhook(secret).sign(toId('evt', eventId), sentAt, payload));
    expect(headers['webhook-signature']).toBe(signed.join(' '));
    for (const secret of secrets) expect(new Webhook(secret).verify(payload, headers)).toEqual(JSON.parse(payload));
  }
});
