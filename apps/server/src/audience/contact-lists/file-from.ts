/// <reference lib="es2024.arraybuffer" />
import type { MessagePort } from 'node:worker_threads';
import { ask } from './validation-channel.ts';

/** The bytes of the file that a thread reads, as the process hands them over. */
export async function* fileFrom(port: MessagePort): AsyncGenerator<Uint8Array> {
  for (;;) {
    const chunk = await ask(port, 'chunk', {});
    if (!chunk) return;
    yield chunk;
    // Read by now. The collector sees how small the object is, not how much it holds, and would leave it for long.
    (chunk.buffer as ArrayBuffer).transfer(0);
  }
}
