import { Counter, type Registry } from 'prom-client';
import { type Measured, measureSlots } from '../../foundation/observe/slot-metrics.ts';
import type { Tried } from './try-delivery.ts';

/** What webhooks count in this process. */
export interface WebhookMetrics {
  tried(verdict: Tried['verdict']): void;
  /** Counts an inbound webhook that was asked. */
  asked(answer: 'accepted' | 'rejected' | 'failed'): void;
  /** Shows what workspaces share. */
  slots(resource: string, slots: Measured): void;
}

/** Puts webhooks into the metrics. */
export function registerWebhookMetrics(registry: Registry): WebhookMetrics {
  const tries = new Counter({
    name: 'trunkline_webhook_tries_total',
    help: 'Events that this server has sent to webhook endpoints, each try for itself, by what came of it.',
    labelNames: ['verdict'],
    registers: [registry],
  });
  const asked = new Counter({
    name: 'trunkline_inbound_webhook_answers_total',
    help: 'Inbound webhooks that this server has asked who takes a call, by their answer. After `failed` the bound agent did.',
    labelNames: ['answer'],
    registers: [registry],
  });
  return {
    tried: (verdict) => tries.inc({ verdict }),
    asked: (answer) => asked.inc({ answer }),
    slots: (resource, slots) => measureSlots(registry, resource, slots),
  };
}
