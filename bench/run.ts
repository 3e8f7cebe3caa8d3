import { cpus } from 'node:os';
import { end, endOnSignals } from './at-end.ts';
import { type Found, printTables } from './table.ts';

const asked = process.argv.slice(2);
const wanted = asked.filter((name) => !/^\d+$/.test(name));
/** Rows, where a measurement takes several sizes. */
const sizes = asked.filter((name) => /^\d+$/.test(name)).map(Number);

/** What takes too long to be measured unasked. */
const ON_DEMAND = ['scale', 'servers'];

const measurements: Record<string, () => Promise<Found>> = {
  edge: async () => (await import('./edge/edge.ts')).benchEdge(),
  sql: async () => (await import('./edge/sql.ts')).benchSql(),
  import: async () => (await import('./import.ts')).benchImport(),
  dialing: async () => (await import('./dialing.ts')).benchDialing(),
  workflows: async () => (await import('./workflows/workflows.ts')).benchWorkflows(),
  batch: async () => (await import('./batch.ts')).benchBatch(),
  pools: async () => (await import('./pools.ts')).benchPools(),
  rest: async () => (await import('./rest.ts')).benchRest(),
  live: async () => (await import('./live.ts')).benchLive(),
  search: async () => (await import('./search.ts')).benchSearch(),
  webhooks: async () => (await import('./webhooks.ts')).benchWebhooks(),
  streams: async () => (await import('./streams/streams.ts')).benchStreams(),
  media: async () => (await import('./media/media.ts')).benchMedia(),
  sip: async () => (await import('./sip/sip.ts')).benchSip(),
  scale: async () => (await import('./scale/scale.ts')).benchScale(sizes),
  servers: async () => (await import('./scale/servers.ts')).benchServers(),
};

const unknown = wanted.filter((name) => !(name in measurements));
if (unknown.length > 0) {
  console.error(`There is no measurement ${unknown.join(', ')}. There are: ${Object.keys(measurements).join(', ')}.`);
  process.exit(2);
}

endOnSignals();
console.error(`On ${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}.`);
const all: Required<Found> = { rows: [], costs: [] };
for (const [name, measure] of Object.entries(measurements)) {
  if (wanted.length > 0 ? !wanted.includes(name) : ON_DEMAND.includes(name)) continue;
  const from = performance.now();
  console.error(`Measuring ${name} …`);
  try {
    const { rows = [], costs = [] } = await measure();
    all.rows.push(...rows);
    all.costs.push(...costs);
  } finally {
    await end();
  }
  console.error(`… took ${Math.round((performance.now() - from) / 1000)} s.`);
}
printTables(all);
