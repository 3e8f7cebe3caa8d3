import path from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { build } from 'vite';
import { expect, test, vi } from 'vitest';

const MOST_BYTES = 200_000;
const root = path.dirname(import.meta.dirname);

test('what is loaded before the first screen is small, as it is sent, and nothing in it stands inline', async () => {
  vi.stubEnv('NODE_ENV', 'production');
  const { output } = (await build({ root, logLevel: 'error', build: { write: false } })) as { output: Output[] };
  const byName = new Map(output.map((each) => [each.fileName, each]));
  const html = String(byName.get('index.html')!.source);
  const named = [...html.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+)"/g)].map(([, name]) => name!);
  const first = new Set<string>();
  const take = (name: string) => {
    if (first.has(name)) return;
    first.add(name);
    for (const more of byName.get(name)?.imports ?? []) take(more);
  };
  named.forEach(take);
  // Words in bold are in the second of the fonts.
  for (const { fileName } of output) if (/latin-600/.test(fileName)) first.add(fileName);
  const sizeOf = (name: string) => {
    const { code, source } = byName.get(name)!;
    const bytes = Buffer.from(code ?? source!);
    return name.endsWith('.woff2') ? bytes.length : brotliCompressSync(bytes).length;
  };
  const sizes = Object.fromEntries([...first].map((name) => [name, sizeOf(name)]));
  expect(Object.keys(sizes).length).toBeGreaterThan(3);
  expect(Object.values(sizes).reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST_BYTES);
  expect(html).not.toMatch(/<style|<script(?![^>]*\bsrc=)/);
});

interface Output {
  fileName: string;
  code?: string;
  source?: string | Uint8Array;
  imports?: string[];
}
