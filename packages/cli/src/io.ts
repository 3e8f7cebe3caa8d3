import type { Readable, Writable } from 'node:stream';

/** A stream that may be a terminal. */
export type Output = Writable & { isTTY?: boolean; columns?: number };

/** What the program has of the world: a process gives its own, a test gives others. */
export interface Io {
  stdin: Readable & { isTTY?: boolean };
  stdout: Output;
  stderr: Output;
  env: Readonly<Record<string, string | undefined>>;
  /** Aborts on Ctrl-C. */
  signal: AbortSignal;
}

/** Columns of the terminal; undefined where there is none, and nothing need be cut. */
export const columnsOf = (stream: Output): number | undefined =>
  stream.isTTY ? Math.max(stream.columns || 80, 20) : undefined;

/** Whether colors may be written there (https://no-color.org). */
export const hasColor = (stream: Output, { NO_COLOR, TERM }: Io['env']): boolean =>
  stream.isTTY === true && !NO_COLOR && TERM !== 'dumb';

/** Whether there is somebody to ask. */
export const isInteractive = (io: Io): boolean => io.stdin.isTTY === true && io.stderr.isTTY === true;

/** All of standard input, as text. */
export async function readAll(stream: Readable, most = Number.POSITIVE_INFINITY): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > most) throw new RangeError(`More than ${most} bytes came.`);
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks).toString('utf8');
}
