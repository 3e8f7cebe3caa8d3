import type { StreamSource } from '../../../foundation/http/handler.ts';
import { type FollowDeps, follow, type StreamReader } from '../../../platform/journal/follow.ts';
import { type Flows, flowName } from './flows.ts';
import { isFinal } from './run.ts';
import { runEvent } from './run-event.ts';
import { type RunName, readRun } from './run-store.ts';
import { shapeRun } from './shape-run.ts';

/**
 * The events of a run, after the one that the client has seen last, else from its current state on, until it has ended.
 * Nothing where the client has seen the end. Throws `not_found`.
 */
export const streamRunEvents = (
  deps: FollowDeps & { flows: Flows },
  name: RunName,
  reader: StreamReader,
): Promise<StreamSource | undefined> =>
  follow(
    deps,
    {
      id: name.runId,
      read: (tx) => readRun(tx, name),
      type: (run) => runEvent(run).type,
      data: async (run, tx) => shapeRun(run, (await deps.flows.of(tx, [run])).get(flowName(run))),
      isFinal: ({ status }) => isFinal(status),
    },
    reader,
  );
