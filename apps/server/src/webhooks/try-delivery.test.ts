import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { newUuid, toId } from '../ids.ts';
import { createSigner } from './try-delivery.ts';
import { newSecret } from './webhook.ts';

test('every secret signs, so that a receiver may have any of them', () => {
  const secrets = [newSecret(), newSecret()];
  const sign = createSigner(secrets);
  for (const payload of ['{}', '{"name":"Zoë \u2028 \ud83d\udc4b"}', JSON.stringify({ text: 'x'.repeat(100_000) })]) {
    const eventId = newUuid();
    const headers = sign({ eventId, payload });
    expect(headers['webhook-id']).toBe(toId('evt', eventId));
    for (const secret of secrets) expect(new Webhook(secret).verify(payload, headers)).toEqual(JSON.parse(payload));
  }
});
