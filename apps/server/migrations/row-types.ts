/** What a call back keeps to. */
const callBackTerms =
  '{ times: number; callingWindows?: { days: number[]; start: number; end: number }[]; timezone?: string; calleeTimeZone?: "strictest" | "campaign"; ownTimezone?: string; holidays?: string[] }';

/** What SRTP is spoken by. */
const suites = "'AES_CM_128_HMAC_SHA1_80' | 'AES_CM_128_HMAC_SHA1_32' | 'AEAD_AES_128_GCM'";
/** What is done if a machine answers. */
const voicemail =
  "{ action: 'continue' | 'hang_up' | 'leave_message'; soundId?: string; text?: string; language?: string; voice?: string }";

/** Of the columns of which the database knows less than the code does: JSON, lists with gaps, and text of few values. */
const known: Record<string, string> = {
  'agents.connection': 'Record<string, unknown>',
  'batches.rejected': 'object[]',
  'call_intents.call_back_terms': callBackTerms,
  'call_intents.calling_windows': '{ days: number[]; start: number; end: number }[]',
  'call_intents.metadata': 'Record<string, string>',
  'call_intents.variables': 'Record<string, string>',
  'call_transcripts.turns': 'object[]',
  'calls.agent_end': 'object',
  'calls.answered_by_evidence': 'object[]',
  'calls.message_left': 'object',
  'calls.call_back_terms': callBackTerms,
  'calls.encrypted_with': suites,
  'calls.metadata': 'Record<string, string>',
  'calls.result': 'object',
  'calls.usage': 'object',
  'calls.variables': 'Record<string, string>',
  'campaign_contacts.metadata': 'Record<string, string>',
  'campaign_contacts.values': '(string | null)[]',
  'agents.voicemail_terms': voicemail,
  'call_intents.voicemail_terms': voicemail,
  'campaigns.voicemail_terms': voicemail,
  'campaigns.calling_windows': '{ days: number[]; start: number; end: number }[]',
  'campaigns.metadata': 'Record<string, string>',
  'contact_list_entries.consent': '{ given: boolean; source?: string; time?: string; purpose?: string }',
  'contact_list_entries.values': '(string | null)[]',
  'contact_list_uploads.format': 'object',
  'contact_list_uploads.read_as': 'object',
  'contact_list_uploads.columns': 'object[]',
  'erasures.counts': 'object',
  'erasures.remaining': '{ recordings: number; files: number }',
  'events.data': 'object',
  'exports.failure_code': "'too_many_rows' | 'file_too_large' | 'source_deleted' | 'could_not_be_written'",
  'exports.filter': 'object',
  'rejected_rows.errors': 'object[]',
  'run_signals.data': 'object',
  'sip_calls.agent_end': 'object',
  'sip_calls.dialog': 'object',
  'sip_calls.encrypted_with': suites,
  'sip_calls.messages': 'object[]',
  'test_calls.media': 'object',
  'trunks.codecs': "('PCMU' | 'PCMA')[]",
  'trunks.headers': 'Record<string, string>',
  'trunks.media_encryption': "'none' | 'preferred' | 'required'",
  'workflow_run_steps.error': '{ code: string; message: string; nodeId?: string }',
  'workflow_runs.context': 'Record<string, unknown>',
  'workflow_runs.error': '{ code: string; message: string; nodeId?: string }',
  'workflow_runs.output': 'Record<string, unknown>',
  'workflow_versions.definition': 'object',
  'workflows.draft': 'object',
  'workspaces.max_attempts_per_person': '{ attempts: number; hours: number }[]',
  'workspaces.quiet_windows': '{ days: number[]; start: number; end: number }[]',
};

/** As src/foundation/database/types.ts has them arrive. */
const types: Record<string, string> = {
  bigint: 'number',
  boolean: 'boolean',
  bytea: 'Buffer',
  date: 'string',
  inet: 'string',
  'double precision': 'number',
  integer: 'number',
  numeric: 'string | number',
  smallint: 'number',
  text: 'string',
  'timestamp with time zone': 'Date',
  tsvector: 'string',
  uuid: 'string',
};

const column =
  /^ {2}"?(?<name>[a-z_]+)"? (?<type>[a-z ]+?)(?:\([\d,]+\))?(?<isList>\[\])?(?<required> not null)?(?<default> default .+)?$/;
const values = /^ {2}CHECK \(\((?<name>\w+) = ANY \(ARRAY\[(?<list>.+)::text\]\)\)\)$/;

const found = (lines: string[], pattern: RegExp) =>
  lines.map((line) => line.match(pattern)?.groups).filter((groups) => groups !== undefined);

/**
 * The rows of a schema's tables, as Kysely types them: what has a default or may be null is optional on insert, and a
 * column that a CHECK holds to a list is of the list's values.
 *
 * @param dump what `describeSchema` gives
 * @throws where a JSON column is not said above, or a column that is said is none
 */
export function rowTypes(dump: string): string {
  const unused = new Set(Object.keys(known));
  const tables = dump.split('\n\n').flatMap((block) => {
    const [head, ...lines] = block.split('\n');
    const table = head!.match(/^table (\w+)/)?.[1];
    // What is reached through a view, or through the table that it is a partition of, is named so.
    if (!table || table.endsWith('_all')) return [];
    const lists = new Map(found(lines, values).map(({ name, list }) => [name, list!.replaceAll('::text, ', ' | ')]));
    const columns = found(lines, column).map(({ name, type, isList, required, default: preset }) => {
      const said = known[`${table}.${name}`];
      unused.delete(`${table}.${name}`);
      const one = said ?? lists.get(name) ?? types[type!];
      if (!one) throw new Error(`${table}.${name} is ${type}: say in row-types.ts what it holds.`);
      if (type!.startsWith('json')) {
        const json = `JSONColumnType<${one}, string${preset ? ' | undefined' : ''}, string>`;
        return `    ${name}: ${required ? json : `${json} | null`};\n`;
      }
      const held = `${one}${isList && !said ? '[]' : ''}${required ? '' : ' | null'}`;
      return `    ${name}: ${preset ? `Generated<${held}>` : held};\n`;
    });
    return [`  ${table}: {\n${columns.join('')}  };\n`];
  });
  if (unused.size > 0) throw new Error(`There is no column ${[...unused].join(', ')}.`);
  return `// Made by \`npm run generate\` from the schema that the migrations come to.
import type { Generated, JSONColumnType } from 'kysely';

export interface Schema {
${tables.join('')}}
`;
}
