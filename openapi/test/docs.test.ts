import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import MiniSearch from 'minisearch';
import { beforeAll, describe, expect, it } from 'vitest';
import { pagesOf } from '../build-pages.ts';
import { PARTS } from '../guides/pages.ts';
import { searchOptions } from '../guides/search-options.js';
import { OPERATIONS } from './operations-table.ts';

const here = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
let page: string;

beforeAll(async () => {
  // Not built anew where it stands: the server's tests may be reading it right now.
  for (const [made, by] of [
    ['dist/docs/index.html', 'build-docs.ts'],
    ['dist/docs/llms.txt', 'build-guides.ts'],
  ] as const)
    if (!existsSync(here(made))) await promisify(execFile)(process.execPath, [here(by)]);
  page = await readFile(here('dist/docs/index.html'), 'utf8');
}, 60_000);

describe('the docs page', () => {
  it('describes every operation', () => {
    const missing = OPERATIONS.filter(({ operationId }) => !page.includes(operationId));
    expect(missing).toEqual([]);
  });

  it('is one file, which loads nothing from anywhere', () => {
    const markup = page.replace(/<script\b[^>]*>[\s\S]*?<\/script>/g, (script) =>
      script.slice(0, script.indexOf('>') + 1),
    );
    const loading =
      /<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*\s(?:src|data)=["']?(?!data:)[^"'\s>]/gi;
    const linking =
      /<link\b(?=[^>]*rel=["']?(?:stylesheet|icon|preload|modulepreload|preconnect|dns-prefetch))[^>]*href=["']?(?!data:)[^"'\s>]/gi;
    expect(markup.match(loading)).toBeNull();
    expect(markup.match(linking)).toBeNull();
    expect(page).not.toMatch(/url\(\s*["']?(?:https?:)?\/\//i);
    expect(page).not.toMatch(/@import\s+(?:url\()?["']?(?:https?:)?\/\//i);
    expect(page).not.toContain('cdn.redoc.ly');
    expect(page).toMatch(/API docs by Redoc/);
  });
});

it('the pages that are made from the contract are those of the contract; `npm run generate` writes them', async () => {
  const { components } = JSON.parse(await readFile(here('dist/openapi.json'), 'utf8'));
  const pages = Object.entries(pagesOf(components.schemas));
  expect(pages).toHaveLength(2);
  for (const [name, text] of pages) expect(text).toBe(await readFile(here(`../docs/${name}`), 'utf8'));
  delete components.schemas.ErrorCode['x-help'].not_found;
  expect(() => pagesOf(components.schemas)).toThrow('Each code needs');
});

describe('the guides', () => {
  const names = Object.values(PARTS).flat();
  const guide = (name: string) => readFile(here(`dist/docs/guides/${name}.html`), 'utf8');

  it('are all pages of docs/, and llms.txt lists them', async () => {
    const files = (await readdir(here('../docs'))).filter((name) => name.endsWith('.md'));
    expect([...names].sort()).toEqual(files.map((name) => name.replace('.md', '')).sort());
    const listed = await readFile(here('dist/docs/llms.txt'), 'utf8');
    expect([...listed.matchAll(/\(\/docs\/guides\/(.*)\)/g)].map(([, name]) => name)).toEqual(names);
  });

  it('have links that lead to headings that there are', async () => {
    const pages = new Map(await Promise.all(names.map(async (name) => [name, await guide(name)] as const)));
    const dead = [...pages].flatMap(([name, html]) =>
      [...html.matchAll(/<a href="(?!https?:|\/docs")([^"#]*)(?:#([^"]*))?"/g)]
        .filter(([, to, anchor]) => {
          const target = pages.get(to || name);
          return !target || (anchor && !target.includes(`id="${decodeURIComponent(anchor)}"`));
        })
        .map(([link]) => `${name}: ${link}`),
    );
    expect(dead).toEqual([]);
    expect([...pages.values()].join('')).not.toMatch(
      /<(?:script|img|link)\b[^>]*(?:src|href)="(?!data:|search\.js|style\.css)/,
    );
  });

  it.each([
    ['how do I start', 'get-started#1-start-the-server'],
    ['first real call', 'telephony#a-first-real-call-in-ten-minutes'],
    ['softphone', 'telephony#a-softphone-on-your-own-network'],
    ['connect my agent', 'agents'],
    ['phone column', 'contact-files#the-phone-column'],
    ['duplicate rows', 'contact-files#rows-that-are-left-out'],
    ['quiet hours', 'campaigns'],
    ['time zone of the callee', 'campaigns#which-clock'],
    ['retry busy', 'dialing#retries'],
    ['why was this person not called', 'campaigns#why-was-this-person-not-called'],
    ['kill switch', 'campaigns#the-whole-workspace'],
    ['do not call', 'campaigns#who-is-never-called-do-not-call'],
    ['test call', 'calls#a-test-call'],
    ['transcript', 'calls#the-result'],
    ['idempotency', 'api#sending-a-request-twice-idempotency-key'],
    ['permissions of a key', 'api#keys-and-permissions'],
    ['cursor next page', 'api#lists'],
    ['campaign_not_startable', 'errors#campaign_not_startable'],
    ['rotate secret', 'webhooks#receiving'],
    ['inbound call', 'webhooks#who-takes-an-inbound-call'],
    ['firewall', 'deployment#the-firewall'],
    ['managed PostgreSQL', 'deployment#the-database'],
    ['nginx', 'deployment#tls-and-the-reverse-proxy'],
    ['restore backup', 'operations#after-a-restore'],
    ['GDPR erasure', 'compliance#gdpr-european-union-and-the-uks'],
    ['cooling', 'phone-numbers#which-number-calls'],
    ['http node retries', 'workflows#the-nodes'],
    ['search documents', 'knowledge-bases#search'],
    ['startCampaign', '../../docs#tag/Campaigns/operation/startCampaign'],
    ['export calls', 'exports'],
  ])('answer "%s" in the first hits of the search', async (question, expected) => {
    const text = await readFile(here('dist/docs/guides/search.json'), 'utf8');
    const index = MiniSearch.loadJSON(text, searchOptions);
    const hits = index.search(question).slice(0, 3);
    expect(hits.map(({ href }) => href)).toContain(expected);
  });
});
