import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { together } from '../../../src/foundation/database/together.ts';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { detectLanguage } from '../../../src/voices/knowledge-bases/detect-language.ts';
import { searchPassages } from '../../../src/voices/knowledge-bases/search-passages.ts';
import { keyWith } from '../../platform/api-keys/keys.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { addFiles, createBase, search, settled } from './documents.ts';

let server: TestServer;
let workspaceId: string;
beforeAll(async () => {
  server = await startTestServer();
  workspaceId = fromId((await server.client.GET('/v1/workspace')).data!.data.id);
});
afterAll(() => server.stop());

async function baseWith(texts: string[]): Promise<string> {
  const kbId = await createBase(server);
  const files = texts.map((text, at) => [`${at}.txt`, text]);
  for (let at = 0; at < files.length; at += 10)
    await addFiles(server, kbId, Object.fromEntries(files.slice(at, at + 10)));
  expect((await settled(server, kbId)).status).toBe('ready');
  return kbId;
}

/** The names of the files that passages stand in, without their ending. */
const hits = async (kbId: string, query: string, limit?: number) =>
  (await search(server, kbId, query, limit)).map((passage) => passage.fileName.replace('.txt', ''));

test('passages with all words come first, those with some of them after, each scored', async () => {
  const kbId = await baseWith([
    'The clinic opens at nine on Saturdays, and it is never open on holidays.',
    'On Saturdays the car park of the clinic is free for all of our guests.',
    'The canteen is open from ten, and serves soup to whoever is hungry.',
    'Nothing of this has anything to do with what anybody would ask for.',
  ]);
  const found = await search(server, kbId, 'Is the clinic open on a Saturday?');
  expect(found.map((passage) => passage.fileName)).toEqual(['0.txt', '1.txt', '2.txt']);
  const scores = found.map((passage) => passage.score);
  expect(scores.toSorted((a, b) => b - a)).toEqual(scores);
  expect(scores[0]).toBeGreaterThan(0.5);
  expect(scores[0]).toBeLessThanOrEqual(1);
  expect(scores[1]).toBeLessThan(0.5);
  expect(await hits(kbId, 'clinic saturday open', 1)).toEqual(['0']);
});

test('quotes, or and minus mean what they do elsewhere', async () => {
  const kbId = await baseWith([
    'We offer green tea and black coffee to all of our guests.',
    'The tea is served in green cups, which are washed by hand.',
    'We have coffee with milk, and that is what most people take.',
  ]);
  expect(await hits(kbId, '"green tea"')).toEqual(['0']);
  expect(await hits(kbId, 'coffee -milk')).toEqual(['0']);
  expect((await hits(kbId, 'milk or cups')).sort()).toEqual(['1', '2']);
});

test('a query without words, or with strange ones, finds nothing and breaks nothing', async () => {
  const kbId = await baseWith(['On Saturdays we are open from 9 to 13, it is said.']);
  const strange = [
    'the of and',
    '?!',
    '& | ! ( )',
    "' \\ '' :*",
    '"',
    '-',
    '🙂',
    '<-> :A',
    `=${'a'.repeat(32)}`,
    'x'.repeat(1000),
  ];
  for (const query of strange) expect(await hits(kbId, query), query).toEqual([]);
  expect(await hits(kbId, "what's open? \\'saturday\\'")).toEqual(['0']);
  expect(await search(server, await createBase(server), 'open')).toEqual([]);
});

test('words are found in their language, also where there are several', async () => {
  const kbId = await baseWith([
    'Die Praxis ist an Samstagen geöffnet, und wir freuen uns auf Ihre Anrufe.',
    'The practice is open on Saturdays, and we are looking forward to your calls.',
    'Nuestros médicos hablan español con los pacientes que llaman por la mañana.',
    'KX-200 Hauptschalter 230V; KX-300 Nebenschalter 12V',
  ]);
  expect(await hits(kbId, 'Anruf')).toEqual(['0']);
  expect(await hits(kbId, 'GEÖFFNETE Praxen')).toContain('0');
  expect(await hits(kbId, 'call')).toEqual(['1']);
  expect(await hits(kbId, 'médico')).toEqual(['2']);
  expect(await hits(kbId, 'kx-300')).toEqual(['3']);
});

test.each([
  ['english', 'We are open on weekdays, but not on the days that follow a holiday.'],
  ['german', 'Wir haben an Werktagen geöffnet, aber nicht an den Tagen, die auf einen Feiertag folgen.'],
  ['french', 'Nous sommes ouverts les jours de semaine, mais pas le lendemain de ce qui est un jour férié.'],
  ['spanish', 'Abrimos los días de semana, pero no los que siguen a un día que es de fiesta.'],
  ['italian', 'Siamo aperti nei giorni della settimana, ma non in quelli che seguono una festa.'],
  ['portuguese', 'Estamos abertos nos dias da semana, mas não nos que se seguem a um feriado.'],
  ['dutch', 'Wij zijn open op werkdagen, maar niet op de dagen die op een feestdag volgen.'],
  ['swedish', 'Vi har öppet på vardagar, men inte på de dagar som följer efter en helgdag.'],
  ['russian', 'Мы работаем по будням, но не в те дни, которые следуют за праздником.'],
  ['simple', 'KX-200 Hauptschalter 230V; KX-300 Nebenschalter 12V'],
  ['simple', '土曜日は九時から開いています。'],
])('detects %s', async (language, text) => {
  expect(await server.database.inWorkspace(workspaceId, (tx) => detectLanguage(tx, text))).toBe(language);
});

