// A whole server in a process of its own, whose clock and whose simulated provider its parent can put out of order.
import type { Worker } from 'node:worker_threads';
import { pino } from 'pino';
import { loadConfig } from '../../src/config.ts';
import { noRoom } from '../../src/foundation/values/service-error.ts';
import type { Faults } from '../../src/lines/telephony/simulator/faults.ts';
import { startServer } from '../../src/server.ts';

/** What the parent asks for: how far the clock is ahead, how often, in [0, 1], the provider fails, and what else goes wrong. */
export interface Disorder {
  aheadMs?: number;
  /** Whether one of its threads, such as one that carries sound or reads a file, ends at once. */
  endsThread?: boolean;
  /** Whether no file can be stored, as there is no room for any. */
  storeIsFull?: boolean;
  provider?: { loseAnswer?: number; loseRequest?: number; loseEnd?: number; repeat?: number; delay?: number };
}

/** The longest that an event is late, in milliseconds; unequal delays bring events out of order. */
const LONGEST_DELAY_MS = 3000;

let disorder: Disorder = {};
const threads = new Set<Worker>();
process.on('worker', (thread) => {
  threads.add(thread);
  thread.once('exit', () => threads.delete(thread));
});
process.on('message', (message) => {
  disorder = message as Disorder;
  const one = [...threads][Math.floor(Math.random() * threads.size)];
  if (disorder.endsThread) void one?.terminate();
});
// A server without its parent would never end.
process.on('disconnect', () => process.exit(1));

const happens = (share: number | undefined) => share !== undefined && Math.random() < share;
const simulatorFaults: Faults = {
  loseAnswer: () => happens(disorder.provider?.loseAnswer),
  loseRequest: () => happens(disorder.provider?.loseRequest),
  loseEvent: ({ type }) => type === 'ended' && happens(disorder.provider?.loseEnd),
  duplicateEvent: () => happens(disorder.provider?.repeat),
  delayEvent: () => (happens(disorder.provider?.delay) ? Math.random() * LONGEST_DELAY_MS : 0),
};

const config = loadConfig();
const log = pino({ level: config.logLevel }, pino.destination({ fd: 2, sync: true }));
process.on('uncaughtException', (error) => {
  log.fatal({ err: error }, 'the server ends');
  process.exit(1);
});
const server = await startServer({
  config,
  log,
  overrides: {
    simulatorFaults,
    machineTime: () => Date.now() + (disorder.aheadMs ?? 0),
    objects: (store) => ({
      ...store,
      put: (...given) =>
        disorder.storeIsFull ? Promise.reject(noRoom('The place of files', undefined)) : store.put(...given),
    }),
    nameServers: [process.env['CHAOS_NAME_SERVER']!],
  },
});
process.on('SIGTERM', async () => {
  await server.stop();
  process.exit(0);
});
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
