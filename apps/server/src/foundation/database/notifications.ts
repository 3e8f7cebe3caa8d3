import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { coalesce } from '../values/coalesce.ts';
import { Client } from './client.ts';
import type { Connection } from './connection.ts';
import { translated } from './errors.ts';
import { listen } from './listen.ts';
import { watchPool } from './silence.ts';

/**
 * Word between servers that a resource has changed. A hint only: it may be lost or late, so who waits also looks by
 * itself once a second.
 */
export interface Notifications {
  /** Tells the listeners of a topic (a resource's UUID), in every process, within some 10 ms. Never throws. */
  notify(topic: string): void;
  /** Calls `listener`, which must not throw, at each word about the topic, from this process too. Returns what ends that. */
  subscribe(topic: string, listener: () => void): () => void;
  close(): Promise<void>;
}

const CHANNEL = 'trunkline_events';
/**
 * NOTIFY makes commits wait for one another, so a process sends one for all its topics of the first time, and the next not
 * before the second has passed: a campaign that dials changes all the time.
 */
const GATHER_MS = 10;
const APART_MS = 40;
/** Other commits must not wait for the disk behind this one, which nobody misses after a crash. */
const tell = `select set_config('synchronous_commit', 'off', true), pg_notify('${CHANNEL}', payload)
  from unnest($1::text[]) payload`;
/** A payload stays below 8000 bytes: 200 UUIDs and their commas are 7400. */
const TOPICS_PER_PAYLOAD = 200;

/** Opens one connection that listens and, at the first word, one that tells. Both come back by themselves. */
export function openNotifications(options: {
  connection: Connection;
  log: Logger;
  /** Told of each word, whatever its topic, and whether word comes at all. */
  ear?: { word(): void; listening(isListening: boolean): void };
}): Notifications {
  const { connection, log } = options;
  const listeners = new Map<string, Set<() => void>>();
  const onChange = options.ear?.listening.bind(options.ear);
  const ear = listen({ connection, channel: CHANNEL, log, onChange }, (payload) => {
    options.ear?.word();
    for (const topic of payload.split(',')) for (const listener of listeners.get(topic) ?? []) listener();
  });
  const mouth = new pg.Pool({
    ...connection,
    Client,
    max: 1,
    connectionTimeoutMillis: 5000,
    application_name: 'trunkline tell',
  });
  mouth.on('error', () => {});
  mouth.on('connect', (client) => client.on('error', () => {}));
  const silence = watchPool(mouth, options);

  let failing = false;

  async function send(told: string[]): Promise<void> {
    const topics = [...new Set(told)];
    const payloads: string[] = [];
    for (let at = 0; at < topics.length; at += TOPICS_PER_PAYLOAD) {
      payloads.push(topics.slice(at, at + TOPICS_PER_PAYLOAD).join());
    }
    await mouth
      .query(tell, [payloads])
      .then(() => {
        failing = false;
      })
      .catch((error) => {
        if (!failing) log.warn({ err: translated(error) }, 'notifications are being lost');
        failing = true;
      });
    await sleep(APART_MS);
  }
  const notify = coalesce(send, { ms: GATHER_MS });

  return {
    notify: (topic) => void notify(topic),
    subscribe(topic, listener) {
      const same = listeners.get(topic) ?? new Set();
      // A wrapper of its own, so that one function may be subscribed twice.
      const own = () => listener();
      listeners.set(topic, same.add(own));
      return () => {
        same.delete(own);
        if (same.size === 0 && listeners.get(topic) === same) listeners.delete(topic);
      };
    },
    async close() {
      await notify.idle();
      await Promise.all([ear.close(), mouth.end()]);
      silence.close();
    },
  };
}
