import { groupsOf, type Law } from './law.ts';

/** What the endpoint is told of. Those of numbers and trunks come before it is made. */
const isTold = (type: string) => !/^(phone_number|trunk)\.|^upload\.progress$/.test(type);

/** What happens to a resource once. */
const happensOnce = [
  'call.ended',
  'workflow_run.completed',
  'campaign.completed',
  'batch.completed',
  'upload.processed',
];

/** Every event reaches the endpoint, under one ID and with one body. */
export const toldOnceAtLeast: Law = {
  name: 'each event is delivered, under one ID',
  breaches: ({ events, delivered, calls, runs }) => {
    const byEvent = groupsOf(delivered, ({ eventId }) => eventId);
    const recorded = new Set(events.map(({ id }) => id));
    const ofResource = groupsOf(events, ({ resource_id, type }) => `${resource_id}: ${type}`);
    const toldOf = (type: string) => {
      const found = new Map<string, Set<string>>();
      for (const { eventId, body } of delivered.filter((each) => each.type === type)) {
        const { roomId, id } = JSON.parse(body).data;
        found.set(roomId ?? id, (found.get(roomId ?? id) ?? new Set()).add(eventId));
      }
      return found;
    };
    const starts = toldOf('call.started');
    const ends = toldOf('call.ended');
    const completions = toldOf('workflow_run.completed');
    const once = (what: string, found: Set<string> | undefined) =>
      found?.size === 1 ? [] : [`${what}: told under ${found?.size ?? 0} IDs`];
    return [
      ...events
        .filter(({ id, type }) => isTold(type) && !byEvent.has(id))
        .map(({ id, type }) => `event ${id}, ${type}: never delivered`),
      ...[...byEvent].flatMap(([id, tries]) =>
        new Set(tries.map(({ body }) => body)).size > 1 ? [`event ${id}: came with different bodies`] : [],
      ),
      ...delivered
        .filter(({ eventId }) => !recorded.has(eventId))
        .map(({ eventId, type }) => `event ${eventId}, ${type}: delivered, and never recorded`),
      ...[...ofResource]
        .filter(([, its]) => its.length > 1 && happensOnce.includes(its[0]!.type))
        .map(([what, its]) => `${what} ${its.length} times`),
      ...calls
        .filter(({ direction, dialed_at }) => direction === 'outbound' && dialed_at)
        .flatMap(({ id }) => once(`the start of call ${id}`, starts.get(clientId('room', id)))),
      ...calls
        .filter(({ direction, dialed_at, ended_at, status, ended_by }) => {
          const began = dialed_at || direction === 'inbound';
          return began && ended_at && !(status === 'cancelled' && ended_by === 'error');
        })
        .flatMap(({ id }) => once(`the end of call ${id}`, ends.get(clientId('room', id)))),
      ...runs
        .filter(({ status }) => status === 'completed')
        .flatMap(({ id }) => once(`the end of run ${id}`, completions.get(clientId('run', id)))),
    ];
  },
};

const clientId = (prefix: string, uuid: string) => `${prefix}_${uuid.replaceAll('-', '')}`;

/** Whoever is told of a call's end knows how it went. */
export const toldTruly: Law = {
  name: 'a call ends as it was told',
  breaches: ({ calls, delivered }) => {
    const rows = new Map(calls.map((call) => [clientId('room', call.id), call]));
    return delivered
      .filter(({ type }) => type === 'call.ended')
      .flatMap(({ eventId, body }) => {
        const { roomId, outcome } = JSON.parse(body).data;
        const row = rows.get(roomId);
        if (!row || row.outcome === outcome) return [];
        return [`event ${eventId}: call ${row.id} was told of as ${outcome}, and is ${row.outcome}`];
      });
  },
};

/** Events of one resource come in their order, by when each came first. */
export const toldInOrder: Law = {
  name: 'the events of a resource are delivered in their order',
  breaches: ({ events, delivered }) => {
    const first = new Map<string, number>();
    for (const [at, { eventId }] of delivered.entries()) if (!first.has(eventId)) first.set(eventId, at);
    return [...groupsOf(events, ({ resource_id }) => resource_id)].flatMap(([resource, its]) => {
      const told = its.filter(({ id }) => first.has(id)).toSorted((a, b) => a.revision - b.revision);
      const early = told.find(({ id }, at) => at > 0 && first.get(id)! < first.get(told[at - 1]!.id)!);
      return early ? [`${resource}: revision ${early.revision}, ${early.type}, came before the one before it`] : [];
    });
  },
};

/** Who comes back to a stream has missed nothing, and sees nothing twice. */
export const streamsWhole: Law = {
  name: 'streams go on without a gap',
  breaches: ({ streams, events }) => {
    const recorded = groupsOf(events, ({ resource_id }) => resource_id);
    return streams.flatMap(({ kind, resource, seen, ended }) => {
      const [first = 0, last = 0] = [seen[0], seen.at(-1)];
      const back = seen.findIndex((revision, at) => at > 0 && revision <= seen[at - 1]!);
      // A run's stream ends with it, and its last event is the last of all; a campaign's was closed when all was at rest; an
      // upload's goes on after its reader.
      const end = (kind === 'run' && ended) || kind === 'campaign' ? Number.POSITIVE_INFINITY : last;
      const missed = (recorded.get(resource) ?? [])
        .map(({ revision }) => revision)
        .filter((revision) => revision > first && revision < end && !seen.includes(revision));
      const what = `${kind} ${resource}, seen ${seen.join(' ')}`;
      return [
        ...(back > 0 ? [`${what}: ${seen[back]} came after ${seen[back - 1]}`] : []),
        ...missed.map((revision) => `${what}: ${revision} is missing`),
        ...(ended || kind === 'campaign' ? [] : [`${what}: it did not end`]),
      ];
    });
  },
};

/** What a stream tells in between, of which there is no event. */
const isBetween = (type: string) => type.endsWith('.progress');

/** Whoever follows a stream is told what has happened, and in the end knows how things are. */
export const streamsTrue: Law = {
  name: 'streams tell what is so',
  breaches: ({ streams, events, runs, campaigns }) => {
    const typeOf = new Map(events.map(({ resource_id, revision, type }) => [`${resource_id} ${revision}`, type]));
    const statusOf = new Map([...runs, ...campaigns].map(({ id, status }) => [id, status]));
    return streams.flatMap(({ kind, resource, told }) => {
      // What is told first is how things were, and need not be an event.
      const untrue = told.filter(({ revision, type }, at) => {
        const recorded = typeOf.get(`${resource} ${revision}`) ?? (at === 0 ? type : undefined);
        return !isBetween(type) && recorded !== type;
      });
      const [last, is] = [told.at(-1), statusOf.get(resource)];
      return [
        ...untrue.map(({ revision, type }) => {
          const recorded = typeOf.get(`${resource} ${revision}`) ?? 'nothing';
          return `${kind} ${resource}: ${type} was told at ${revision}, and ${recorded} is recorded`;
        }),
        ...(last && is !== undefined && last.status !== is
          ? [`${kind} ${resource}: the last that was told is ${last.status}, and it is ${is}`]
          : []),
      ];
    });
  },
};
