import { createReadStream } from 'node:fs';

/**
 * What a file holds. It is opened when its reader asks for the first of it: a stream that was opened before somebody
 * listens to it ends the process if the file is gone.
 * @param chunkBytes how much comes at a time
 */
export async function* fileContent(path: string, chunkBytes = 64 * 1024): AsyncGenerator<Buffer> {
  yield* createReadStream(path, { highWaterMark: chunkBytes });
}
