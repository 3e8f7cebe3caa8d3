import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

// Writes beside each file of `dist` that is text the same compressed, as the server sends it.

const folder = path.join(import.meta.dirname, 'dist');
for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
  if (!/\.(?:html|js|css)$/.test(name)) continue;
  const file = path.join(folder, name);
  const bytes = readFileSync(file);
  writeFileSync(`${file}.br`, brotliCompressSync(bytes));
  writeFileSync(`${file}.gz`, gzipSync(bytes));
}
