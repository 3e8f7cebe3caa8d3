import { sql } from 'kysely';
import type { WorkspaceTx } from '../../../foundation/database/database.ts';
import type { AgentConnection } from '../../../lines/telephony/agent-connection.ts';
import { agentTexts } from '../../../voices/agents/agent-texts.ts';
import { neededPaths } from '../../workflows/definitions/template-paths.ts';
import { blockedNumbers } from './preview-counts.ts';
import type { PreviewScope } from './preview-scope.ts';

/** The most variables that are told of. */
const MOST = 50;
/** What a contact has besides its columns. */
const NAME = 'name';

/** The variables that an agent's texts have no other words for. */
export function neededVariables(connection: AgentConnection | undefined): string[] {
  const { texts, answers } = agentTexts(connection);
  const paths = texts.flatMap(neededPaths).filter((path) => !answers.has(path));
  return [...new Set(paths)].slice(0, MOST);
}

/** Where contacts have their values. */
export interface VariablePlaces {
  names: readonly string[];
  /** By the list, or before the start by the upload, of a contact: the place of each variable among its values, from 1; 0 if it has none. */
  places: ReadonlyMap<string, readonly number[]>;
}

/** Looks up where the contacts of a campaign have some variables. */
export async function variablePlaces(
  tx: WorkspaceTx,
  { campaign, uploads }: PreviewScope,
  names: readonly string[],
): Promise<VariablePlaces> {
  const { workspaceId } = tx;
  if (names.length === 0) return { names, places: new Map() };
  const { rows } = await (uploads
    ? sql<{ source: string; columns: string[] }>`
        select u.id as source, l.columns from contact_list_uploads u
        join contact_lists l on l.workspace_id = u.workspace_id and l.id = u.list_id
        where u.workspace_id = ${workspaceId} and u.id = any(${uploads}::uuid[])`
    : sql<{ source: string; columns: string[] }>`
        select l.id as source, l.columns from campaign_lists cl
        join contact_lists l on l.workspace_id = cl.workspace_id and l.id = cl.list_id
        where cl.workspace_id = ${workspaceId} and cl.campaign_id = ${campaign.id} and cl.role = 'contacts'`
  ).execute(tx.db);
  // A path of several keys leads into no text.
  const placeIn = (columns: string[]) => (name: string) => (name.includes('.') ? 0 : columns.indexOf(name) + 1);
  return { names, places: new Map(rows.map(({ source, columns }) => [source, names.map(placeIn(columns))])) };
}

/** The variables that a contact lacks. */
export function missingOf(
  { names, places }: VariablePlaces,
  contact: { source: string; name: string | null; values: readonly (string | null)[] },
): string[] {
  const own = places.get(contact.source) ?? [];
  return names.filter((name, at) => {
    const place = own[at] ?? 0;
    const value = place === 0 ? undefined : contact.values[place - 1];
    return !value && !(name === NAME && contact.name);
  });
}

/** How many contacts lack each variable, of those who are still to be called and on no do-not-call list. Who lacks none is left out. */
export async function countMissing(
  tx: WorkspaceTx,
  scope: PreviewScope,
  { names, places }: VariablePlaces,
): Promise<Record<string, number>> {
  if (names.length === 0) return {};
  const counts = names.map((name, at) => {
    const isMissing = sql`coalesce(n."values"[p.places[${sql.lit(at + 1)}]], '') = ''`;
    const hasNone = name === NAME ? sql`${isMissing} and coalesce(n.name, '') = ''` : isMissing;
    return sql`count(*) filter (where ${hasNone}) as ${sql.ref(`v${at}`)}`;
  });
  const sources = [...places].map(([source, own]) => ({ source, places: own }));
  const { rows } = await sql<Record<string, number>>`
    select ${sql.join(counts)} from (${peopleLeft(tx, scope)}) as n
    join jsonb_to_recordset(${JSON.stringify(sources)}::jsonb) as p (source uuid, places int[]) on p.source = n.source
    left join (${blockedNumbers(tx, scope)}) as b on b.phone_number = n.phone_number
    where b.phone_number is null`.execute(tx.db);
  const found = names.map((name, at) => [name, rows[0]![`v${at}`]!] as const);
  return Object.fromEntries(found.filter(([, count]) => count > 0));
}

/** The people of a campaign who are to be called, each once, with what is known of them: of one in several lists what the first says. */
function peopleLeft(tx: WorkspaceTx, { campaign, uploads }: PreviewScope) {
  if (!uploads)
    return sql`select phone_number, name, "values", list_id as source from campaign_contacts
      where workspace_id = ${tx.workspaceId} and campaign_id = ${campaign.id} and state in ('pending', 'waiting')`;
  const entries = sql`phone_number, name, "values", upload_id as source from contact_list_entries
    where workspace_id = ${tx.workspaceId} and upload_id = any(${uploads}::uuid[])`;
  return uploads.length > 1
    ? sql`select distinct on (phone_number) ${entries}
        order by phone_number, array_position(${uploads}::uuid[], upload_id), row_number`
    : sql`select ${entries}`;
}
