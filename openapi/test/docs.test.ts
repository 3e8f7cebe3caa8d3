import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { pagesOf } from '../build-pages.ts';
import { OPERATIONS } from './operations-table.ts';

const here = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
let page: string;

beforeAll(async () => {
  // Not built anew where it stands: the server's tests may be reading it right now.
  if (!existsSync(here('dist/docs/index.html'))) await promisify(execFile)(process.execPath, [here('build-docs.ts')]);
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
