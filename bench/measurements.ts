import type { Effort } from './rounds.ts';
import type { Found } from './table.ts';

/** Something that `npm run bench` measures. */
export interface Measurement {
  /** @param sizes rows, where it takes several sizes */
  measure(effort: Effort, sizes: number[]): Promise<Found>;
  /** What of the repository is measured. Figures that are much older than its last change count no more. */
  measures: string[];
  /** The names of what is found. One that ends with `…` stands for all that begin like it. */
  finds: string[];
  /** Whether there is a quick turn of it, for every day. */
  isQuick?: true;
  /** Whether it takes too long to be measured unasked. */
  isOnDemand?: true;
}

const server = (...names: string[]) => names.map((name) => `apps/server/src/${name}`);

const each = (peers: string[], ...figures: string[]) =>
  peers.flatMap((peer) => figures.map((figure) => `${figure}, beside ${peer}`));

const webFrameworks = ['bare Express', 'Fastify with schemas'];
const calls = (count: number, ...figures: string[]) => figures.map((figure) => `${count} calls, ${figure}`);

export const measurements: Record<string, Measurement> = {
  edge: {
    measure: async (effort) => (await import('./edge/edge.ts')).benchEdge(effort),
    measures: server('foundation/http', 'platform/api-keys', 'foundation/values/coalesce.ts'),
    finds: each(webFrameworks, 'GET, CPU a request', 'GET, requests', 'POST, CPU a request', 'POST, requests'),
    isQuick: true,
  },
  sql: {
    measure: async (effort) => (await import('./edge/sql.ts')).benchSql(effort),
    measures: server('foundation/http', 'foundation/database', 'platform/do-not-call'),
    finds: each(['Fastify, same SQL'], 'GET with key and SQL, requests', 'GET with key and SQL, CPU a request'),
    isQuick: true,
  },
  import: {
    measure: async (effort) => (await import('./import.ts')).benchImport(effort),
    measures: server('audience/contact-lists'),
    finds: [
      'import of 1M rows, PUT to processed, beside COPY into a text table',
      'import of 1M rows, most memory',
      'import of 3M rows, most memory',
      'import of 3M rows, PUT to processed',
    ],
    isQuick: true,
  },
  dialing: {
    measure: async (effort) => (await import('./dialing.ts')).benchDialing(effort),
    measures: server('dialing/campaigns', 'dialing/calls', 'lines/telephony/simulator'),
    finds: each(
      ['graphile-worker, no-op jobs one by one', 'graphile-worker at its fastest'],
      'finished calls, campaign of 100k',
      'finished calls, campaign of 1M',
    ),
    isQuick: true,
  },
  workflows: {
    measure: async (effort) => (await import('./workflows/workflows.ts')).benchWorkflows(effort),
    measures: server('dialing/workflows'),
    finds: [
      ...each(
        ['Restate', 'DBOS', 'DBOS queue'],
        ...['one step', 'five steps'].flatMap((steps) => [`runs of ${steps}`, `runs of ${steps}, CPU of one`]),
      ),
      ...each(
        ['Restate', 'DBOS', 'DBOS queue', 'DBOS over HTTP'],
        'start accepted, at 100 /s, p50',
        'start accepted, at 100 /s, p99',
      ),
      'wake 500 of 300k sleeping runs, whole request',
      'wake 500 of 300k sleeping runs, slowest of 20 requests',
      'wake 500 of 300k sleeping runs, until all have ended',
    ],
    isQuick: true,
  },
  batch: {
    measure: async (effort) => (await import('./batch.ts')).benchBatch(effort),
    measures: server('dialing/batches', 'dialing/campaigns'),
    finds: [
      'batches of 1,000 accepted, one after another, beside multi-row insert of the same rows',
      'a batch of 1,000 accepted, p50',
      'a batch of 1,000 accepted, p99',
    ],
    isQuick: true,
  },
  pools: {
    measure: async (effort) => (await import('./pools.ts')).benchPools(effort),
    measures: server('lines/number-pools', 'dialing/campaigns/claim'),
    finds: each(['Trunkline, one number'], 'claim of 50, from a pool of 10', 'claim of 50, from a pool of 1,000'),
    isQuick: true,
  },
  rest: {
    measure: async () => (await import('./rest.ts')).benchRest(),
    measures: ['apps/server/src'],
    finds: ['the server', 'PostgreSQL', 'both'].map((whose) => `at rest, CPU of ${whose}`),
  },
  live: {
    measure: async () => (await import('./live.ts')).benchLive(),
    measures: server('dialing/calls', 'lines/telephony', 'foundation/database'),
    finds: [
      ...['CPU of the server', 'CPU of PostgreSQL', 'memory of the server', 'rows written', 'write-ahead log'],
    ].map((what) => `10,000 live calls, ${what}`),
  },
  search: {
    measure: async () => (await import('./search.ts')).benchSearch(),
    measures: server('voices/knowledge-bases'),
    finds: ['100 knowledge bases', 'one of 100,000 passages'].flatMap((where) => [
      `search in ${where}, p50`,
      `search in ${where}, p99`,
    ]),
  },
  webhooks: {
    measure: async (effort) => (await import('./webhooks/webhooks.ts')).benchWebhooks(effort),
    measures: server(
      'platform/webhooks',
      'foundation/outbound-http',
      'platform/journal',
      'foundation/values/limiter.ts',
    ),
    finds: [
      'webhook deliveries, beside signed POSTs by undici',
      'webhook deliveries, 300,000 waiting, beside Trunkline, 30,000 waiting',
    ],
    isQuick: true,
  },
  'webhooks-long': {
    measure: async () => (await import('./webhooks/long.ts')).benchLongWebhooks(),
    measures: server(
      'platform/webhooks',
      'foundation/outbound-http',
      'platform/journal',
      'foundation/values/limiter.ts',
    ),
    finds: ['a webhook delivery in the tenth minute, CPU, beside Trunkline, the first minute'],
    isOnDemand: true,
  },
  streams: {
    measure: async (effort) => (await import('./streams/streams.ts')).benchStreams(effort),
    measures: server('foundation/http', 'platform/journal'),
    finds: each(['better-sse', 'bare node:http'], 'an event on one of 5,000 streams, CPU', 'an open stream, memory'),
    isQuick: true,
  },
  media: {
    measure: async (effort) => (await import('./media/media.ts')).benchMedia(effort),
    measures: ['packages/media', ...server('lines/media')],
    finds: [
      ...[100, 200].flatMap((count) =>
        each(['a bare relay in Node'], ...calls(count, 'CPU a call-second', 'jitter p99', 'callee to agent p99')),
      ),
      ...calls(200, 'CPU a call-second', 'jitter p99', 'callee to agent p99', 'packets lost', 'memory a call'),
      ...calls(
        200,
        ...['main thread half busy', 'rows being imported'].flatMap((beside) => [
          `${beside}, jitter p99`,
          `${beside}, to agent p99`,
          `${beside}, packets lost`,
        ]),
      ),
      '200 calls, rows that were imported meanwhile',
      ...calls(400, 'CPU a call-second', 'jitter p99', 'callee to agent p99', 'packets lost'),
    ],
    isQuick: true,
  },
  voices: {
    measure: async (effort) => (await import('./media/voices.ts')).benchVoices(effort),
    measures: ['packages/media', ...server('lines/media')],
    finds: [
      ...each(['300 stream agents', 'a bare relay in Node'], '200 scripts and 100 models, CPU a call-second'),
      ...['jitter p99', 'packets lost'].map((figure) => `200 scripts and 100 models, ${figure}`),
      ...['a model is told that the callee speaks', 'a key is pressed into a script'].flatMap((what) => [
        `${what}, until it is silent, p50`,
        `${what}, until it is silent, p99`,
      ]),
    ],
    isQuick: true,
  },
  srtp: {
    measure: async (effort) => (await import('./media/srtp.ts')).benchSrtp(effort),
    measures: ['packages/media'],
    finds: [
      ...each(
        ['the same calls in clear'],
        'a packet each way, AES_CM_128_HMAC_SHA1_80, CPU',
        'a packet each way, AEAD_AES_128_GCM, CPU',
      ),
      'a keystream of 20 ms, CPU, beside a cipher for each packet',
    ],
    isQuick: true,
  },
  sip: {
    measure: async (effort) => (await import('./sip/sip.ts')).benchSip(effort),
    measures: ['packages/sip'],
    finds: [
      ...each(
        ['bare Node that sends as much', 'sipp as the caller'],
        'calls over SIP, 100 /s, CPU a call',
        'calls over SIP, 300 /s, CPU a call',
      ),
      'calls over SIP, 100 /s, answered p99',
      'calls over SIP, 300 /s, answered p99',
      'calls over SIP, 3,000 up, CPU a call',
      'calls over SIP, most up at once',
      'calls over SIP, 3,000 up, memory a call',
      ...['incomplete', 'answered p99', 'CPU of the server', 'rows that were imported meanwhile'].map(
        (what) => `calls over SIP, rows being imported, ${what}`,
      ),
    ],
    isQuick: true,
  },
  scale: {
    measure: async (_, sizes) => (await import('./scale/scale.ts')).benchScale(sizes),
    measures: ['apps/server/src', 'apps/server/migrations'],
    finds: [
      'a row that retention deletes, …',
      'a second at rest, …',
      'a call of a campaign, with its webhook, …',
      'a run that calls, with its webhooks, …',
      'a row that is imported, …',
      'a contact that is added to a campaign, …',
      'a first page of a list, …',
      'a next page of a list, …',
      'disk of a row of …',
    ],
    isOnDemand: true,
  },
  neighbours: {
    measure: async (effort) => (await import('./neighbours/neighbours.ts')).benchNeighbours(effort),
    measures: ['apps/server/src', 'packages/sip', 'packages/media'],
    finds: [
      'bodies of unknown keys',
      'bodies of a million values',
      'requests without a pause',
      'streams at once',
      'INVITEs to nobody',
      'silent connections',
    ].flatMap((abuse) => [
      `beside ${abuse}, p99 of another workspace’s requests, beside the same with nobody there`,
      `beside ${abuse}, p99 of another workspace’s requests, beside the same at another server`,
      `beside ${abuse}, sound that it hears`,
      `beside ${abuse}, its calls that are refused`,
    ]),
    isOnDemand: true,
  },
  servers: {
    measure: async () => (await import('./scale/servers.ts')).benchServers(),
    measures: server('dialing/campaigns', 'dialing/calls', 'foundation/database'),
    finds: each(
      ['one server'],
      ...['one campaign', 'six campaigns'].flatMap((campaigns) =>
        [
          'three servers, finished calls',
          'CPU of the servers a call',
          'CPU of PostgreSQL a call',
          'statements a call',
          'commits a call',
          'buffers a call',
          'write-ahead log a call',
          'connections that wait for a lock',
        ].map((figure) => `${campaigns}: ${figure}`),
      ),
    ),
    isOnDemand: true,
  },
};