/** Puts passages into the database as a reading would, many of them. */
async function fill(bases: number, perBase: number): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < bases; at += 1) {
    const kbId = await baseWith(['Common words stand in each of the passages here.']);
    ids.push(kbId);
    await server.database.inWorkspace(workspaceId, async (tx) => {
      await sql`
        insert into knowledge_base_passages (workspace_id, document_id, position, knowledge_base_id, text, words)
        select p.workspace_id, p.document_id, n, p.knowledge_base_id, 'Passage ' || n,
          p.words || to_tsvector('english', 'word' || n || ' every' || n % 10)
        from knowledge_base_passages p, generate_series(1, ${perBase}::int) n
        where p.knowledge_base_id = ${fromId(kbId)}`.execute(tx.db);
    });
  }
  return ids;
}

test('rare words are found among common ones, however many there are, and in no other base or workspace', async () => {
  const [one, two] = await fill(2, 3000);
  expect((await search(server, one!, 'common word2900', 50)).map((passage) => passage.text)[0]).toBe('Passage 2900');
  const found = await search(server, one!, 'common passages word7 word8', 50);
  expect(found.map((passage) => passage.text).sort()).toEqual(['Passage 7', 'Passage 8']);
  expect(await search(server, one!, 'common', 50)).toHaveLength(50);
  const [document] = (await settled(server, two!)).documents;
  expect((await search(server, two!, 'word9')).map((passage) => passage.documentId)).toEqual([document!.id]);

  const other = server.clientOf(await keyWith(server, { permissions: ['*'], workspace: 'Another' }));
  const otherId = fromId((await other.GET('/v1/workspace')).data!.data.id);
  const { database } = server;
  const all = sql`select from knowledge_base_passages`;
  expect((await database.inWorkspace(otherId, (tx) => all.execute(tx.db))).rows).toEqual([]);
  const intruding = database.inWorkspace(otherId, (tx) =>
    sql`insert into knowledge_base_passages values (${workspaceId}, ${otherId}, 0, ${otherId}, 'x', '')`.execute(tx.db),
  );
  await expect(intruding).rejects.toMatchObject({ code: '42501' });
  const removed = await database.inWorkspace(otherId, (tx) => sql`delete from knowledge_base_passages`.execute(tx.db));
  expect(removed.numAffectedRows).toBe(0n);
  expect((await database.pool.query('select from knowledge_base_passages')).rows).toEqual([]);
  expect((await database.inWorkspace(workspaceId, (tx) => all.execute(tx.db))).rows.length).toBeGreaterThan(6000);
});

test('a search reads the passages of its words by their index, behind the wall, and leaves the others to be seen', async () => {
  const [kbId] = await fill(1, 3000);
  await server.database.inWorkspace(workspaceId, async (tx) => {
    const plan = async (query: string) => {
      const explained = sql<{ 'QUERY PLAN': string }>`
        explain select text from knowledge_base_passages where workspace_id = ${workspaceId} limit 400`;
      const [, { rows }] = await together(tx, [sql`select set_config('trunkline.words', ${query}, true)`, explained]);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    };
    expect(await plan('word2900')).toContain('Bitmap Index Scan on knowledge_base_passages_words');
    expect(await plan('')).not.toContain('Bitmap Index Scan on knowledge_base_passages_words');
    expect(await searchPassages(tx, fromId(kbId!), 'common word2900', 1)).toMatchObject([{ text: 'Passage 2900' }]);
    const { rows } = await sql<{ count: number }>`select count(*) from knowledge_base_passages`.execute(tx.db);
    expect(rows[0]!.count).toBeGreaterThan(3000);
  });
});

test('in a large knowledge base, too, what few passages bear is found beside what very many bear', async () => {
  const [kbId] = await fill(1, 3000);
  await server.database.inWorkspace(workspaceId, async (tx) => {
    await sql`
      update knowledge_base_documents set extracted_text_size_bytes = 3000 * 1000
      where workspace_id = ${workspaceId} and knowledge_base_id = ${fromId(kbId!)}`.execute(tx.db);
  });
  const found = await search(server, kbId!, 'common every7 word77 word78', 50);
  expect(found.map((passage) => passage.text)).toEqual(expect.arrayContaining(['Passage 77', 'Passage 78']));
  expect(await search(server, kbId!, 'common absent', 50)).toEqual([]);
});
