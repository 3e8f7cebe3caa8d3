import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openWav, WavFault } from '../sounds/wav.ts';

/** A text that is to be spoken. */
export interface SpokenText {
  text: string;
  /** BCP 47, such as `en` or `de-AT`. */
  language: string;
  /** As the engine names it; its own without one. */
  voice?: string | undefined;
}

/** What makes sound of texts. */
export interface SpeechEngine {
  /** Tells its sound from that of others. */
  name: string;
  /** @returns µ-law; it throws what is wrong, in words that may be shown */
  speak(spoken: SpokenText, signal: AbortSignal): Promise<Buffer>;
}

/** Of the sound of one text, two minutes: more is no answer to a text of this length. */
const MOST_SAMPLES = 8000 * 120;
/** Of what an engine sends for it. */
const MOST_BYTES = 30_000_000;

/** Sound that comes as a WAV file. Throws where it is none, or too long. */
async function ulawOf(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const wav = await openWav(atMost(content));
  const pieces: Buffer[] = [];
  let samples = 0;
  for await (const piece of wav.ulaw()) {
    samples += piece.length;
    if (samples > MOST_SAMPLES) throw new Error('The sound is too long.');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function* atMost(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error('The sound is too large.');
    yield chunk;
  }
}

/** What is wrong with the sound of an engine, in words. */
function inWords(who: string, error: unknown): Error {
  const { message } = error as Error;
  return new Error(
    error instanceof WavFault ? `${who} gave a sound that ${message}.` : `${who} gave no sound: ${message}`,
  );
}

export interface SpeechServer {
  url: string;
  key?: string | undefined;
  model: string;
  voice: string;
}

/** A server with the common form `POST /v1/audio/speech`. */
export const speechServer = ({ url, key, model, voice: usual }: SpeechServer): SpeechEngine => ({
  name: `${url} ${model}`,
  async speak({ text, voice = usual, language }, signal) {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...(key !== undefined && { Authorization: `Bearer ${key}` }) },
        body: JSON.stringify({ model, voice, input: text, response_format: 'wav', language }),
        redirect: 'error',
        signal,
      });
      if (!response.ok || !response.body) {
        await response.body?.cancel();
        throw new Error(`it answered ${response.status}.`);
      }
      return await ulawOf(response.body);
    } catch (error) {
      throw inWords('The server of SPEECH_URL', error);
    }
  },
});

const PROGRAM = 'espeak-ng';

/** The program `espeak-ng`. What it is given is no option of it: the text comes by stdin. */
export const espeak: SpeechEngine = {
  name: PROGRAM,
  async speak({ text, voice, language }, signal) {
    const name = voice ?? language.toLowerCase();
    const child = spawn(PROGRAM, ['--stdin', '--stdout', '-b', '1', '-v', name], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: {},
      signal,
      killSignal: 'SIGKILL',
    });
    const failed = once(child, 'error').then(([error]) => Promise.reject(error));
    failed.catch(() => {});
    const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
    exited.catch(() => {});
    child.stdin.on('error', () => {});
    child.stdin.end(text);
    const spoken = async () => {
      const ulaw = await ulawOf(child.stdout);
      const [code, killedBy] = await exited;
      if (code === 0) return ulaw;
      throw new Error(`it ended with ${code ?? killedBy}.`);
    };
    try {
      return await Promise.race([spoken(), failed as Promise<never>]);
    } catch (error) {
      throw inWords(`espeak-ng, with the voice ${name},`, error);
    } finally {
      child.kill('SIGKILL');
    }
  },
};

/** Whether the program is there. */
export async function hasEspeak(): Promise<boolean> {
  const child = spawn(PROGRAM, ['--version'], { stdio: 'ignore', env: {} });
  return Promise.race([once(child, 'exit').then(([code]) => code === 0), once(child, 'error').then(() => false)]).catch(
    () => false,
  );
}
