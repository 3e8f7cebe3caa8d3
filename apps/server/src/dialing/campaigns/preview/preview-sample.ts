import { type RawBuilder, sql } from 'kysely';
import type { WorkspaceTx } from '../../../foundation/database/database.ts';
import type { components } from '../../../foundation/values/generated/contract.ts';
import { assignNumbers } from '../../../lines/number-pools/assign-numbers.ts';
import { countryOfNumber } from '../../../lines/phone-numbers/numbering-plan.ts';
import { isDoNotCall } from '../../../platform/do-not-call/do-not-call-numbers.ts';
import { toE164 } from '../../calls/call.ts';
import { zonesOfContact } from '../../calls/zones-of-contact.ts';
import { type ContactRefusal, contactRefusal, hasConsent } from '../contact-refusal.ts';
import { contactExplainer, type Explanation } from '../explain-contact.ts';
import { laneZones } from '../list-contacts.ts';
import { missingOf, type VariablePlaces } from './missing-variables.ts';
import type { PreviewScope } from './preview-scope.ts';

type PreviewContact = components['schemas']['CampaignPreviewContact'];

interface Candidate {
  phone_number: number;
  name: string | null;
  values: (string | null)[];
  /** UUID of its list, or before the start of its upload. */
  source: string;
  state: 'pending' | 'waiting';
  timezone: string | null;
  lane: number | null;
  next_attempt_at: Date | null;
  reason: string | null;
  do_not_call: boolean;
  consented: boolean;
}

/** The part of a sample that shows contacts who are left out, where there are any. */
const LEFT_OUT_SHARE = 0.2;

/**
 * The first contacts in the order of dialing, with some that are left out.
 * @param leftOut numbers that are
 * @param variables those that the agent needs
 */
export async function previewSample(
  tx: WorkspaceTx,
  scope: PreviewScope,
  size: number,
  leftOut: number[],
  variables: VariablePlaces,
): Promise<PreviewContact[]> {
  const first = await (scope.uploads ? firstEntries(tx, scope, scope.uploads, size) : firstContacts(tx, scope, size));
  const refused = (row: Candidate) => contactRefusal(row, scope.area);
  const shown = new Set(first.map((row) => row.phone_number));
  const room = first.some(refused) ? 0 : Math.ceil(size * LEFT_OUT_SHARE);
  const others = leftOut.filter((number) => !shown.has(number)).slice(0, room);
  const examples = others.length > 0 ? await candidatesOf(tx, scope, others) : [];
  const zones = await laneZones(tx, scope.campaign);
  // Before the start it is as if the campaign ran.
  const situation = scope.uploads ? { ...scope.situation, status: 'running' as const } : scope.situation;
  const explain = contactExplainer(situation, scope.at);

  const judged = [...first.slice(0, size - examples.length), ...examples].map((row) => {
    const explanation = explain({
      state: row.state,
      isTrusted: situation.trusted.includes(row.phone_number),
      timezones: zones.get(row.lane ?? 0) ?? zonesBeforeStart(scope, row),
      nextAttemptAt: row.next_attempt_at ?? scope.at,
      reason: row.reason,
    });
    return { row, refusal: refused(row), explanation };
  });
  const pace = paced(scope.campaign.calls_per_second);
  const inOrder = judged.toSorted((a, b) => dueTime(a.explanation) - dueTime(b.explanation));
  const callees = inOrder.filter((contact) => !contact.refusal);
  const numbers = assignNumbers(
    callees.map(({ row }) => ({ toNumber: row.phone_number, country: countryOfNumber(row.phone_number) })),
    scope.callers,
  );
  const from = new Map(callees.map((contact, at) => [contact, numbers[at]?.fromNumber]));
  // The others wait until their agent has ended a call.
  const taken = new Set(callees.filter(({ explanation }) => !explanation.reason).slice(0, scope.situation.agentRoom));
  return inOrder.map((contact) => {
    const { refusal, explanation } = contact;
    const waits = !refusal && !explanation.reason && !taken.has(contact);
    const told = waits ? { ...explanation, reason: 'limit_reached' as const } : explanation;
    const missing = missingOf(variables, contact.row);
    return {
      ...shape(scope, { ...contact, explanation: told }, from.get(contact), pace),
      ...(missing.length > 0 && { missingVariables: missing }),
    };
  });
}

const zonesBeforeStart = ({ campaign }: PreviewScope, { timezone, phone_number }: Candidate): readonly string[] => {
  const { timezones } = zonesOfContact(campaign.callee_time_zone, timezone, phone_number);
  return timezones.length > 0 ? timezones : [campaign.timezone];
};

const dueTime = ({ nextAttemptAt }: Explanation) => nextAttemptAt?.getTime() ?? Number.MAX_SAFE_INTEGER;

