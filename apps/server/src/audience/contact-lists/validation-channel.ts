import { once } from 'node:events';
import type { MessagePort, Worker } from 'node:worker_threads';
import type { Connection } from '../../foundation/database/connection.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import type { KeptRow } from './kept-rows.ts';
import type { ColumnUse } from './reading/column-uses.ts';
import type { FileFormat } from './reading/file-format.ts';
import type { ReadOptions } from './reading/read-contacts.ts';
import type { FailureCode } from './upload.ts';

/** What the thread is started with. */
export interface ValidationWork {
  connection: Connection;
  workspaceId: string;
  uploadId: string;
  options: ReadOptions;
}

/** What was found in the whole file. */
export interface ValidationResult {
  totalRows: number;
  validRows: number;
  invalidRows: number;
  duplicateRows: number;
  /** The first 1,000 invalid rows. */
  errorRows: number[];
  /** Rows that say that nobody is to call their person, and the first 1,000 of them. */
  doNotCallRows: number;
  doNotCallRowNumbers: number[];
  /** Rows whose person has agreed to be called. */
  consentRows: number;
  /** Absent where nothing could be read. */
  format?: FileFormat;
  columns?: readonly ColumnUse[];
  /** The cells of the header. */
  titles?: readonly string[];
  failure?: { code: FailureCode; message: string };
}

/** Of a thread that reads a file. A small young generation costs a fifth more CPU and saves 50 MB. */
export const THREAD_MEMORY = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 8 };

/** Whether a thread has ended since its file takes more memory than that: it will the next time, too. */
export const isOutOfMemory = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';

/** What is wrong with such a file. */
export const TOO_MUCH = {
  code: 'file_too_large',
  message: 'The file takes too long, or too much memory, to be read. Split it, or save it as CSV.',
} as const;

/** What the thread asks of the process, one thing after another, and what it gets. */
export interface Questions {
  /** It alone validates the upload now: may it begin? */
  begin: { ask: Record<never, never>; answer: boolean };
  /** Nothing is left of an earlier validation. */
  cleared: { ask: Record<never, never>; answer: undefined };
  /** The next bytes of the file; nothing at its end. */
  chunk: { ask: Record<never, never>; answer: Uint8Array | undefined };
  /** Where in the list's columns these variables stand. */
  columns: { ask: { names: readonly string[] }; answer: number[] | 'too_many' };
  /** What is wrong with some rows, and those of them that are kept to be mended. */
  report: { ask: { text: string; kept: readonly KeptRow[] }; answer: undefined };
  progress: { ask: { rows: number; bytes: number }; answer: undefined };
  done: { ask: { result: ValidationResult }; answer: undefined };
  /** In place of all but `chunk`, of a thread that reads a file's beginning alone. */
  previewed: { ask: { preview: components['schemas']['ContactListUploadPreview'] }; answer: undefined };
}

export type Answers = { [Q in keyof Questions]: (ask: Questions[Q]['ask']) => Promise<Questions[Q]['answer']> };

/** The thread's end: asks, and waits for the answer. */
export async function ask<Q extends keyof Questions>(
  port: MessagePort,
  question: Q,
  details: Questions[Q]['ask'],
): Promise<Questions[Q]['answer']> {
  const answered = once(port, 'message');
  port.postMessage({ question, details });
  const [answer] = await answered;
  return answer;
}

/** The memory of a chunk that shares it with nothing else: it is handed over, and not copied. */
const ownedBy = (reply: unknown): ArrayBuffer[] =>
  reply instanceof Uint8Array && reply.byteLength === reply.buffer.byteLength ? [reply.buffer as ArrayBuffer] : [];

/**
 * The process's end: answers until the thread has ended.
 * @throws what an answer threw, after ending the thread; what the thread threw; the signal's reason
 */
export async function answer(worker: Worker, answers: Partial<Answers>, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const fail = (error: unknown) => {
      reject(error);
      void worker.terminate();
    };
    signal.addEventListener('abort', () => fail(signal.reason), { once: true });
    if (signal.aborted) fail(signal.reason);
    worker.on('error', reject);
    worker.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`The validation's thread ended with ${code}.`)),
    );
    worker.on('message', ({ question, details }: { question: keyof Questions; details: never }) => {
      answers[question]!(details)
        .then((reply) => worker.postMessage(reply, ownedBy(reply)))
        .catch(fail);
    });
  });
}
