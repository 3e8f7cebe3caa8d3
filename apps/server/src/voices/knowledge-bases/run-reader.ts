import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import type { DocumentType } from '../../foundation/database/schema.ts';
import { lowerProcess } from '../../foundation/values/low-priority.ts';
import { type ReaderRights, readerRights } from './reader-rights.ts';
import type { ReadingLimits } from './reading/limits.ts';
import type { ReaderLine } from './reading/reader-lines.ts';

/** What became of a file: its passages were handed over, or it can't be read. */
export type Reading = { fileType: DocumentType; bytes: number } | { fault: string; fileType: DocumentType | undefined };

const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const program = fileURLToPath(new URL(`./reading/reader${ending}`, import.meta.url));

/** The same for every reader; found when the first one starts. */
let rights: Promise<ReaderRights> | undefined;

const TOO_LONG = 'Reading the file takes too long. Split it up, or save it as plain text.';
const TOO_LARGE = 'Reading the file takes too much memory. Split it up, or save it as plain text.';

/**
 * Reads a file in a process of its own. A worker thread would not do: where one allocation passes its limit, Node ends
 * the whole process, and files can be made to do that. The file passes through, it is not held here.
 * @param onPassages gets some passages at a time, and is waited for
 * @throws what reading `content` or `onPassages` throws, the signal's reason, and an error where the process was lost
 */
export async function runReader(
  content: AsyncIterable<Uint8Array>,
  limits: ReadingLimits,
  onPassages: (passages: string[]) => Promise<void>,
  signal: AbortSignal,
): Promise<Reading> {
  rights ??= readerRights(program);
  const { flags, account } = await rights;
  signal.throwIfAborted();
  const options = [...flags, `--max-old-space-size=${limits.heapMebibytes}`, '--max-semi-space-size=8'];
  const child = spawn(process.execPath, [...options, program, JSON.stringify(limits)], {
    // It gets nothing of the server's: neither its environment nor its log.
    env: {},
    cwd: '/',
    stdio: ['pipe', 'pipe', 'ignore'],
    ...account,
  });
  // Without one it could not be started, which `exited` tells.
  if (child.pid !== undefined) void lowerProcess(child.pid);
  const exited = once(child, 'exit') as Promise<[code: number | null, signal: string | null]>;
  exited.catch(() => undefined);
  const late = AbortSignal.timeout(limits.seconds * 1000);
  const kill = () => void child.kill('SIGKILL');
  const stop = AbortSignal.any([signal, late]);
  stop.addEventListener('abort', kill);
  try {
    const sent = pipeline(Readable.from(content), child.stdin).catch((error) => {
      // The reader may end, or be ended, before it has taken all.
      if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_PREMATURE_CLOSE' && error.code !== 'ECONNRESET')
        throw error;
    });
    sent.catch(kill);
    const reading = await takeLines(child.stdout, onPassages);
    signal.throwIfAborted();
    // A reading of half a file doesn't count; what never comes to an end is not waited for.
    await Promise.race([sent, exited]);
    if (reading) return reading;
    const [code] = await exited;
    if (late.aborted) return { fault: TOO_LONG, fileType: undefined };
    // Only a limit ends it without a word: V8's by SIGABRT or 134, ours or the system's by SIGKILL.
    if (code === null || code === 134) return { fault: TOO_LARGE, fileType: undefined };
    throw new Error(`The reader ended with ${code}.`);
  } finally {
    stop.removeEventListener('abort', kill);
    kill();
  }
}

const PASSAGES_AT_ONCE = 200;

async function takeLines(
  output: Readable,
  onPassages: (passages: string[]) => Promise<void>,
): Promise<Reading | undefined> {
  const passages: string[] = [];
  for await (const text of createInterface({ input: output })) {
    const { passage, end, fault } = lineOf(text);
    if (passage !== undefined && passages.push(passage) < PASSAGES_AT_ONCE) continue;
    if (passages.length > 0) await onPassages(passages.splice(0));
    if (fault) return { fault: fault.message, fileType: fault.fileType };
    if (end) return end;
  }
  return undefined;
}

/** The last line of a reader that was ended may be cut off. */
function lineOf(text: string): ReaderLine {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
