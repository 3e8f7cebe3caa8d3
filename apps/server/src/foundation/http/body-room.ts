import { ServiceError } from '../values/service-error.ts';

const MEBIBYTE = 1024 * 1024;
const MOST = 64 * MEBIBYTE;
/** What a workspace has alone. Answers may take more, since what was changed is told: others lose nothing by that. */
const MOST_OF_A_WORKSPACE = MOST / 2;
/** Two of the largest bodies there are. */
const MOST_OF_A_KEY = 16 * MEBIBYTE;

/** A request, and how much room its body, or what waits of its answer, has taken. */
export interface RoomTaker {
  /** The key's UUID; empty while nobody is known. */
  keyId: string;
  /** UUID. */
  workspaceId: string;
  /** Bytes. */
  room: number;
}

/**
 * What bodies of JSON take of a process's memory, from their first byte until their request is answered, and answers, until
 * the client has taken them.
 */
export interface BodyRoom {
  /** Throws `unavailable` where answers that nobody reads take too much already. */
  refuseMore(taker: RoomTaker): void;
  /** Throws `unavailable` where all bodies, or those of the key or of its workspace, would take too much. */
  take(taker: RoomTaker, bytes: number): void;
  /** Has an answer of so many bytes stand in the place of the body. */
  keep(taker: RoomTaker, bytes: number): void;
  giveBack(taker: RoomTaker): void;
}

export function createBodyRoom(): BodyRoom {
  let taken = 0;
  const takenBy = new Map<string, number>();
  const takenOf = (holder: string) => takenBy.get(holder) ?? 0;
  const shareOf = (workspaceId: string) => Math.min(takenOf(workspaceId), MOST_OF_A_WORKSPACE);
  const count = (taker: RoomTaker, bytes: number) => {
    taken -= shareOf(taker.workspaceId);
    for (const holder of [taker.keyId, taker.workspaceId]) {
      const left = takenOf(holder) + bytes;
      if (left > 0) takenBy.set(holder, left);
      else takenBy.delete(holder);
    }
    taken += shareOf(taker.workspaceId);
    taker.room += bytes;
  };
  const refuse = (taker: RoomTaker, bytes: number) => {
    if (takenOf(taker.keyId) + bytes > MOST_OF_A_KEY) throw noRoom('of this key or member');
    // No more than it leaves to others: one workspace alone has half.
    if (takenOf(taker.workspaceId) + bytes > MOST - taken) throw noRoom('of this workspace, or of all,');
  };
  return {
    refuseMore: (taker) => refuse(taker, 0),
    take(taker, bytes) {
      refuse(taker, bytes);
      count(taker, bytes);
    },
    keep(taker, bytes) {
      if (taker.room !== bytes) count(taker, bytes - taker.room);
    },
    giveBack(taker) {
      if (taker.room > 0) count(taker, -taker.room);
    },
  };
}

const noRoom = (whose: string) =>
  new ServiceError(
    'unavailable',
    `Too many bytes of requests and answers ${whose} are under way. Try again in a moment.`,
  );
