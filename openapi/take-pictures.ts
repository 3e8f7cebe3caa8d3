import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startBrowser } from './test/browser.ts';

// Takes the README's pictures of the docs as they are built, by Debian's chromium: `node --run pictures`.

const folder = fileURLToPath(new URL('../docs/pictures/', import.meta.url));
const LARGEST_BYTES = 150_000;
const PICTURES = [
  { name: 'reference', address: '/docs#/campaigns/createcampaign' },
  { name: 'guide', address: '/docs/guides/campaigns#where-it-is' },
];
const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

/** The docs as a server shows them. */
const server = createServer((request, response) => {
  const asked = request.url === '/docs' ? '/docs/index' : request.url!;
  const file = [asked, `${asked}.html`].map((name) => fileURLToPath(new URL(`dist${name}`, import.meta.url)));
  const found = file.find((each) => existsSync(each) && statSync(each).isFile());
  if (!found) return response.writeHead(404).end();
  response.setHeader('Content-Type', types[path.extname(found)] ?? 'application/json').end(readFileSync(found));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const browser = await startBrowser();
mkdirSync(folder, { recursive: true });
for (const { name, address } of PICTURES) {
  const page = await browser.page();
  await page.size(1300, 700);
  await page.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}${address}`);
  // Redoc fills its page in steps, of which nothing says the last.
  await page.run('new Promise((resolve) => setTimeout(resolve, 6000))');
  const picture = await page.picture();
  if (picture.length > LARGEST_BYTES) throw new Error(`${name}.png has ${picture.length} bytes`);
  writeFileSync(`${folder}${name}.png`, picture);
}
await browser.stop();
server.close();
server.closeAllConnections();
