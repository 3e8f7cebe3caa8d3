// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is how the sources have it.

/** A bug of one line that the tests or the laws must find. */
export interface Mutant {
  name: string;
  /** Below `apps/server/src`. */
  file: string;
  /** What stands there, once. */
  find: string;
  replace: string;
  /** Files of the suite that should fail by it, below `apps/server`. */
  tests: readonly string[];
}

const placing = 'dialing/calls/place-calls.ts';
const placement = 'test/dialing/calls/placement.test.ts';
const claim = 'dialing/campaigns/claim';
const runs = 'dialing/workflows/runs';
const guard = 'platform/installation';
const guarded = 'test/platform/installation/restore-guard.test.ts';
const takeover = 'test/dialing/workflows/takeover.test.ts';

/** The bugs that are planted: in placement, leases, claims, events, retries, runs, the restore guard and streams. */
export const mutants: readonly Mutant[] = [
  {
    name: 'place-what-others-hold',
    file: placing,
    find: ' and c.server_id = ${lease.serverId()} and c.place_before',
    replace: ' and c.place_before',
    tests: [placement],
  },
  {
    name: 'place-too-late',
    file: placing,
    find: ' and c.place_before > ${now}',
    replace: '',
    tests: [placement],
  },
  {
    name: 'place-while-dialing-is-paused',
    file: placing,
    find: ' and w.dialing_paused_at is null',
    replace: '',
    tests: [placement],
  },
  {
    name: 'place-after-an-opt-out',
    file: placing,
    find: '(w.do_not_call_revision = x.revision or not ${isForbiddenSince})',
    replace: 'true',
    tests: [placement],
  },
  {
    name: 'place-what-was-ended',
    file: placing,
    find: ' and c.end_requested_at is null',
    replace: '',
    tests: [placement],
  },
  {
    name: 'place-of-a-paused-campaign',
    file: 'dialing/campaigns/own-calls.ts',
    find: "and p.status = 'running' and (p.end_date",
    replace: 'and (p.end_date',
    tests: [placement],
  },
  {
    name: 'hand-over-what-was-not-moved',
    file: placing,
    find: 'if (moved.has(call.roomId) && !tooLate)',
    replace: 'if (!tooLate)',
    tests: [placement],
  },
  {
    name: 'hand-over-without-a-lease',
    file: placing,
    find: ' || !lease.isHeld()',
    replace: '',
    tests: [placement],
  },
  {
    name: 'tell-of-a-start-outside-of-its-transaction',
    file: placing,
    find: "await recordEvents(tx, 'call.started', started);",
    replace:
      "setTimeout(() => database.inHotLoop((own) => recordEvents(own, 'call.started', started)).catch(() => {}), 50);",
    tests: [placement],
  },
  {
    name: 'take-over-two-seconds-early',
    file: 'dialing/calls/take-over-calls.ts',
    find: 'where lease_until < clock_timestamp() and',
    replace: "where lease_until < clock_timestamp() + interval '2 seconds' and",
    tests: ['test/dialing/crash.test.ts'],
  },
  {
    name: 'take-over-before-others-had-time',
    file: 'dialing/calls/reconcile-calls.ts',
    find: 'performance.now() >= lease.steadySince() + options.leaseSeconds * 1000',
    replace: 'true',
    tests: ['test/dialing/crash.test.ts'],
  },
  {
    name: 'take-over-runs-two-seconds-early',
    file: `${runs}/take-over-runs.ts`,
    find: 's.lease_until > clock_timestamp())',
    replace: "s.lease_until > clock_timestamp() + interval '2 seconds')",
    tests: [takeover],
  },
  {
    name: 'renew-a-lease-that-was-lost',
    file: 'foundation/database/lease.ts',
    find: 'where id = ${id} and lease_until > clock_timestamp() returning',
    replace: 'where id = ${id} returning',
    tests: ['test/foundation/database/lease.test.ts'],
  },
  {
    name: 'hold-a-lease-from-its-answer-on',
    file: 'foundation/database/lease.ts',
    find: 'if (isRenewed) return hold(asked);',
    replace: 'if (isRenewed) return hold(readClocks());',
    tests: ['test/foundation/database/lease.test.ts'],
  },
  {
    name: 'give-back-what-others-have-taken-over',
    file: 'dialing/calls/return-calls.ts',
    find: "c.status = 'queued' and c.server_id = ${serverId}",
    replace: "c.status = 'queued'",
    tests: [placement],
  },
  {
    name: 'call-again-what-may-be-on-its-way',
    file: 'dialing/calls/look-up-calls.ts',
    find: "call.placeBefore.getTime() + ON_ITS_WAY_MS ? 'absent'",
    replace: "call.placeBefore.getTime() ? 'absent'",
    tests: ['test/dialing/faults.test.ts'],
  },
  {
    name: 'end-a-call-twice',
    file: 'dialing/calls/record-call-events.ts',
    find: "x.id and c.status in ${from(callTransitions, 'completed')}",
    replace: 'x.id',
    tests: ['test/dialing/calls/events.test.ts'],
  },
  {
    name: 'claim-past-the-most-at-once',
    file: `${claim}/claim-limits.ts`,
    find: 'campaign.max_concurrency - in_flight]',
    replace: 'campaign.max_concurrency]',
    tests: ['test/dialing/limits.test.ts'],
  },
  {
    name: 'claim-without-the-lock',
    file: `${claim}/claim-limits.ts`,
    find: 'for no key update of c skip locked for key share of s',
    replace: 'for key share of s',
    tests: ['test/dialing/limits.test.ts'],
  },
  {
    name: 'claim-before-the-retry-is-due',
    file: `${claim}/pick-contacts.ts`,
    find: 'and next_attempt_at <= ${now}\n        order by next_attempt_at, id limit ${limit} for update skip locked) as c',
    replace: '\n        order by next_attempt_at, id limit ${limit} for update skip locked) as c',
    tests: ['test/dialing/retries.test.ts'],
  },
  {
    name: 'claim-in-the-name-of-a-lost-server',
    file: `${claim}/claim-limits.ts`,
    find: 'join servers s on s.id = ${serverId}',
    replace: 'left join servers s on s.id = ${serverId}',
    tests: ['test/dialing/crash.test.ts'],
  },
  {
    name: 'retry-once-too-often',
    file: 'dialing/campaigns/after-outcome.ts',
    find: 'retryPolicy[next.tries - 1]',
    replace: 'retryPolicy[Math.max(0, next.tries - 2)]',
    tests: ['src/dialing/campaigns/after-outcome.test.ts'],
  },
  {
    name: 'call-again-whose-outcome-is-unknown',
    file: 'dialing/campaigns/after-outcome.ts',
    find: "if (outcome === 'unknown') return {",
    replace: "if (outcome === 'unknown') return retry(1) ?? {",
    tests: ['src/dialing/campaigns/after-outcome.test.ts'],
  },
  {
    name: 'place-an-intent-that-has-expired',
    file: 'dialing/call-intents/own-calls.ts',
    find: '(select i.expires_at > ${now} from call_intents i',
    replace: '(select true from call_intents i',
    tests: [placement],
  },
  {
    name: 'write-a-run-that-another-server-holds',
    file: `${runs}/write-changes.ts`,
    find: ' and r.server_id is not distinct from x.held_by',
    replace: '',
    tests: [takeover],
  },
  {
    name: 'run-twice-with-one-key',
    file: `${runs}/concurrency-keys.ts`,
    find: 'where k.active_run is null and (',
    replace: 'where (',
    tests: ['test/dialing/workflows/starts.test.ts'],
  },
  {
    name: 'hand-events-over-on-two-servers',
    file: 'platform/journal/hand-over.ts',
    find: 'return turn.rows[0]!.mine ? events.rows : [];',
    replace: 'return turn.rows[0]!.mine || events.rows ? events.rows : [];',
    tests: ['test/platform/webhooks/hand-over.test.ts'],
  },
  {
    name: 'deliver-out-of-order',
    file: 'platform/webhooks/claim-endpoints.ts',
    find: '(select (e.next_attempt_at, e.id) <= (d.next_attempt_at, d.id) from',
    replace: '(select true from',
    tests: ['test/platform/webhooks/claims.test.ts'],
  },
  {
    name: 'count-a-try-of-another-server',
    file: 'platform/webhooks/mark-deliveries.ts',
    find: 'and d.next_attempt_at is not null and d.attempts = x.attempts`',
    replace: 'and d.next_attempt_at is not null`',
    tests: ['test/platform/webhooks/claims.test.ts'],
  },
  {
    name: 'keep-calls-where-some-are-lost',
    file: `${guard}/slots.ts`,
    find: ' and number >= ${known}',
    replace: '',
    tests: [guarded],
  },
  {
    name: 'place-before-the-witness-knows',
    file: `${guard}/restore-guard.ts`,
    find: 'isWitnessed: isWritten && (before',
    replace: 'isWitnessed: (before',
    tests: [guarded],
  },
  {
    name: 'compare-nothing-after-a-lost-connection',
    file: `${guard}/restore-guard.ts`,
    find: '      words.doubt();\n      comparison.doubt();',
    replace: '      words.doubt();',
    tests: [guarded],
  },
  {
    name: 'hold-nothing-for-what-the-witness-knows',
    file: `${guard}/judge-restore.ts`,
    find: 'if (knowsMore(witness, found.numbers)) return',
    replace: 'if (knowsMore(witness, witness)) return',
    tests: ['src/platform/installation/judge-restore.test.ts'],
  },
  {
    name: 'answer-a-no-that-may-be-lost',
    file: `${guard}/tell-words.ts`,
    find: 'if (!isTold || since !== doubts) throw',
    replace: 'if (!isTold) throw',
    tests: [guarded],
  },
  {
    name: 'look-up-calls-while-dialing-is-held',
    file: 'dialing/calls/look-up-calls.ts',
    find: ' || !(await options.mayJudge())',
    replace: '',
    tests: ['src/dialing/calls/look-up-calls.test.ts'],
  },
  {
    name: 'leave-an-event-out-of-a-stream',
    file: 'platform/journal/follow.ts',
    find: 'page?.events.filter((event) => event.revision > each) ?? []',
    replace: 'page?.events.filter((event) => event.revision > each + 1) ?? []',
    tests: ['test/dialing/campaigns/events.test.ts'],
  },
];
