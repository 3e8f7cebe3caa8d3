import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { Router } from 'express';
import type { Logger } from 'pino';
import { Gauge } from 'prom-client';
import { withDeadline } from '../values/deadline.ts';
import type { Metrics } from './metrics.ts';
import { sendFile } from './send-file.ts';
import { shared } from './shared.ts';

/** The files of the contract that the server shows. */
export interface ContractFiles {
  json: URL;
  yaml: URL;
  docs: URL;
  /** The folder of the guides. */
  guides: URL;
  /** The list of pages for programs that read. */
  llms: URL;
}

/** Why the server can't take requests now; nothing when it can. */
export type NotReady = () => Promise<string | undefined>;

/**
 * Every path outside the contract that the app itself answers. What else lies outside is handed to `createApp` as
 * `outside`.
 */
export const OUTSIDE_PATHS = [
  '/',
  '/docs',
  '/docs/guides',
  '/docs/guides/get-started',
  '/llms.txt',
  '/openapi.json',
  '/openapi.yaml',
  '/livez',
  '/readyz',
  '/metrics',
] as const;

/** Redoc brings its script and styles inline and starts a worker from a blob; it may load nothing from elsewhere. */
const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  'img-src data: blob:',
  'font-src data:',
  'worker-src blob:',
  "connect-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The guides bring all they load, and ask nobody but this server for it. */
const GUIDES_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const typeOfEnding: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
};

const METRICS_HOLD_MS = 1000;
/** Longer than a collector waits for what it reads, and shorter than who scrapes waits. */
const LONGEST_METRICS_MS = 4000;

/** What an operator should know of a server that can take requests, a line each. */
export type Warnings = () => Promise<string[]>;

/** What these routes work with. */
export interface OutsideOptions {
  metrics: Metrics;
  notReady: NotReady;
  warnings: Warnings;
  log: Logger;
}

export function outsideRoutes(files: ContractFiles, { metrics, notReady, warnings, log }: OutsideOptions): Router {
  const router = Router();
  new Gauge({
    name: 'trunkline_warnings',
    help: 'How many lines /readyz has besides ok: what an operator should look at.',
    registers: [metrics.registry],
    async collect() {
      this.set((await warnings()).length);
    },
  });
  new Gauge({
    name: 'trunkline_ready',
    help: 'Whether this server can take requests, as /readyz says: 1, else 0.',
    registers: [metrics.registry],
    async collect() {
      this.set((await notReady()) === undefined ? 1 : 0);
    },
  });
  router.get('/', (_request, response) => response.redirect('/docs'));
  router.get('/docs', sendFile(files.docs, 'text/html; charset=utf-8', { 'Content-Security-Policy': DOCS_POLICY }));
  router.get('/docs/guides', (_request, response) => response.redirect('/docs/guides/get-started'));
  for (const [name, file] of guideFiles(files.guides))
    router.get(
      `/docs/guides/${name}`,
      sendFile(file, typeOfEnding[path.extname(file.pathname)]!, { 'Content-Security-Policy': GUIDES_POLICY }),
    );
  router.get('/llms.txt', sendFile(files.llms, 'text/plain; charset=utf-8'));
  router.get('/openapi.json', sendFile(files.json, 'application/json'));
  router.get('/openapi.yaml', sendFile(files.yaml, 'application/yaml'));
  router.get('/livez', (_request, response) => {
    response.type('text/plain').send('ok\n');
  });
  // Nobody needs a key here: however many ask, the database is asked once at a time, and figures are put together once a second.
  const readiness = shared(async () => {
    const reason = await notReady();
    return { status: reason ? 503 : 200, text: `${reason ?? ['ok', ...(await warnings())].join('\n')}\n` };
  });
  router.get('/readyz', async (_request, response) => {
    const { status, text } = await readiness();
    response.status(status).type('text/plain').send(text);
  });
  const figures = shared(() => metrics.registry.metrics(), METRICS_HOLD_MS);
  const failing = onceLogged(log);
  router.get('/metrics', async (_request, response) => {
    // One that hangs is waited for no longer, and not begun again beside itself.
    const text = await withDeadline(LONGEST_METRICS_MS, figures).catch(failing.with);
    if (text !== undefined) failing.over();
    if (text === undefined) response.status(503).type('text/plain').send('The metrics could not be read.\n');
    else response.set('Content-Type', metrics.registry.contentType).send(text);
  });
  return router;
}

/** Logs why the metrics can't be read when that changes, and not at each scrape; and when they can be again. */
function onceLogged(log: Logger) {
  let reason: string | undefined;
  return {
    with: (error: Error) => {
      if (error.message !== reason) log.error({ err: error }, 'the metrics can not be read');
      reason = error.message;
      return undefined;
    },
    over: () => {
      if (reason !== undefined) log.info('the metrics can be read again');
      reason = undefined;
    },
  };
}

/** The files of the guides by the names under which they are asked for: pages without their ending. */
function guideFiles(folder: URL): [string, URL][] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => path.extname(name) in typeOfEnding)
    .map((name) => [name.replace(/\.html$/, ''), new URL(name, folder)]);
}
