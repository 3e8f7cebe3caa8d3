// Starts the embedded PostgreSQL of the folder it is given, prints its connection, and stays until it is killed.
import { pino } from 'pino';
import { startEmbeddedPostgres } from '../../../src/foundation/database/postgres/embedded.ts';

const [dataDir = ''] = process.argv.slice(2);
const { connection } = await startEmbeddedPostgres({ dataDir, log: pino({ level: 'silent' }) });
process.stdout.write(connection.connectionString);
setInterval(() => {}, 60_000);
