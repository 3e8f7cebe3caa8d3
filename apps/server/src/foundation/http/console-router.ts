import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Handler, Router } from 'express';
import { sendFile } from './send-file.ts';

/** The console brings all it loads, and asks nobody but this server for anything, and the place of its files. */
const policyOf = (fileOrigin: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self'",
    `media-src 'self' blob: ${fileOrigin}`,
    `connect-src 'self' ${fileOrigin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const typeOfEnding: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

const policy = { 'Content-Security-Policy': policyOf(''), 'Referrer-Policy': 'no-referrer' };

/**
 * The console (`apps/console`): a page for every address below `/console`, and what it loads.
 * @param fileOrigin the origin to which browsers send files, and from which they get them
 */
export function consoleRouter(fileOrigin: () => Promise<string>): Router {
  const index = pathToFileURL(createRequire(import.meta.url).resolve('@trunkline/console/package.json'));
  const built = new URL('dist/', index);
  const router = Router();
  for (const [name, handler] of filesOf(built)) router.get(`/console/${name}`, handler);
  router.get('/console/assets/*name', (_request, response) => {
    response.status(404).type('text/plain').send('There is no such file.\n');
  });
  const page = sendFile(new URL('index.html', built), 'text/html; charset=utf-8', {
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
  });
  const guarded: Handler = async (_request, response, next) => {
    // A place of files that is not to be reached keeps nobody from the page.
    response.set('Content-Security-Policy', policyOf(await fileOrigin().catch(() => '')));
    next();
  };
  router.get('/console{/*path}', guarded, page);
  return router;
}

/** What the page loads. The names of assets have a hash of what is in them. */
function filesOf(built: URL): [string, Handler][] {
  if (!existsSync(built)) return [];
  return readdirSync(built, { recursive: true, encoding: 'utf8' })
    .filter((name) => path.extname(name) in typeOfEnding)
    .map((name) => {
      const kept = name.startsWith('assets') ? 'public, max-age=31536000, immutable' : 'no-cache';
      const type = typeOfEnding[path.extname(name)]!;
      return [name, sendFile(new URL(name, built), type, { ...policy, 'Cache-Control': kept })];
    });
}
