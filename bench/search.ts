import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@trunkline/client';
import type { Database } from '../apps/server/src/foundation/database/database.ts';
import { fromId, newUuid, toId } from '../apps/server/src/foundation/values/ids.ts';
import { newKey } from '../apps/server/src/platform/api-keys/key.ts';
import { insertPassages } from '../apps/server/src/voices/knowledge-bases/passages.ts';
import { forkTrunkline } from './child.ts';
import { POOL_SIZE, settle, startPostgres, temporaryFolder } from './postgres.ts';
import type { Cost, Found } from './table.ts';

const PASSAGES = 100_000;
const WARM_UP = 300;
const SEARCHES = 3000;
const AIM_P99 = '≤ 20 ms';

/** 20,000 words, the n-th of them n times as rare as the first, as in any language; and words that English stops. */
const VOCABULARY = Array.from(
  { length: 20_000 },
  (_, at) => `${syllable(at)}${syllable(at * 7 + 3)}${syllable(at >> 6)}`,
);
const STOP_WORDS = ['the', 'of', 'and', 'is', 'to', 'in', 'we', 'are', 'on', 'for'];

function syllable(seed: number): string {
  return `${'bcdfghklmnprstvz'[seed % 16]}${'aeiou'[(seed >> 4) % 5]}`;
}

let state = 1;
/** From 0 to 1, the same in every run. */
function random(): number {
  state = (state * 48_271) % 2_147_483_647;
  return state / 2_147_483_647;
}

const word = () => VOCABULARY[Math.floor(VOCABULARY.length ** random()) - 1]!;

/** Some 1,000 characters, nearly half of the words stop words. */
const passage = () =>
  Array.from({ length: 150 }, () => (random() < 0.45 ? STOP_WORDS[Math.floor(random() * 10)] : word())).join(' ');

const question = () => `are we ${word()} on the ${word()} of ${word()} and ${word()}?`;

/** How long searches take at the server, in 100 knowledge bases of 1,000 passages, and in one of 100,000. */
export async function benchSearch(): Promise<Found> {
  const postgres = await startPostgres();
  const costs: Cost[] = [];
  for (const bases of [100, 1]) costs.push(...(await searchIn(postgres, bases)));
  return { costs };
}

async function searchIn(postgres: Awaited<ReturnType<typeof startPostgres>>, bases: number): Promise<Cost[]> {
  const { database, connectionString } = await postgres.database();
  const apiKey = newKey('bench');
  const { port, end } = await forkTrunkline({
    DATABASE_URL: connectionString,
    DATA_DIR: await temporaryFolder(),
    BOOTSTRAP_API_KEY: apiKey,
    POOL_SIZE: String(POOL_SIZE),
    RATE_LIMIT_PER_MINUTE: '0',
  });
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey });
  const { data } = await client.GET('/v1/workspace');
  const from = performance.now();
  const ids = await fill(database, fromId(data!.data.id), bases);
  await settle(connectionString);
  console.error(`  ${PASSAGES} passages in ${bases}, after ${((performance.now() - from) / 1000).toFixed(0)} s`);

  const times: number[] = [];
  let found = 0;
  for (let at = 0; at < WARM_UP + SEARCHES; at += 1) {
    const params = { path: { kbId: ids[at % bases]! } };
    const body = { query: question(), limit: 5 };
    const began = performance.now();
    const answer = await client.POST('/v1/knowledge-bases/{kbId}/search', { params, body });
    if (at >= WARM_UP) times.push(performance.now() - began);
    found += answer.data!.data.passages.length;
    // Searches come one at a time, from people who talk.
    if (at % 100 === 0) await sleep(10);
  }
  await end();
  if (found < SEARCHES) throw new Error(`Only ${found} passages were found.`);
  times.sort((a, b) => a - b);
  const where = bases === 1 ? 'one of 100,000 passages' : `${bases} knowledge bases`;
  return [
    { what: `search in ${where}, p50`, value: times[Math.floor(times.length / 2)]!, unit: 'ms' },
    { what: `search in ${where}, p99`, value: times[Math.floor(times.length * 0.99)]!, unit: 'ms', aim: AIM_P99 },
  ];
}

/** Puts passages where the reading of documents puts them. @returns the IDs of the knowledge bases */
async function fill(database: Database, workspaceId: string, bases: number): Promise<string[]> {
  const ids: string[] = [];
  const now = new Date();
  const times = { created_at: now, updated_at: now };
  const documents = bases === 1 ? 100 : 1;
  for (let base = 0; base < bases; base += 1) {
    const knowledgeBaseId = newUuid();
    ids.push(toId('kb', knowledgeBaseId));
    await database.inWorkspace(workspaceId, (tx) =>
      tx.db
        .insertInto('knowledge_bases')
        .values({ workspace_id: workspaceId, id: knowledgeBaseId, name: `Base ${base}`, ...times })
        .execute(),
    );
    for (let at = 0; at < documents; at += 1) {
      const documentId = newUuid();
      await database.inWorkspace(workspaceId, async (tx) => {
        await tx.db
          .insertInto('knowledge_base_documents')
          .values({
            workspace_id: workspaceId,
            id: documentId,
            knowledge_base_id: knowledgeBaseId,
            file_name: `${at}.txt`,
            file_size_bytes: 1_000_000,
            extracted_text_size_bytes: (1000 * PASSAGES) / bases / documents,
            status: 'ready',
            language: 'english',
            ...times,
          })
          .execute();
        const passages = Array.from({ length: PASSAGES / bases / documents }, passage);
        await insertPassages(tx, { knowledgeBaseId, documentId, language: 'english' }, 0, passages);
      });
    }
  }
  return ids;
}
