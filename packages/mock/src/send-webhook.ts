import { randomUUID } from 'node:crypto';
import { type ContractDocument, resolve, type Schema } from '@trunkline/server/foundation/http/contract';
import { createSigner } from '@trunkline/server/platform/webhooks/try-delivery';
import type { WebhookAnswer, WebhookMessage } from './mock.ts';

interface Sample {
  type: string;
  data: Record<string, unknown>;
}

/** How long the server waits for an endpoint. */
const PATIENCE_MS = 15_000;

/** Every type of webhook that the contract has, with an event of it. */
export function sampleEvents(contract: ContractDocument): Map<string, Sample> {
  const samples = new Map<string, Sample>();
  for (const { post } of Object.values(contract.webhooks as Record<string, { post: { requestBody: Body } }>)) {
    const { schema, examples } = resolve(contract, post.requestBody).content['application/json'];
    const [example] = Object.values(examples);
    const type = resolve(contract, resolve(contract, schema).properties!['type']!);
    // A list that a later version may add to stands beside `any text`.
    const known = type.anyOf?.[0]?.enum ?? [type.const];
    for (const each of known as string[]) samples.set(each, ofType(each, example!.value));
  }
  return samples;
}

interface Body {
  $ref?: string;
  content: { 'application/json': { schema: Schema; examples: Record<string, { value: Sample }> } };
}

/** Of a family such as `campaign.<status>` the contract shows one; its status is that of the type. */
function ofType(type: string, { data, ...rest }: Sample): Sample {
  const status = type.slice(type.indexOf('.') + 1);
  return { ...rest, type, data: rest.type === type ? data : { ...data, status } };
}

/**
 * Sends an event as the server does: with its signature, and the time of now. Throws a TypeError that says what is wrong
 * with the message, and what `fetch` throws where the receiver can't be reached.
 */
export async function sendWebhook(samples: Map<string, Sample>, message: WebhookMessage): Promise<WebhookAnswer> {
  const { type, url, secret, data } = message;
  const sample = samples.get(type);
  if (!sample) throw new TypeError(`type must be one of ${[...samples.keys()].join(', ')}`);
  if (!/^https?:/.test(url) || !URL.canParse(url)) throw new TypeError('url must be an http or https URL');
  if (!/^whsec_[A-Za-z0-9+/]{4,}={0,2}$/.test(secret)) throw new TypeError('secret must be whsec_ and Base64');
  const event = { ...sample, timestamp: new Date().toISOString(), data: { ...sample.data, ...data } };
  const payload = JSON.stringify(event);
  const headers = createSigner([secret])({ eventId: randomUUID(), payload });
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const answer = await fetch(url, { method: 'POST', headers, body: payload, redirect: 'manual', signal });
  return { status: answer.status, body: await answer.text() };
}
