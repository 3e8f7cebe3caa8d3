import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ICON } from './guides/shell.ts';
import { type Contract, samplesOf } from './samples.ts';

// The contract as one Redoc page that loads nothing from anywhere: `npm run docs`. Beside the contract it shows how each
// operation is called, and the permission that it needs.

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const page = fileOf('dist/docs/index.html');
const scratch = mkdtempSync(path.join(tmpdir(), 'trunkline-docs-'));
const source = path.join(scratch, 'openapi.json');

const redocly = (args: string[]) =>
  execFileSync(fileOf('node_modules/.bin/redocly'), [...args, '--config', '../redocly.yaml'], {
    cwd: fileOf('.'),
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });

redocly(['bundle', 'openapi.yaml', '-o', source]);
const contract = JSON.parse(readFileSync(source, 'utf8')) as Contract;
contract.info.description = `The guides to it are [beside this page](/docs/guides/get-started).\n\n${contract.info.description}`;
for (const { post } of Object.values(contract.webhooks))
  post.description = `**Sent to your endpoint.** ${post.description}`;
for (const { operation, samples } of samplesOf(contract)) {
  const permission = operation['x-permission'];
  const needs = { anyone: 'none, and no key', authenticated: 'any key may' }[permission!] ?? `\`${permission}\``;
  operation.description = `**Permission:** ${needs}.\n\n${operation.description}`;
  operation['x-codeSamples'] = samples;
}
/** The contract's links, which any reader of it knows, as this one has them. */
const links = /#tag\/([\w-]+)\/operation\/(\w+)/g;
writeFileSync(
  source,
  JSON.stringify(contract).replaceAll(links, (_, tag, operation) => `#/${tag}/${operation}`.toLowerCase()),
);
// What a pattern asks for stands in the description, in words.
const options = ['hideSchemaPattern', 'hideDownloadButtons', 'sortRequiredPropsFirst'].map(
  (name) => `--openapi.${name}`,
);
redocly(['build-docs', source, '--inlineBundle', ...options, '--output', page]);
rmSync(scratch, { recursive: true });

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
const own = (name: string) => readFileSync(fileOf(`guides/${name}`), 'utf8');
const readable = `<link rel="icon" href="${ICON}">
<style>${own('reference.css')}</style>
<script>{${own('reference.js')}}</script>
</head>`;
writeFileSync(
  page,
  named
    .replaceAll(LOGO, 'data:,')
    .replace('<head>', head)
    .replace('</head>', () => readable),
);
