import type { Logger } from 'pino';
import type { Database, Tx } from '../../foundation/database/database.ts';
import { isUnavailable } from '../../foundation/database/errors.ts';
import type { Lease } from '../../foundation/database/lease.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import { someAtOnce } from '../../foundation/values/some-at-once.ts';
import { every, type Repeating } from '../../platform/jobs/every.ts';
import { type DueTime, whileQuiet } from '../../platform/jobs/quiet.ts';
import type { OperatorLimits } from '../../platform/workspace/operator-limits.ts';
import type { Switchboard } from '../calls/switchboard.ts';
import { traceClaim } from '../calls/trace-calls.ts';
import { addContacts } from './add-contacts.ts';
import type { CampaignKey } from './campaign.ts';
import { type Claim, type ClaimTerms, claimContacts, putOff } from './claim/claim-contacts.ts';
import { claimOneByOne } from './claim/claim-one-by-one.ts';
import { LEAD_MS, leadAfter } from './claim/pace.ts';
import {
  anyToFill,
  campaignsInFlight,
  campaignsToFill,
  campaignsToStart,
  claimableCampaigns,
  endDueCampaigns,
  firstMove,
  firstToClaim,
  recountInFlight,
  takeUpPutOff,
} from './due-campaigns.ts';

/** How long each loop rests when it found nothing to do. A change made in this process nudges it. */
const CLAIM_REST_MS = 100;
const FILL_REST_MS = 250;
const DUE_REST_MS = 1000;
const RECOUNT_REST_MS = 30_000;
/** When a campaign that could not be claimed from is tried again. */
const FAILED_CLAIM_MS = 10_000;
/** So many workspaces have their campaigns started at a time: each may wait for an agent directory. */
const STARTING_WORKSPACES = 10;

/** What this process does for campaigns by itself: starts and ends them, adds their contacts, claims these, recounts. */
export interface Claiming {
  start(): void;
  /** Looks for work at once, after a change that may have made some. */
  nudge(): void;
  /** Claims nothing more. */
  stop(): Promise<void>;
}

export interface ClaimingOptions {
  database: Database;
  lease: Lease;
  clock: Clock;
  log: Logger;
  /** Places what is claimed. */
  switchboard: Pick<Switchboard, 'place' | 'free' | 'isSimulated' | 'mayPlace'>;
  operator: OperatorLimits;
  /** Starts a scheduled campaign whose time has come, or fails it. Throws `unavailable` where that can't be told now. */
  startDue: (database: Database, campaign: CampaignKey, now: Date) => Promise<void>;
  /** Tells of a campaign that the engine has completed, in the transaction that did it. */
  onFinished: (tx: Tx, campaign: CampaignKey) => Promise<void>;
  /** Tells of a campaign that has paused itself, in the same way. */
  onPaused: (tx: Tx, campaign: CampaignKey) => Promise<void>;
}

/** Puts the loops of campaigns together. */
export function createClaiming(options: ClaimingOptions): Claiming {
  const { database, lease, clock, log, switchboard, operator, onFinished } = options;
  const { place, free, isSimulated, mayPlace } = switchboard;
  const until = (due: DueTime) => whileQuiet(database, due);
  let claiming: Repeating | undefined;
  let filling: Repeating | undefined;
  let starting: Repeating | undefined;
  let recounting: Repeating | undefined;

  /** Keeps a fault of one campaign from the others; nothing goes on without the database. */
  const attempt = async (campaign: CampaignKey, act: () => Promise<void>, afterwards?: () => Promise<void>) => {
    try {
      await act();
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'unavailable') throw error;
      log.error({ err: error, ...campaign }, 'a campaign could not be served; it is tried again');
      await afterwards?.();
    }
  };
  let leadMs = LEAD_MS;
  const claimFrom = async (campaign: CampaignKey, terms: ClaimTerms): Promise<boolean> => {
    let claim: Claim = { calls: [], more: false, unreadable: [] };
    const began = performance.now();
    await attempt(
      campaign,
      async () => {
        claim = await claimOrEach(options, campaign, terms);
      },
      () => rest(database, campaign, terms.now),
    );
    place(claim.calls);
    traceClaim(campaign.campaignId, began, claim.calls.length);
    leadMs = leadAfter(leadMs, performance.now() - began);
    return claim.more;
  };

  /**
   * Claims one batch of every campaign that is due, then another of those that have more, until it is time to look again:
   * what becomes due meanwhile of another workspace comes before the next campaigns of one that has many.
   */
  const claimTurn = async (): Promise<boolean> => {
    if (!(await mayPlace())) return false;
    const lookAgainAt = performance.now() + CLAIM_REST_MS;
    let campaigns = await database.inHotLoop((tx) => claimableCampaigns(tx, clock.now()));
    while (campaigns.length > 0) {
      const withMore: CampaignKey[] = [];
      for (const [at, campaign] of campaigns.entries()) {
        if (!lease.isHeld()) return false;
        const room = free(campaign.workspaceId);
        if (room <= 0) continue;
        const terms = { serverId: lease.serverId(), free: room, now: clock.now(), isSimulated, operator, leadMs };
        if (await claimFrom(campaign, terms)) withMore.push(campaign);
        if (performance.now() > lookAgainAt && at + 1 < campaigns.length) return true;
      }
      if (performance.now() > lookAgainAt) return withMore.length > 0;
      campaigns = withMore;
    }
    return false;
  };

  const fillTurn = async (): Promise<boolean> => {
    let more = false;
    const fill = async (campaign: CampaignKey) => {
      more = (await addContacts(database, campaign, clock.now())) || more;
    };
    for (const campaign of lease.isHeld() ? await database.inEngine(campaignsToFill) : []) {
      await attempt(campaign, () => fill(campaign));
      claiming?.nudge();
    }
    return more;
  };

  /** Ends come first: they ask nobody, and starts may have to wait for the agent directory. */
  const dueTurn = async (signal: AbortSignal): Promise<boolean> => {
    if (!lease.isHeld()) return false;
    const now = clock.now();
    await database.inEngine((tx) => takeUpPutOff(tx, now, log));
    await database.inEngine(async (tx) => {
      for (const campaign of await endDueCampaigns(tx, now)) await onFinished(tx, campaign);
    });
    const toStart = await database.inEngine((tx) => campaignsToStart(tx, now));
    const start = (campaign: CampaignKey) => attempt(campaign, () => options.startDue(database, campaign, now));
    return startEach(toStart, start, signal).finally(() => filling?.nudge());
  };

  return {
    start: () => {
      claiming = every(CLAIM_REST_MS, claimTurn, { name: 'claiming', log, asleep: until(firstToClaim) });
      filling = every(FILL_REST_MS, fillTurn, { name: 'adding contacts', log, asleep: until(anyToFill) });
      starting = every(DUE_REST_MS, dueTurn, { name: 'starting and ending campaigns', log, asleep: until(firstMove) });
      recounting = every(RECOUNT_REST_MS, () => recount(database, log), { name: 'recounting calls', log });
    },
    nudge: () => {
      for (const loop of [claiming, filling, starting]) loop?.nudge();
    },
    stop: async () => {
      await Promise.all([claiming, filling, starting, recounting].map((loop) => loop?.close()));
    },
  };
}

