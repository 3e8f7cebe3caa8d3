import type { ContactOfHistory, History, Promised } from '../history.ts';
import { groupsOf, type Law } from './law.ts';
import { isOpen } from './limits.ts';

/** The rows of each kind, by ID. */
const rowsOf = ({ campaigns, calls, runs, uploads, documents }: History) => {
  const keyed = <Row extends { id: string }>(rows: Row[]) => new Map(rows.map((row) => [row.id, row]));
  return {
    campaign: keyed(campaigns),
    batch: keyed(campaigns),
    call: keyed(calls),
    run: keyed(runs),
    upload: keyed(uploads),
    document: keyed(documents),
  };
};

/** What was accepted is there in the end, whole. */
export const acceptedKept: Law = {
  name: 'what was accepted is kept',
  breaches: (history) => {
    const rows = rowsOf(history);
    const persons = new Map<number, string>();
    return history.promised.flatMap((promise) => {
      const { kind, id } = promise;
      if (!rows[kind].has(id)) return [`${kind} ${id} is gone`];
      if (kind === 'run') {
        const other = persons.get(promise.person);
        persons.set(promise.person, id);
        return other && other !== id ? [`person ${promise.person} has the runs ${other} and ${id}, for one key`] : [];
      }
      if (kind === 'upload') {
        const found = rows.upload.get(id)!.imported_rows;
        return found === promise.rows ? [] : [`upload ${id}: ${found} rows of ${promise.rows}`];
      }
      if (kind !== 'campaign' && kind !== 'batch') return [];
      // One that was stopped may not have had all of them yet.
      if (kind === 'campaign' && promise.isStopped) return [];
      const found = rows.campaign.get(id)!.total_contacts;
      return found === promise.contacts ? [] : [`${kind} ${id}: ${found} contacts of ${promise.contacts}`];
    });
  },
};

/** What is there was promised to a client: a request that is asked again after a lost answer makes nothing anew. */
export const askedFor: Law = {
  name: 'nothing is there that nobody asked for',
  breaches: ({ promised, campaigns, calls, runs, uploads }) => {
    const known = new Set(promised.map(({ id }) => id));
    const single = calls.filter((call) => call.owner_kind === 'intent');
    const rows = {
      campaign: campaigns,
      call: single,
      run: runs.filter(({ parent_run_id }) => parent_run_id === null),
      upload: uploads,
    };
    return Object.entries(rows).flatMap(([kind, its]) =>
      its.filter(({ id }) => !known.has(id)).map(({ id }) => `${kind} ${id}`),
    );
  },
};

const over = ['done', 'skipped'];

/** Contacts that wait for a reason that a person would understand: their hours are over. */
function isExplained(contact: ContactOfHistory, promise: Promised | undefined, now: number): boolean {
  if (promise?.kind !== 'campaign') return false;
  const zone = promise.zones.get(contact.phone_number);
  return zone !== undefined && contact.state === 'pending' && !isOpen(promise.windows, zone, now);
}

/** Everything that was accepted has come to its end, or says why it waits. */
export const allEnded: Law = {
  name: 'what was accepted comes to its end',
  breaches: (history) => {
    const rows = rowsOf(history);
    const contacts = groupsOf(history.contacts, ({ campaign_id }) => campaign_id);
    const now = Math.max(0, ...history.placed.map(({ placedAt }) => placedAt));
    return history.promised.flatMap((promise) => {
      const { kind, id } = promise;
      const row = rows[kind].get(id);
      if (!row) return [];
      if (kind === 'call') return rows.call.get(id)!.outcome === null ? [`call ${id} has no outcome`] : [];
      if (kind === 'campaign' && promise.isStopped)
        return ['stopped', 'completed'].includes(row.status) ? [] : [`${kind} ${id} was stopped, and is ${row.status}`];
      if (kind === 'campaign' || kind === 'batch') {
        const open = (contacts.get(id) ?? []).filter(({ state }) => !over.includes(state));
        const lost = open.filter((contact) => !isExplained(contact, promise, now));
        const stuck = lost.map((contact) => `${kind} ${id}: +${contact.phone_number} is ${contact.state}`);
        return open.length === 0 && row.status !== 'completed' ? [`${kind} ${id} is ${row.status}`] : stuck;
      }
      const last = { run: 'completed', upload: 'processed', document: 'ready' }[kind];
      return row.status === last ? [] : [`${kind} ${id} is ${row.status}`];
    });
  },
};

/** Outcomes that only a telephone gives. */
const heard: readonly (string | null)[] = ['answered', 'voicemail', 'busy', 'no_answer', 'declined'];

/** Who may be called is called, by the provider's own record; who is left out is on the do-not-call list. */
export const nobodyLeftOut: Law = {
  name: 'nobody is left out',
  breaches: ({ promised, contacts, calls, placed, invited }) => {
    const refused = new Set(promised.flatMap((promise) => (promise.kind === 'campaign' ? promise.refused : [])));
    const called = new Set(calls.filter(({ outcome }) => outcome !== null).map(({ owner_id }) => owner_id));
    const rooms = new Set(placed.map(({ roomId }) => roomId));
    const rang = new Set(invited.map(({ to }) => to));
    return [
      ...contacts
        .filter(({ state, phone_number }) => state === 'skipped' && !refused.has(phone_number))
        .map(({ phone_number, reason }) => `+${phone_number}: left out as ${reason}`),
      ...contacts
        .filter(({ state, id }) => state === 'done' && !called.has(id))
        .map(({ phone_number }) => `+${phone_number}: done, and never called`),
      ...calls
        .filter((call) => call.direction === 'outbound' && heard.includes(call.outcome))
        .filter(({ id, to_number, trunk_id }) => (trunk_id ? !rang.has(to_number) : !rooms.has(id)))
        .map(({ id, outcome }) => `call ${id}: ${outcome}, and the provider knows nothing of it`),
    ];
  },
};

/** Nothing is left half done. */
export const atRest: Law = { name: 'everything comes to rest', breaches: ({ open }) => open };

/** What is counted as it happens is what a count of the rows gives. */
export const countsRight: Law = {
  name: 'the counts are those of the rows',
  breaches: ({ campaigns }) =>
    campaigns.flatMap(({ id, kept, counted }) =>
      Object.keys(counted)
        .filter((name) => kept[name] !== counted[name])
        .map((name) => `campaign ${id}: ${name} is ${kept[name]}, the rows say ${counted[name]}`),
    ),
};

/** Each step of a run is made once, and asks others under one key. */
export const runsStepOnce: Law = {
  name: 'each step of a run is made once',
  breaches: ({ runs, asked }) => [
    ...runs
      .filter(({ steps }) => steps.some((step, at) => step !== at + 1))
      .map(({ id, steps }) => `run ${id}: the steps ${steps.join(', ')}`),
    ...runs
      .filter(({ nodes }) => new Set(nodes).size < nodes.length)
      .map(({ id, nodes }) => `run ${id}: the nodes ${nodes.join(', ')}`),
    ...[...groupsOf(asked, ({ person }) => person)].flatMap(([person, requests]) => {
      const keys = new Set(requests.map(({ key }) => key));
      return keys.size > 1 ? [`person ${person} was asked for under ${keys.size} keys`] : [];
    }),
  ],
};

/** No client is told of a fault of the server's own. */
export const answersRight: Law = {
  name: 'no answer is wrong',
  breaches: ({ wrongAnswers }) => wrongAnswers.map(({ operation, what }) => `${operation}: ${what}`),
};
