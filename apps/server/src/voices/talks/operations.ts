import type { Handlers } from '../../foundation/http/handler.ts';
import { created } from '../../foundation/values/success.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { startTalk, type TalkDeps } from './start-talk.ts';

/** The operations of talks. */
export function talkOperations(deps: TalkDeps) {
  return {
    talkToAgent: async ({ path, body }, context) =>
      created(await startTalk(deps, context.workspaceId, path.agentId, body, auditOf(context))),
  } satisfies Partial<Handlers>;
}
