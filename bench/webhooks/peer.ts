// Requests by undici, signed by the library of Standard Webhooks, one after another on each of so many connections.
import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';
import { newUuid, toId } from '../../apps/server/src/foundation/values/ids.ts';
import { newSecret } from '../../apps/server/src/platform/webhooks/webhook.ts';
import { settingsOf, tell } from '../child.ts';

/** As many requests at a time as Trunkline has for one endpoint. */
const AT_ONCE = 32;

const { url } = settingsOf<{ url: string }>();
const agent = new Agent({ connections: AT_ONCE });
const webhook = new Webhook(newSecret());

async function post(body: string): Promise<void> {
  const id = toId('evt', newUuid());
  const sentAt = new Date();
  const answer = await request(url, {
    dispatcher: agent,
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
      'webhook-signature': webhook.sign(id, sentAt, body),
    },
  });
  await answer.body.dump();
}

/** Sends so many, and answers how many a second that were. */
tell(0, async (question) => {
  const { events, body } = question as { events: number; body: string };
  let left = events;
  const postOn = async () => {
    for (; left > 0; ) {
      left -= 1;
      await post(body);
    }
  };
  const from = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, postOn));
  return (events * 1000) / (performance.now() - from);
});
