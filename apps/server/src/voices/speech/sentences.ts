import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import { ObjectMissing, type ObjectStore } from '../../foundation/objects/object-store.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { limiter } from '../../foundation/values/limiter.ts';
import { lockStorage, roomIn } from '../../platform/workspace/storage.ts';
import { soundKey } from '../sounds/sound.ts';
import { findSound } from '../sounds/store.ts';
import { openWav } from '../sounds/wav.ts';
import { SharedSounds, SoundsOfCalls } from './shared-sounds.ts';
import type { SpeechEngine, SpokenText } from './speech-engine.ts';

/** Texts that are made sound of at a time, of all workspaces. */
const AT_ONCE = 8;
/** What one may take. */
const LONGEST_MS = 20_000;
/** How long one waits for its turn: its call is over by then, and those that come later would wait behind it. */
const LONGEST_WAIT_MS = 60_000;
/** Sound of texts that nobody has played for so long is made again if somebody does. */
const UNUSED_DAYS = 30;
const DAY_MS = 24 * 3600 * 1000;
/** How many of those are erased with each that is made. */
const ERASED_AT_ONCE = 100;
const MOST_BYTES = 3_000_000;

export interface SentenceDeps {
  database: Database;
  objects: ObjectStore;
  clock: Clock;
  log: Logger;
  /** Looked for when it is first needed; nothing if no text can be spoken. */
  findEngine: () => Promise<SpeechEngine | undefined>;
  storageMaxBytes?: number | undefined;
}

/** What agents play: sounds that were sent, and texts that are spoken. */
export interface Sentences {
  /** Why no text can be spoken, if that is so. */
  fault(): Promise<string | undefined>;
  /** How many of some sentences that are the same for everybody are not made yet. */
  unready(workspaceId: string, spoken: readonly SpokenText[]): Promise<number>;
  /** A sound of a workspace, by its ID. @throws if it isn't there */
  sound(workspaceId: string, soundId: string): Promise<SharedArrayBuffer>;
  /** A sentence that is the same for everybody, and is made once. @throws what is wrong, in words */
  speech(workspaceId: string, spoken: SpokenText): Promise<SharedArrayBuffer>;
  /** A sentence for the person of a call, of which nothing stays once that is over. @throws what is wrong, in words */
  speechFor(call: { workspaceId: string; roomId: string }, spoken: SpokenText): Promise<SharedArrayBuffer>;
  /** A call is over. */
  forget(roomId: string): void;
}

const NO_ENGINE =
  'This server can not speak texts: set SPEECH_URL, or install espeak-ng where it runs. Sounds (soundId) need neither.';

export function createSentences(deps: SentenceDeps): Sentences {
  let finding: Promise<SpeechEngine | undefined> | undefined;
  const findEngine = () => {
    finding ??= deps.findEngine();
    return finding;
  };
  const sounds = new SharedSounds();
  const personal = new SoundsOfCalls();
  const turns = limiter(AT_ONCE);

  async function speak(workspaceId: string, spoken: SpokenText): Promise<Buffer> {
    const engine = await findEngine();
    if (!engine) throw new Error(NO_ENGINE);
    const asked = {};
    const late = setTimeout(() => turns.drop(asked), LONGEST_WAIT_MS);
    const sound = await turns(
      workspaceId,
      () => {
        clearTimeout(late);
        return engine.speak(spoken, AbortSignal.timeout(LONGEST_MS));
      },
      asked,
    );
    if (!sound) throw new Error('More sentences wait to be spoken than can be. Try again later.');
    return sound;
  }

  return {
    fault: async () => ((await findEngine()) ? undefined : NO_ENGINE),
    async unready(workspaceId, spoken) {
      const engine = (await findEngine())?.name;
      const digests = new Set(spoken.map((each) => digestOf(engine, each)));
      const { rows } = await deps.database.inWorkspace(workspaceId, (tx) =>
        sql`
          select digest from speech_sounds
          where workspace_id = ${workspaceId} and digest = any(${[...digests]}::text[])`.execute(tx.db),
      );
      return digests.size - rows.length;
    },
    sound: (workspaceId, soundId) =>
      sounds.get(`${workspaceId} ${soundId}`, async () => {
        const id = fromId(soundId);
        const found = await deps.database.inWorkspace(workspaceId, (tx) => findSound(tx, id));
        if (!found) throw new Error('There is no such sound.');
        const wav = await openWav(await deps.objects.get(soundKey(id)));
        return collected(wav.ulaw());
      }),
    async speech(workspaceId, spoken) {
      const digest = digestOf((await findEngine())?.name, spoken);
      return sounds.get(`${workspaceId} ${digest}`, async () => {
        const known = await read(deps, workspaceId, digest);
        if (known) return known;
        const made = await speak(workspaceId, spoken);
        await keep(deps, workspaceId, digest, made).catch((err) =>
          deps.log.warn({ err }, 'a sentence could not be kept'),
        );
        return made;
      });
    },
    speechFor: ({ workspaceId, roomId }, spoken) =>
      personal.get(roomId, digestOf(undefined, spoken), () => speak(workspaceId, spoken)),
    forget: (roomId) => personal.forget(roomId),
  };
}

