import { SAMPLE_RATE, ulawPcm } from '@trunkline/media';
import { allWhileAlone, Shares } from '../../foundation/values/limiter.ts';

/** Writes down what is said in a sound. @param ulaw of 8 kHz @throws if it can't be had now */
export type Transcribe = (workspaceId: string, ulaw: Uint8Array) => Promise<string>;

/** What is asked at once, of all workspaces; and how long an answer may take. */
const AT_ONCE = 64;
const ANSWER_MS = 8000;
const HEADER = 44;

/** A server with the common form `POST /v1/audio/transcriptions`. */
export function transcriber({ url, key, model }: { url: string; key?: string | undefined; model: string }): Transcribe {
  const shares = new Shares(AT_ONCE, allWhileAlone);
  return async (workspaceId, ulaw) => {
    if (!shares.take(workspaceId)) throw new Error('Too much is being written down.');
    try {
      const form = new FormData();
      form.set('file', new Blob([wavOf(ulaw)], { type: 'audio/wav' }), 'greeting.wav');
      form.set('model', model);
      form.set('response_format', 'json');
      const headers: Record<string, string> = key === undefined ? {} : { Authorization: `Bearer ${key}` };
      const signal = AbortSignal.timeout(ANSWER_MS);
      const response = await fetch(url, { method: 'POST', headers, body: form, redirect: 'error', signal });
      const { text } = (await response.json()) as { text?: unknown };
      if (!response.ok || typeof text !== 'string') throw new Error(`It answered ${response.status}.`);
      return text;
    } finally {
      shares.giveBack(workspaceId);
    }
  };
}

/** A WAV file of 16 bits. */
function wavOf(ulaw: Uint8Array): Buffer<ArrayBuffer> {
  const wav = Buffer.alloc(HEADER + 2 * ulaw.length);
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(wav.length - 8, 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(SAMPLE_RATE, 24);
  wav.writeUInt32LE(2 * SAMPLE_RATE, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(2 * ulaw.length, 40);
  for (let at = 0; at < ulaw.length; at += 1) wav.writeInt16LE(ulawPcm[ulaw[at]!]!, HEADER + 2 * at);
  return wav;
}
