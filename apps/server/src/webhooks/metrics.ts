import { Counter, type Registry } from 'prom-client';
import type { Tried } from './try-delivery.ts';

/** What webhooks count in this process. */
export interface WebhookMetrics {
  tried(verdict: Tried['verdict']): void;
}

/** Puts webhooks into the metrics. */
export function registerWebhookMetrics(registry: Registry): WebhookMetrics {
  const tries = new Counter({
    name: 'trunkline_webhook_tries_total',
    help: 'Events that this server has sent to webhook endpoints, each try for itself, by what came of it.',
    labelNames: ['verdict'],
    registers: [registry],
  });
  return { tried: (verdict) => tries.inc({ verdict }) };
}
