import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// The contract as one Redoc page that loads nothing from anywhere: `npm run docs`.

const page = new URL('dist/docs/index.html', import.meta.url);
const redocly = new URL('node_modules/.bin/redocly', import.meta.url);
const here = new URL('.', import.meta.url);

execFileSync(
  fileURLToPath(redocly),
  ['build-docs', 'openapi.yaml', '--config', '../redocly.yaml', '--inlineBundle', '--output', fileURLToPath(page)],
  { cwd: here, stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, REDOCLY_TELEMETRY: 'off' } },
);

/** Redoc's own logo, which the page would fetch. */
const LOGO = /https:\/\/cdn\.redoc\.ly\/[^"'`\s)]+/g;
/** The page may fetch nothing, neither from the server, which says the same in a header, nor opened as a file. */
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; worker-src blob:";

const html = readFileSync(page, 'utf8');
if (!html.match(LOGO)) throw new Error('Redoc has changed: look what the page loads now.');
const head = `<head>\n  <meta http-equiv="Content-Security-Policy" content="${POLICY}">`;
/** Without the logo, its line would end in nothing. */
const named = html.replaceAll('API docs by', 'API docs by Redoc');
writeFileSync(page, named.replaceAll(LOGO, 'data:,').replace('<head>', head));
