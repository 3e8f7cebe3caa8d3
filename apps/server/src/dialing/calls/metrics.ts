import { Counter, Gauge, type Registry } from 'prom-client';
import type { CallOutcome } from '../../lines/telephony/call-outcome.ts';

/** What the switchboard counts in this process. */
export interface CallMetrics {
  claimed(calls: number): void;
  ended(outcome: CallOutcome): void;
  /** Counts calls that went back before a provider had heard of them. */
  returned(calls: number): void;
}

/** Puts calls into the metrics. `held` is read when they are. */
export function registerCallMetrics(registry: Registry, held: () => number): CallMetrics {
  new Gauge({
    name: 'trunkline_calls_held',
    help: 'Calls that this server holds: queued, or up.',
    registers: [registry],
    collect() {
      this.set(held());
    },
  });
  const count = (name: string, help: string) => new Counter({ name, help, registers: [registry] });
  const claimed = count('trunkline_calls_claimed_total', 'Calls that this server has claimed.');
  const returned = count('trunkline_calls_returned_total', 'Claimed calls that went back before they were placed.');
  const ended = new Counter({
    name: 'trunkline_calls_ended_total',
    help: 'Calls whose end this server has written, by outcome.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return {
    claimed: (calls) => claimed.inc(calls),
    ended: (outcome) => ended.inc({ outcome }),
    returned: (calls) => returned.inc(calls),
  };
}
