import { Counter, Gauge, type Registry } from 'prom-client';
import { type Change, newStatuses } from './change-run.ts';

/** What the run engine counts in this process. */
export interface RunMetrics {
  claimed(runs: number): void;
  /** Counts the steps that this server has committed, and the statuses that it has brought runs to. */
  written(changes: readonly Change[]): void;
}

/** Puts workflow runs into the metrics. `held` is read when they are. */
export function registerRunMetrics(registry: Registry, held: () => number): RunMetrics {
  new Gauge({
    name: 'trunkline_workflow_runs_held',
    help: 'Workflow runs that this server is moving on.',
    registers: [registry],
    collect() {
      this.set(held());
    },
  });
  const count = (name: string, help: string) => new Counter({ name, help, registers: [registry] });
  const claimed = count('trunkline_workflow_runs_claimed_total', 'Runs that this server has taken up.');
  const steps = count('trunkline_workflow_run_steps_total', 'Changes of runs that this server has committed.');
  const moved = new Counter({
    name: 'trunkline_workflow_runs_moved_total',
    help: 'Runs that this server has brought to a status.',
    labelNames: ['status'],
    registers: [registry],
  });
  return {
    claimed: (runs) => claimed.inc(runs),
    written: (changes) => {
      steps.inc(changes.length);
      for (const { status } of changes.flatMap(newStatuses)) moved.inc({ status });
    },
  };
}
