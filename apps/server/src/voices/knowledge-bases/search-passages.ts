import { type RawBuilder, sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { together } from '../../foundation/database/together.ts';
import { baseWord } from './passages.ts';

/** A passage that fits, the better the higher its score, which is above 0 and at most 1. */
export interface FoundPassage {
  document_id: string;
  file_name: string;
  position: number;
  text: string;
  score: number;
}

/** Each one that is ranked is read, so their number bounds the time of a search. */
const MOST_RANKED = 400;
/** Words that more passages bear are not even counted. */
const MOST_COUNTED = 4 * MOST_RANKED;
const BYTES_PER_PASSAGE = 1000;
/** How many passages tell, more or less, how common words are in a knowledge base. */
const SAMPLED = 50;
/** Of a long query, the longest words: they are the rarest, as a rule. */
const MOST_WORDS = 24;

/** A word as it stands in a text search query. */
const quoted = (word: string) => `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

/**
 * The passages of a knowledge base that fit a query best, of its ready documents. First those that bear all of its words
 * (or what quotes, `or` and `-` ask for), scored above 0.5. Where these are too few and the query is plain, those that bear
 * any of them, scored below; words that stand in very many passages don't count there.
 * @param limit the most passages
 */
export async function searchPassages(
  tx: WorkspaceTx,
  knowledgeBaseId: string,
  query: string,
  limit: number,
): Promise<FoundPassage[]> {
  const { all, words, size } = await parse(tx, knowledgeBaseId, query);
  if (all === '') return [];
  const rankOfAll = sql`0.5 + ts_rank_cd(words, ${all}::tsquery, 32) / 2`;
  const found = await rank(tx, knowledgeBaseId, { matching: all, score: rankOfAll, limit });
  const isPlain = !/"|(^|\s)-\S/.test(query);
  if (found.length >= limit || !isPlain || words.length < 2) return found;
  const common = size > MOST_COUNTED ? await commonWords(tx, knowledgeBaseId, words) : new Set();
  const counted = words.filter((word) => !common.has(word));
  const rare = await rareWords(tx, knowledgeBaseId, counted);
  if (rare.length === 0) return found;
  const any = rare.map(quoted).join(' | ');
  const rankOfAny = sql`ts_rank(words, ${any}::tsquery, 32) / 2`;
  const matching = `(${any}) & !(${all})`;
  const rest = await rank(tx, knowledgeBaseId, { matching, score: rankOfAny, limit: limit - found.length });
  return [...found, ...rest];
}

/**
 * The query in the language of every ready document: as a text search query, and its words; and how many passages there
 * are, more or less.
 */
async function parse(
  tx: WorkspaceTx,
  knowledgeBaseId: string,
  query: string,
): Promise<{ all: string; words: string[]; size: number }> {
  const { rows } = await sql<{ all_words: string; words: string[]; bytes: number }>`
    select websearch_to_tsquery(config, ${query})::text as all_words,
      tsvector_to_array(to_tsvector(config, ${query})) as words, bytes
    from (
      select ('pg_catalog.' || language)::regconfig as config, sum(extracted_text_size_bytes)::bigint as bytes
      from knowledge_base_documents
      where workspace_id = ${tx.workspaceId} and knowledge_base_id = ${knowledgeBaseId} and status = 'ready'
      group by language
    ) language`.execute(tx.db);
  const queries = rows.map((row) => row.all_words).filter((text) => text !== '');
  const words = [...new Set(rows.flatMap((row) => row.words))].sort((a, b) => b.length - a.length);
  const size = rows.reduce((sum, row) => sum + row.bytes, 0) / BYTES_PER_PASSAGE;
  return { all: queries.map((text) => `(${text})`).join(' | '), words: words.slice(0, MOST_WORDS), size };
}

/**
 * Asks of the passages that match each of some text search queries. The transaction sees no others meanwhile: a
 * condition of the statement's own would find no index under row-level security, so the policy asks for the words
 * (architecture.md, "Tenancy").
 * @returns the rows for each query
 */
async function amongMatching<Row>(tx: WorkspaceTx, queries: string[], statement: RawBuilder<Row>): Promise<Row[][]> {
  const seek = (query: string): RawBuilder<unknown> => sql`select set_config('trunkline.words', ${query}, true)`;
  const answers = await together(tx, [...queries.flatMap((query) => [seek(query), statement]), seek('')]);
  return queries.map((_, at) => answers[2 * at + 1]!.rows as Row[]);
}

async function rank(
  tx: WorkspaceTx,
  knowledgeBaseId: string,
  { matching, score, limit }: { matching: string; score: RawBuilder<unknown>; limit: number },
): Promise<FoundPassage[]> {
  const inBase = `${quoted(baseWord(knowledgeBaseId))} & (${matching})`;
  const best = sql<FoundPassage>`
    select p.document_id, d.file_name, p.position, p.text, p.score
    from (
      select workspace_id, document_id, position, text, ${score} as score
      from knowledge_base_passages
      where workspace_id = ${tx.workspaceId}
      limit ${sql.lit(MOST_RANKED)}
    ) p
    join knowledge_base_documents d on d.workspace_id = p.workspace_id and d.id = p.document_id
    where d.knowledge_base_id = ${knowledgeBaseId} and d.status = 'ready'
    order by p.score desc, p.document_id, p.position limit ${limit}`;
  return (await amongMatching(tx, [inBase], best)).flat();
}

/** Those of the words that few enough passages of the knowledge base bear to rank them all. */
async function rareWords(tx: WorkspaceTx, knowledgeBaseId: string, words: string[]): Promise<string[]> {
  const inBase = quoted(baseWord(knowledgeBaseId));
  const queries = words.map((word) => `${inBase} & ${quoted(word)}`);
  const bearers = sql<{ count: number }>`
    select count(*) from (
      select from knowledge_base_passages where workspace_id = ${tx.workspaceId} limit ${sql.lit(MOST_RANKED)}
    ) bearer`;
  const counts = (await amongMatching(tx, queries, bearers)).flat();
  let left = MOST_RANKED;
  const rare: string[] = [];
  for (const [at, { count }] of [...counts.entries()].sort(([, a], [, b]) => a.count - b.count)) {
    left -= count;
    if (left < 0) break;
    if (count > 0) rare.push(words[at]!);
  }
  return rare;
}

/**
 * Those of the words that, by passages taken at even distances, very many of the knowledge base bear: to count them would
 * take longer than the rest of the search.
 */
async function commonWords(tx: WorkspaceTx, knowledgeBaseId: string, words: string[]): Promise<Set<string>> {
  const { rows } = await sql<{ word: string }>`
    select w.word
    from (
      select id, step, generate_series((step - before % step) % step, passages - 1, step)::integer as position
      from (
        select id, passages, sum(passages) over (order by id)::bigint - passages as before,
          1 + sum(passages) over ()::bigint / ${sql.lit(SAMPLED)} as step
        from (
          select id, 1 + extracted_text_size_bytes / ${sql.lit(BYTES_PER_PASSAGE)} as passages
          from knowledge_base_documents
          where workspace_id = ${tx.workspaceId} and knowledge_base_id = ${knowledgeBaseId} and status = 'ready'
        ) document
      ) placed
      limit ${sql.lit(SAMPLED)}
    ) taken
    join knowledge_base_passages p
      on p.workspace_id = ${tx.workspaceId} and p.document_id = taken.id and p.position = taken.position
    join unnest(${words}::text[], ${words.map(quoted)}::text[]) as w (word, query) on p.words @@ w.query::tsquery
    group by w.word having count(*) > 1 and count(*) * min(taken.step) > ${sql.lit(MOST_COUNTED)}`.execute(tx.db);
  return new Set(rows.map((row) => row.word));
}
