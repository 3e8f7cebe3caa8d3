import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { DocumentFault } from './document-fault.ts';
import type { ReadingLimits } from './limits.ts';
import { readFile } from './read-file.ts';
import type { ReaderLine } from './reader-lines.ts';
import { splitPassages } from './split-passages.ts';

// A process of its own: gets the file on standard input, writes passages and an end, each as a line of JSON.
const limits = JSON.parse(process.argv[2]!) as ReadingLimits;
const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const guard = new Worker(new URL(`./memory-guard${ending}`, import.meta.url), { workerData: limits });
const guarded = once(guard, 'message').then(() => {
  guard.unref();
  // What could be made to start another thread could give that thread other rights. Node 22 and 24 can take none back.
  process.permission?.drop?.('worker');
});

async function write(line: ReaderLine): Promise<void> {
  if (!process.stdout.write(`${JSON.stringify(line)}\n`)) await once(process.stdout, 'drain');
}

try {
  const [content] = await Promise.all([buffer(process.stdin), guarded]);
  const { fileType, text, bytes } = await readFile(content, limits);
  for (const passage of splitPassages(text)) await write({ passage });
  await write({ end: { fileType, bytes } });
} catch (error) {
  const known = error instanceof DocumentFault;
  const message = known ? error.message : 'The file is damaged or nested too deeply. Save it again and upload that.';
  await write({ fault: { message, fileType: known ? error.fileType : undefined } });
}
