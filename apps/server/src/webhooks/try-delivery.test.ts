import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { newUuid, toId } from '../ids.ts';
import { createSigner } from './try-delivery.ts';
import { newSecret } from './webhook.ts';

test('what is signed is what the library of Standard Webhooks signs, by every secret', () => {
  const secrets = [newSecret(), newSecret()];
  const sign = createSigner(secrets);
  for (const payload of ['{}', '{"name":"Zoë \u2028 \ud83d\udc4b"}', JSON.stringify({ text: 'x'.repeat(100_000) })]) {
    const eventId = newUuid();
    const headers = sign({ eventId, payload });
    const at = new Date(Number(headers['webhook-timestamp']) * 1000);
    const expected = secrets.map((secret) => new Webhook(secret).sign(toId('evt', eventId), at, payload));
    expect(headers['webhook-id']).toBe(toId('evt', eventId));
    expect(headers['webhook-signature']).toBe(expected.join(' '));
    for (const secret of secrets) expect(new Webhook(secret).verify(payload, headers)).toEqual(JSON.parse(payload));
  }
});