const digestOf = (engine: string | undefined, { text, language, voice }: SpokenText): string =>
  createHash('sha256')
    .update(JSON.stringify([engine, language, voice, text]))
    .digest('hex');

const keyOf = (workspaceId: string, digest: string) => `speech/${workspaceId}/${digest}.ulaw`;

async function collected(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function* inOnePiece(sound: Buffer): AsyncGenerator<Uint8Array> {
  yield sound;
}

/** What is kept of a sentence, which counts as used. */
async function read(
  { database, objects, clock }: SentenceDeps,
  workspaceId: string,
  digest: string,
): Promise<Buffer | undefined> {
  try {
    const sound = await collected(await objects.get(keyOf(workspaceId, digest)));
    await database.inWorkspace(workspaceId, (tx) =>
      sql`
        update speech_sounds set used_at = ${clock.now()} where workspace_id = ${workspaceId} and digest = ${digest}
        and used_at < ${new Date(clock.now().getTime() - DAY_MS)}`.execute(tx.db),
    );
    return sound;
  } catch (error) {
    if (error instanceof ObjectMissing) return undefined;
    throw error;
  }
}

/** Keeps a sentence if there is room for it, and erases some that nobody plays any more. */
async function keep(deps: SentenceDeps, workspaceId: string, digest: string, sound: Buffer): Promise<void> {
  const { database, objects, clock, storageMaxBytes } = deps;
  const now = clock.now();
  const unused = new Date(now.getTime() - UNUSED_DAYS * DAY_MS);
  const { isKept, erased } = await database.inWorkspace(workspaceId, async (tx) => {
    const gone = await sql<{ digest: string }>`
      delete from speech_sounds where workspace_id = ${workspaceId} and digest = any(array(
        select digest from speech_sounds where workspace_id = ${workspaceId} and used_at < ${unused}
        order by used_at limit ${sql.lit(ERASED_AT_ONCE)}))
      returning digest`.execute(tx.db);
    const hasRoom = roomIn(await lockStorage(tx, workspaceId, storageMaxBytes)) >= sound.length;
    if (hasRoom)
      await sql`
        insert into speech_sounds (workspace_id, digest, size_bytes, used_at)
        values (${workspaceId}, ${digest}, ${sound.length}, ${now})
        on conflict (workspace_id, digest) do update set used_at = excluded.used_at`.execute(tx.db);
    return { isKept: hasRoom, erased: gone.rows };
  });
  for (const each of erased) await objects.delete(keyOf(workspaceId, each.digest));
  if (isKept) await objects.put(keyOf(workspaceId, digest), inOnePiece(sound), MOST_BYTES);
}
