import type { Database } from '../src/foundation/database/database.ts';
import type { RestoreGuard } from '../src/platform/installation/restore-guard.ts';

/** In a guard's place: calls are kept, and nobody is told of them. */
export const unguarded = (database: Database): Pick<RestoreGuard, 'keepCalls'> => ({
  keepCalls: async (keep) => ({ result: await database.inHotLoop(keep), isWitnessed: true }),
});
