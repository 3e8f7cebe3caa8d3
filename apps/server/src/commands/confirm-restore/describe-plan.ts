import { sql } from 'kysely';
import { RUN } from '../../dialing/workflows/runs/recall-run-calls.ts';
import type { Database } from '../../foundation/database/database.ts';
import { toId } from '../../foundation/values/ids.ts';
import type { LostCall, Verdict } from './lost-calls.ts';
import type { Plan } from './plan.ts';

/** What is counted of one campaign, or of calls without one. */
type Tally = Record<Verdict | 'called', number>;

/** What is said of one workspace. */
interface Section {
  /** By the UUID of a campaign, or what else the calls are of. */
  tallies: Map<string, Tally>;
  optOuts: number;
  moves: Plan['words']['moves'];
  dialingPaused: boolean;
}

/** A plan for the operator: what is marked by workspace and campaign, what is put back, and what nobody can mark. */
export async function describePlan(database: Database, plan: Plan): Promise<string> {
  const sections = sectionsOf(plan);
  const nameOf = await readNames(database, sections);
  const lines = [...sections].flatMap(([workspaceId, section]) => [
    `${nameOf(workspaceId, 'ws')}:`,
    ...[...section.tallies].flatMap(([of, tally]) => tallyLines(isUuid(of) ? nameOf(of, 'cmp') : of, tally)),
    ...(section.optOuts > 0 ? [`  opt-outs to put back: ${section.optOuts}`] : []),
    ...section.moves.map(({ campaignId, type }) => `  to ${type} again: ${nameOf(campaignId, 'cmp')}`),
    ...(section.dialingPaused ? ['  its owner had paused dialing'] : []),
  ]);
  return `${[...headOf(plan), ...lines].join('\n')}\n`;
}

function sectionsOf({ calls, called, words }: Plan): Map<string, Section> {
  const sections = new Map<string, Section>();
  const sectionOf = (workspaceId: string): Section => {
    const known = sections.get(workspaceId);
    const section = known ?? { tallies: new Map(), optOuts: 0, moves: [], dialingPaused: false };
    if (!known) sections.set(workspaceId, section);
    return section;
  };
  const count = ({ workspaceId, campaignId, owner }: LostCall, what: keyof Tally) => {
    const { tallies } = sectionOf(workspaceId);
    const of = campaignId ?? (owner.kind === RUN ? 'runs of workflows' : 'calls by themselves and test calls');
    const tally = tallies.get(of) ?? { known: 0, lost: 0, adding: 0, gone: 0, called: 0 };
    tally[what] += 1;
    tallies.set(of, tally);
  };
  for (const { call, verdict } of calls) count(call, verdict);
  for (const call of called?.calls ?? []) count(call, 'called');
  for (const [workspaceId, digests] of words.optOuts) sectionOf(workspaceId).optOuts = digests.size;
  for (const move of words.moves) sectionOf(move.workspaceId).moves.push(move);
  for (const workspaceId of words.dialingPaused) sectionOf(workspaceId).dialingPaused = true;
  return sections;
}

function headOf({ calls, isWhole, called }: Plan): string[] {
  const marked = calls.filter(({ verdict }) => verdict === 'lost').length;
  const byWitness = isWhole
    ? `Calls that the witness knows of, and that are to be marked as placed: ${marked}.`
    : `The witness does not know of all calls. With those that were on their way, to be marked as placed: ${marked}.`;
  if (!called) return [byWitness];
  const { file, notFound, calls: found } = called;
  const { numberColumn, timeColumn, rows, faulty, faults } = file;
  const columns = `"${numberColumn}"${timeColumn === undefined ? ', without times' : ` and "${timeColumn}"`}`;
  return [
    byWitness,
    `Rows of the list of calls: ${rows.length}, by the column ${columns}.`,
    `Calls that wait for people of the list, to be marked as placed: ${found.length}. Numbers that nobody waits to call: ${notFound}.`,
    ...(faulty > 0 ? [`Rows that can't be read, or not whole: ${faulty}.`] : []),
    ...faults.map((fault) => `  ${fault}`),
  ];
}

function tallyLines(name: string, { lost, adding, gone, called }: Tally): string[] {
  const line = (what: string, count: number) => (count > 0 ? [`  ${name}: ${what}: ${count}`] : []);
  return [
    ...line('calls to mark', lost),
    ...line('calls to mark by the list', called),
    ...line('calls of contacts that it has still to take from its lists, to be looked for then', adding),
    ...line('calls of whom this database does not have, so that nothing can be marked', gone),
  ];
}

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

/** What workspaces and campaigns are called, with their IDs; those that the database does not have by these alone. */
async function readNames(database: Database, sections: ReadonlyMap<string, Section>) {
  const campaigns = [...sections.values()].flatMap(({ tallies, moves }) => [
    ...[...tallies.keys()].filter(isUuid),
    ...moves.map((move) => move.campaignId),
  ]);
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ id: string; kind: 'workspace' | 'campaign' | 'batch'; name: string }>`
      select id, 'workspace' as kind, name from workspaces where id = any(${[...sections.keys()]}::uuid[])
      union all select id, kind, name from campaigns
      where workspace_id = any(${[...sections.keys()]}::uuid[]) and id = any(${campaigns}::uuid[])`.execute(db),
  );
  const prefixes = { workspace: 'ws', campaign: 'cmp', batch: 'bat' } as const;
  const names = new Map(rows.map(({ id, kind, name }) => [id, `${kind} ${name} (${toId(prefixes[kind], id)})`]));
  return (id: string, prefix: 'ws' | 'cmp') =>
    names.get(id) ?? `${toId(prefix, id)}, which this database does not have`;
}
