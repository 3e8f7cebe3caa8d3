import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Row } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { notFound, refuse } from '../../foundation/values/service-error.ts';
import { someAtOnce } from '../../foundation/values/some-at-once.ts';
import { checkScript, type ScriptQuestions, utterancesOf } from '../../lines/media/script/check-script.ts';
import type { ScriptStep, Utterance } from '../../lines/media/script/script.ts';
import type { ScriptConnection } from '../../lines/telephony/agent-connection.ts';
import type { Sentences } from '../speech/sentences.ts';

type Schemas = components['schemas'];

/** What is kept of an agent that is a script. */
export type ScriptTerms = Omit<ScriptConnection, 'type'>;

const LANGUAGE = 'en';
/** Of all texts of a script, in characters: some half an hour of speech. */
const MOST_TEXT = 20_000;
const AT_ONCE = 4;

type ScriptRow = Pick<Row<'agents'>, 'connection' | 'connection_type'>;

/** What is kept of such an agent. */
export const scriptOf = (row: ScriptRow): ScriptTerms => row.connection as unknown as ScriptTerms;

/** Such an agent's connection, as clients see it and as calls do. */
export const presentScript = (row: ScriptRow): Schemas['AgentScriptConnection'] & ScriptConnection => ({
  type: 'script',
  ...(scriptOf(row) as Omit<Schemas['AgentScriptConnection'], 'type'>),
});

/**
 * A script after a change. Throws `invalid_request` with every fault and its place.
 * @param before nothing for a new one
 */
export function changedScript(
  before: ScriptTerms | undefined,
  { language, voice, steps }: Pick<Schemas['UpdateAgentConnection'], 'language' | 'voice' | 'steps'>,
  questions: ScriptQuestions,
): ScriptTerms {
  const kept = { language: LANGUAGE, steps: [], ...before };
  const terms: ScriptTerms = {
    language: language === undefined ? kept.language : (language ?? LANGUAGE),
    ...(voice === undefined ? before?.voice && { voice: before.voice } : voice !== null && { voice }),
    steps: (steps as ScriptStep[] | undefined) ?? kept.steps,
  };
  if (steps === undefined) return terms;
  const faults = checkScript(terms.steps, questions);
  const length = textsOf(terms.steps).reduce((sum, text) => sum + text.length, 0);
  if (length > MOST_TEXT)
    faults.push({ at: 'steps', message: `must have at most ${MOST_TEXT} characters of text in all` });
  refuse(faults.map(({ at, message }) => ({ path: `/body/connection/${at}`, message })));
  return terms;
}

const saidBy = (steps: readonly ScriptStep[]): Utterance[] =>
  steps.flatMap((step) => utterancesOf(step).map(({ utterance }) => utterance));

const textsOf = (steps: readonly ScriptStep[]): string[] => saidBy(steps).flatMap(({ text }) => text ?? []);

/** Notes which sounds an agent plays, in place of those that it did. They stay while it does. Throws `not_found`. */
export async function playSounds(tx: WorkspaceTx, agentId: string, { steps }: ScriptTerms): Promise<void> {
  const { workspaceId } = tx;
  const wanted = steps.flatMap((step, index) =>
    utterancesOf(step).flatMap(({ at, utterance: { soundId } }) =>
      soundId === undefined ? [] : [{ id: fromId(soundId), path: `steps/${index}/${at && `${at}/`}soundId` }],
    ),
  );
  const ids = [...new Set(wanted.map(({ id }) => id))].sort();
  const { rows } = await sql<{ id: string }>`
    select id from sounds where workspace_id = ${workspaceId} and id = any(${ids}::uuid[]) order by id
    for key share`.execute(tx.db);
  const found = new Set(rows.map(({ id }) => id));
  const missing = wanted.find(({ id }) => !found.has(id));
  if (missing) throw notFound(`/body/connection/${missing.path}`);
  await sql`delete from agent_sounds where workspace_id = ${workspaceId} and agent_id = ${agentId}`.execute(tx.db);
  await sql`
    insert into agent_sounds (workspace_id, agent_id, sound_id)
    select ${workspaceId}, ${agentId}, id from unnest(${ids}::uuid[]) as id`.execute(tx.db);
}

/** Has what is the same for everybody ready to be played. @returns why some of it is not */
export async function prepareScript(
  sentences: Sentences,
  workspaceId: string,
  { steps, language, voice }: ScriptTerms,
): Promise<string[]> {
  const faults: string[] = [];
  const said = new Map(saidBy(steps).map((utterance) => [utterance.soundId ?? utterance.text!, utterance]));
  await someAtOnce(AT_ONCE, [...said.values()], async ({ text, soundId }) => {
    if (text?.includes('{{')) return;
    try {
      if (soundId !== undefined) await sentences.sound(workspaceId, soundId);
      else await sentences.speech(workspaceId, { text: text!, language, voice });
    } catch (error) {
      faults.push((error as Error).message);
    }
  });
  return faults;
}

/** How many texts that are the same for everybody can't be played yet. */
export function unreadySentences(
  sentences: Pick<Sentences, 'unready'>,
  workspaceId: string,
  { steps, language, voice }: ScriptTerms,
): Promise<number> {
  const texts = new Set(textsOf(steps).filter((text) => !text.includes('{{')));
  return sentences.unready(
    workspaceId,
    [...texts].map((text) => ({ text, language, voice })),
  );
}

/** Begins to make what is the same for everybody; it is asked for again before a campaign starts. */
export function prepareSoon(sentences: Sentences, workspaceId: string, row: ScriptRow): void {
  if (row.connection_type === 'script') void prepareScript(sentences, workspaceId, scriptOf(row));
}
