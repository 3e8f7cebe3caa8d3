import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { ObjectStore } from '../../foundation/objects/object-store.ts';
import { ERROR_REPORT_HEADER } from './reading/error-report.ts';

/** The error report of an upload, written to the object store while rows are checked; not at all where none is faulty. */
export interface ErrorReportFile {
  write(lines: string): Promise<void>;
  /** Ends it, and leaves none if there was nothing to report. @returns its key; nothing then */
  end(): Promise<string | undefined>;
  /** Drops what was written, and what an earlier validation left. */
  discard(): Promise<void>;
}

/** Opens a report; one that an earlier validation of the same file left is replaced. */
export function openErrorReport(objects: ObjectStore, key: string): ErrorReportFile {
  let stream: PassThrough | undefined;
  let stored: Promise<unknown> | undefined;

  function begin(): PassThrough {
    const fresh = new PassThrough();
    stored = objects.delete(key).then(() => objects.put(key, fresh, Number.MAX_SAFE_INTEGER));
    stored.catch((error) => fresh.destroy(error));
    fresh.on('error', () => undefined);
    fresh.write(ERROR_REPORT_HEADER);
    return fresh;
  }

  return {
    async write(lines) {
      stream ??= begin();
      if (!stream.write(lines)) await Promise.race([once(stream, 'drain'), stored]);
    },
    async end() {
      stream?.end();
      await stored;
      if (!stream) await objects.delete(key);
      return stream && key;
    },
    async discard() {
      stream?.destroy(new Error('The report is not needed.'));
      await stored?.catch(() => undefined);
      await objects.delete(key);
    },
  };
}
