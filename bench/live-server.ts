// A dialer whose calls, once answered, stay up for an hour.
import { openDatabase } from '../apps/server/src/foundation/database/database.ts';
import { startTestDialer } from '../apps/server/test/dialing/dialing.ts';
import { settingsOf, tell } from './child.ts';
import { log, POOL_SIZE } from './postgres.ts';

const { connectionString, leaseSeconds } = settingsOf<{ connectionString: string; leaseSeconds: number }>();
const database = openDatabase({ connection: { connectionString }, poolSize: POOL_SIZE, log });
await startTestDialer(database, {
  speed: 1,
  leaseSeconds,
  profile: { weights: { answered: 1 }, ringing: [1000, 5000], talking: [3_600_000, 3_600_000] },
});
tell(0);
