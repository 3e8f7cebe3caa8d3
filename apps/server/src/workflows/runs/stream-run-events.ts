import type { StreamFrame } from '../../http/handler.ts';
import { type FollowDeps, follow, type StreamReader } from '../../journal/follow.ts';
import { isFinal } from './run.ts';
import { runEvent } from './run-event.ts';
import { type RunName, readRun } from './run-store.ts';

/**
 * The events of a run, after the one that the client has seen last, else from its current state on, until it has ended.
 * Nothing where the client has seen the end. Throws `not_found`.
 */
export const streamRunEvents = (
  deps: FollowDeps,
  name: RunName,
  reader: StreamReader,
): Promise<AsyncIterable<StreamFrame> | undefined> =>
  follow(
    deps,
    {
      id: name.runId,
      read: (tx) => readRun(tx, name),
      type: (run) => runEvent(run).type,
      data: (run) => runEvent(run).data,
      isFinal: ({ status }) => isFinal(status),
    },
    reader,
  );
