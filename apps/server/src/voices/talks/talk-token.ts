import type { Secrets } from '../../foundation/database/secrets.ts';
import { canonicalBytes } from '../../foundation/values/canonical-base64.ts';

const PLACE = 'talk';

/** A talk that may begin. Nothing is kept of it: it is sealed in the URL that opens it. */
export interface Talk {
  /** UUID. */
  id: string;
  /** UUID. */
  workspaceId: string;
  /** As clients see it. */
  agentId: string;
  variables: Record<string, string>;
  /** In milliseconds since 1970. */
  expires: number;
}

/** @returns what stands in the URL of a talk */
export const sealTalk = (secrets: Secrets, talk: Talk): string =>
  Buffer.from(secrets.encrypt(JSON.stringify(talk), PLACE)).toString('base64url');

/** @returns nothing if this is no talk of ours */
export function openTalk(secrets: Secrets, token: string): Talk | undefined {
  try {
    return JSON.parse(secrets.decrypt(canonicalBytes(token, 'base64url')!.toString(), PLACE)) as Talk;
  } catch {
    return undefined;
  }
}