/** Leaves a campaign that could not be claimed from alone for a while. */
const rest = (database: Database, campaign: CampaignKey, now: Date): Promise<void> =>
  database.inEngine((tx) => putOff(tx, campaign, new Date(now.getTime() + FAILED_CLAIM_MS)));

/**
 * Claims a batch of a campaign's contacts; where that fails once they are picked, each of them for itself. Who is left out
 * for what is kept of them is named in the log. Throws what `claimContacts` throws, where nobody could be claimed.
 */
async function claimOrEach(
  { database, log, onFinished, onPaused }: Pick<ClaimingOptions, 'database' | 'log' | 'onFinished' | 'onPaused'>,
  campaign: CampaignKey,
  terms: ClaimTerms,
): Promise<Claim> {
  let picked: string[] = [];
  const onPicked = (ids: string[]) => {
    picked = ids;
  };
  const claim = async (more: Partial<ClaimTerms>) => {
    const claimed = await claimContacts(database, campaign, { ...terms, ...more }, onFinished, onPaused);
    const { unreadable: contactIds } = claimed;
    if (contactIds.length > 0)
      log.warn({ ...campaign, contactIds }, 'contacts without a time zone that can be read are left out');
    return claimed;
  };
  try {
    return await claim({ onPicked });
  } catch (error) {
    if (picked.length === 0 || isUnavailable(error)) throw error;
  }
  const found = await claimOneByOne(database, campaign, picked, (only) => claim({ only, free: 1 }));
  for (const { contactId, error } of found.leftOut) {
    log.error({ err: error, ...campaign, contactId }, 'a contact can not be used; it is left out');
  }
  const calls = found.claims.flatMap((each) => each.calls);
  if (found.fault === undefined) return { calls, more: true, unreadable: [] };
  if (calls.length === 0) throw found.fault;
  log.error({ err: found.fault, ...campaign }, 'some contacts could not be claimed; they are tried again');
  await rest(database, campaign, terms.now);
  return { calls, more: false, unreadable: [] };
}

/**
 * Starts campaigns, of each workspace one after the other, until it is time to look again; answers whether it is. Where the
 * agent of one can't be asked for, the others of its workspace wait for the next turn. Throws the first fault in the end.
 */
async function startEach(
  campaigns: CampaignKey[],
  start: (campaign: CampaignKey) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  const lookAgainAt = performance.now() + DUE_REST_MS;
  const goesOn = () => !signal.aborted && performance.now() < lookAgainAt;
  const faults: unknown[] = [];
  const startOwn = async (own: CampaignKey[]) => {
    for (const campaign of own) if (goesOn()) await start(campaign);
  };
  const workspaces = [...new Set(campaigns.map(({ workspaceId }) => workspaceId))];
  await someAtOnce(STARTING_WORKSPACES, workspaces, (id) =>
    startOwn(campaigns.filter(({ workspaceId }) => workspaceId === id)).catch((error) => faults.push(error)),
  );
  if (faults.length > 0) throw faults[0];
  return !goesOn();
}

/** Mends counts of live calls that are wrong. */
async function recount(database: Database, log: Logger): Promise<void> {
  for (const campaign of await database.inEngine(campaignsInFlight)) {
    const difference = await database.inEngine((tx) => recountInFlight(tx, campaign));
    if (difference !== 0) log.error({ ...campaign, difference }, 'a count of live calls was wrong, and is mended');
  }
}
