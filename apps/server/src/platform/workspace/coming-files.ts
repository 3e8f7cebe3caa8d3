import type { Registry } from 'prom-client';
import { measureSlots } from '../../foundation/observe/slot-metrics.ts';
import { Shares } from '../../foundation/values/limiter.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';

/** How many requests bring files to a process at a time; one workspace alone has half of them. */
const MOST_REQUESTS = 1000;

/** What brings files to this process. Until a row counts them, their bytes count here. */
export interface ComingFiles {
  /**
   * Counts a request until it leaves.
   * @param room how many bytes more its workspace may keep, as its rows say now
   * @throws `rate_limited` where the workspace has its share of such requests, `unavailable` where the process has no room
   */
  enter(workspaceId: string, room: number): Coming;
}

/** A request that brings files. */
export interface Coming {
  /** How many bytes may still come of its workspace. */
  left(): number;
  /** Passes on content while all that comes of the workspace has room. Throws what `refusal` makes where it has none. */
  counted(content: AsyncIterable<Uint8Array>, refusal: () => ServiceError): AsyncGenerator<Uint8Array>;
  /** It is over. @param isCounted whether rows count now what it has brought */
  leave(isCounted: boolean): void;
}

/** What comes of a workspace. */
interface Account {
  room: number;
  bytes: number;
}

export function createComingFiles(registry: Registry): ComingFiles {
  const slots = new Shares(MOST_REQUESTS);
  measureSlots(registry, 'coming_files', slots);
  const accounts = new Map<string, Account>();
  return {
    enter(workspaceId, room) {
      if (!slots.take(workspaceId)) throw slots.held(workspaceId) > 0 ? tooMany() : full();
      const account = accounts.get(workspaceId) ?? { room, bytes: 0 };
      account.room = room;
      accounts.set(workspaceId, account);
      let bytes = 0;
      return {
        left: () => account.room - account.bytes,
        async *counted(content, refusal) {
          for await (const chunk of content) {
            bytes += chunk.length;
            account.bytes += chunk.length;
            if (account.bytes > account.room) throw refusal();
            yield chunk;
          }
        },
        leave(isCounted) {
          account.bytes -= bytes;
          if (isCounted) account.room -= bytes;
          slots.giveBack(workspaceId);
          if (slots.held(workspaceId) === 0) accounts.delete(workspaceId);
        },
      };
    },
  };
}

const options = { headers: { 'Retry-After': '5' } };
const full = () => new ServiceError('unavailable', 'The server has no room for more files now.', options);
const tooMany = () =>
  new ServiceError(
    'rate_limited',
    'This workspace sends as many files as it can now. Wait for one to be there.',
    options,
  );
