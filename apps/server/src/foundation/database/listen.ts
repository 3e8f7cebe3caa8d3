import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Client } from './client.ts';
import type { Connection } from './connection.ts';
import { translated } from './errors.ts';
import { ASK_MS, SILENCE_MS } from './silence-limits.ts';

interface ListenOptions {
  connection: Connection;
  channel: string;
  log: Logger;
  onChange?: ((isListening: boolean) => void) | undefined;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5000;
const LONGEST_CONNECT_MS = 5000;

/**
 * Listens on a channel until closed, on a connection of its own, which it opens again when it's lost. What is sent
 * meanwhile is missed.
 * @param options.onChange called when it begins to hear, and when it has missed something
 */
export function listen(options: ListenOptions, onPayload: (payload: string) => void): { close(): Promise<void> } {
  const closing = new AbortController();
  const running = keepListening(closing.signal, options, onPayload);
  return {
    close: () => {
      closing.abort();
      return running;
    },
  };
}

async function keepListening(
  closing: AbortSignal,
  { connection, channel, log, onChange }: ListenOptions,
  onPayload: (payload: string) => void,
): Promise<void> {
  let pause = FIRST_PAUSE_MS;
  while (!closing.aborted) {
    const client = new Client({
      ...connection,
      connectionTimeoutMillis: LONGEST_CONNECT_MS,
      query_timeout: ASK_MS,
      application_name: 'trunkline listen',
    });
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    client.once('end', end);
    client.on('error', end);
    closing.addEventListener('abort', end);
    client.on('notification', ({ payload }) => onPayload(payload ?? ''));
    let beat: NodeJS.Timeout | undefined;
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
      pause = FIRST_PAUSE_MS;
      onChange?.(true);
      // Nobody would notice that a database which has gone without a word says nothing more.
      beat = setInterval(() => client.query('select 1').catch(end), SILENCE_MS);
      await over;
    } catch (error) {
      log.warn({ err: translated(error) }, 'cannot listen to the database');
    }
    clearInterval(beat);
    onChange?.(false);
    closing.removeEventListener('abort', end);
    client.end().catch(() => {});
    await sleep(pause, undefined, { signal: closing }).catch(() => {});
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}