/** Moves each time behind the one before, as far as the pace wants it. */
function paced(callsPerSecond: number | null): (at: Date) => Date {
  let next = 0;
  return (at) => {
    const start = Math.max(at.getTime(), next);
    if (callsPerSecond !== null) next = start + 1000 / callsPerSecond;
    return new Date(Math.round(start));
  };
}

function shape(
  scope: PreviewScope,
  { row, refusal, explanation }: { row: Candidate; refusal: ContactRefusal; explanation: Explanation },
  from: number | undefined,
  pace: (at: Date) => Date,
): PreviewContact {
  const contact = { phoneNumber: toE164(row.phone_number), ...(row.name !== null && { name: row.name }) };
  if (scope.nobody) return { ...contact, reason: scope.nobody };
  if (refusal) return { ...contact, reason: refusal };
  const { nextAttemptAt } = explanation;
  const reason = explanation.reason ?? (from === undefined ? 'no_caller_id' : undefined);
  return {
    ...contact,
    ...(from !== undefined && { fromNumber: toE164(from) }),
    ...(nextAttemptAt && { nextAttemptAt: pace(nextAttemptAt).toISOString() }),
    ...(reason && { reason }),
  };
}

const entryColumns = sql`e.phone_number, e.name, e."values", e.upload_id as source, 'pending' as state, e.timezone, null::smallint as lane,
  null::timestamptz as next_attempt_at, null as reason`;
const contactColumns = sql`c.phone_number, c.name, c."values", c.list_id as source, c.state, null as timezone, c.lane, c.next_attempt_at, c.reason`;

const blocked = (tx: WorkspaceTx, scope: PreviewScope, number: string) =>
  sql`${isDoNotCall(sql.ref(number), sql`${tx.workspaceId}`, scope.doNotCallUploads)} as do_not_call, ${
    scope.consentUploads
      ? hasConsent(sql.ref(number), sql`${tx.workspaceId}::uuid`, sql`${scope.campaign.id}::uuid`)
      : sql`true`
  } as consented`;

async function candidates(tx: WorkspaceTx, query: RawBuilder<Candidate>): Promise<Candidate[]> {
  const { rows } = await query.execute(tx.db);
  const found = new Map<number, Candidate>();
  for (const row of rows) if (!found.has(row.phone_number)) found.set(row.phone_number, row);
  return [...found.values()];
}

/** The first entries of the lists, in their order. */
async function firstEntries(
  tx: WorkspaceTx,
  scope: PreviewScope,
  uploads: string[],
  size: number,
): Promise<Candidate[]> {
  const rows = await candidates(
    tx,
    sql<Candidate>`
      select e.*, ${blocked(tx, scope, 'e.phone_number')}
      from unnest(${uploads}::uuid[]) with ordinality as u (id, at)
      cross join lateral (
        select ${entryColumns}, e.row_number from contact_list_entries e
        where e.workspace_id = ${tx.workspaceId} and e.upload_id = u.id order by e.row_number limit ${size}) as e
      order by u.at, e.row_number`,
  );
  return rows.slice(0, size);
}

/** The contacts that are due first. Each lane and state is read at its head only. */
async function firstContacts(tx: WorkspaceTx, scope: PreviewScope, size: number): Promise<Candidate[]> {
  return candidates(
    tx,
    sql<Candidate>`
      select c.*, ${blocked(tx, scope, 'c.phone_number')}
      from (select c.* from campaign_lanes l
        cross join (values ('waiting'), ('pending')) as s (state)
        cross join lateral (
          select ${contactColumns}, c.id from campaign_contacts c
          where c.workspace_id = l.workspace_id and c.campaign_id = l.campaign_id and c.lane = l.lane
            and c.state = s.state and c.state in ('pending', 'waiting')
          order by c.next_attempt_at, c.id limit ${size}) as c
        where l.workspace_id = ${tx.workspaceId} and l.campaign_id = ${scope.campaign.id}
        order by (c.state = 'waiting' and c.next_attempt_at <= ${scope.at}) desc, c.next_attempt_at, c.id
        limit ${size}) as c`,
  );
}

/** The contacts of some numbers. */
async function candidatesOf(tx: WorkspaceTx, scope: PreviewScope, numbers: number[]): Promise<Candidate[]> {
  if (scope.uploads) {
    return candidates(
      tx,
      sql<Candidate>`
        select ${entryColumns}, ${blocked(tx, scope, 'e.phone_number')} from contact_list_entries e
        where e.workspace_id = ${tx.workspaceId} and e.upload_id = any(${scope.uploads}::uuid[])
          and e.phone_number = any(${numbers}::bigint[])`,
    );
  }
  return candidates(
    tx,
    sql<Candidate>`
      select ${contactColumns}, ${blocked(tx, scope, 'c.phone_number')} from campaign_contacts c
      where c.workspace_id = ${tx.workspaceId} and c.campaign_id = ${scope.campaign.id}
        and c.phone_number = any(${numbers}::bigint[])`,
  );
}
