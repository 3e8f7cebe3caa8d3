import { expect, test } from 'vitest';
import { newUuid } from '../../../foundation/values/ids.ts';
import { type Change, cancel, end, fail, goOn, goWrong, newStatuses, tryAgain, waitAs } from './change-run.ts';
import { newRun } from './new-run.ts';
import { isFinal, isWaiting, type RunRow, runTransitions, stepTransitions } from './run.ts';

const now = new Date('2026-03-10T12:00:00Z');
const fault = { code: 'internal', message: 'It failed.' };
const flow = { definition: { name: '', startNodeId: 'first', nodes: [] }, nodes: new Map() };
const queued = newRun(newUuid(), { id: newUuid(), context: {} }, { workflowId: newUuid(), version: 1, flow }, now);
const statuses = Object.keys(runTransitions) as (keyof typeof runTransitions)[];
const active = statuses.filter((status) => !isFinal(status)).map((status): RunRow => ({ ...queued, status }));

const changesOf = (run: RunRow): Change[] => [
  goOn(run, 'next', now),
  goWrong(run, 'next', fault, now),
  tryAgain(run, {}, now),
  fail(run, fault, now),
  ...(['completed', 'failed'] as const).map((status) => end(run, status, { output: null, error: null }, now)),
  ...(['waiting_call', 'waiting_schedule', 'waiting_automation', 'blocked'] as const).map((status) =>
    waitAs(run, status, {}, now),
  ),
];

/** The moves of a table, as pairs. */
const pairs = (transitions: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(transitions).flatMap(([before, tos]) => tos.map((to) => `${before} to ${to}`));

test('changes make every move of a run’s table and of its steps’, and no other', () => {
  const [ofRuns, ofSteps] = [new Set<string>(), new Set<string>()];
  for (const run of active) {
    ofRuns.add(`${run.status} to ${cancel(run, now).status}`);
    const step = isWaiting(run.status) ? 'waiting' : 'running';
    // Whoever cancels a run cancels its step with it, as SQL.
    ofSteps.add(`${step} to cancelled`);
    for (const change of changesOf(run)) {
      let before: string = run.status;
      for (const { status } of newStatuses(change)) {
        ofRuns.add(`${before} to ${status}`);
        before = status;
      }
      for (const { status } of change.steps) if (status !== step) ofSteps.add(`${step} to ${status}`);
    }
  }
  expect([...ofRuns].sort()).toEqual(pairs(runTransitions).sort());
  expect([...ofSteps].sort()).toEqual(pairs(stepTransitions).sort());
});

test('what has ended moves no more', () => {
  for (const status of ['completed', 'failed', 'cancelled'] as const) {
    const run = { ...queued, status };
    expect(() => goOn(run, 'next', now)).toThrow(`A run can not move from ${status} to running.`);
    expect(() => cancel({ ...queued, status: status === 'cancelled' ? 'failed' : status }, now)).toThrow(
      'can not move',
    );
  }
});
