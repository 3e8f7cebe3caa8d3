import { pino } from 'pino';
import { openDatabase } from '../../src/foundation/database/database.ts';
import { shortCalls, startTestDialer } from '../dialing/dialing.ts';

/** A server process of its own with nothing but a dialer in it, to be killed by tests. */
const [connectionString, speed, leaseSeconds] = process.argv.slice(2);
const log = pino({ level: 'error' }, pino.destination(2));
const database = openDatabase({ connection: { connectionString: connectionString! }, poolSize: 6, log });
const { stop } = await startTestDialer(database, {
  speed: Number(speed),
  leaseSeconds: Number(leaseSeconds),
  profile: shortCalls,
});
process.on('SIGTERM', async () => {
  await stop();
  await database.close();
  process.exit(0);
});
process.stdout.write('ready\n');
