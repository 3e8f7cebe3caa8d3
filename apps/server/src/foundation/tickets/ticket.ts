import type { Secrets } from '../database/secrets.ts';
import { canonicalBytes } from '../values/canonical-base64.ts';

/** What a URL stands for that opens one WebSocket. Nothing is kept of it: it is sealed in the URL. */
export interface Ticket {
  /** UUID: it opens once. */
  id: string;
  /** UUID. */
  workspaceId: string;
  /** In milliseconds since 1970. */
  expires: number;
}

/** @param place what it is for: one for something else opens nothing @returns what stands in the URL */
export const sealTicket = <T extends Ticket>(secrets: Secrets, place: string, ticket: T): string =>
  Buffer.from(secrets.encrypt(JSON.stringify(ticket), place)).toString('base64url');

/** @returns nothing if this is no ticket of ours for that */
export function openTicket<T extends Ticket>(secrets: Secrets, place: string, sealed: string): T | undefined {
  try {
    return JSON.parse(secrets.decrypt(canonicalBytes(sealed, 'base64url')!.toString(), place)) as T;
  } catch {
    return undefined;
  }
}
