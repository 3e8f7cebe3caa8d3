/** Whom a key stands for. */
export interface Principal {
  /** The key's UUID, or that of what stands in its place. */
  keyId: string;
  /** The SHA-256 of the key, in hex. */
  hash: string;
  /** The workspace's UUID. */
  workspaceId: string;
  permissions: readonly string[];
  /** UUID of the call whose token was sent in the place of a key: what is about this call is all that it may. */
  callId?: string;
  /** UUID of the session whose cookie was sent in the place of a key. */
  sessionId?: string;
  /** UUID of the member that the session stands for, if that is no key: `keyId` is the same then. */
  memberId?: string;
  /** Set where the operation asks for no key: then `keyId` is the client's address. */
  isStranger?: true;
  /** Set of whoever runs the server, who is of no workspace. */
  isOperator?: true;
}

/** Finds out whether a key is that of whoever runs the server. */
export type AuthenticateOperator = (key: string) => Principal | undefined;

/** Finds whom an `X-API-Key` stands for, a key or a call's token; nothing if it is unknown, revoked or expired. Throws `unavailable`. */
export type Authenticate = (key: string) => Found;

/** Finds whose session a cookie's secret is of; nothing if it is unknown or has ended. Throws `unavailable`. */
export type AuthenticateSession = (secret: string) => Found;

/** Finds who opens a path with a token, asked anew at each call; nothing where it doesn't open it. */
export type OpenStream = (token: string, path: string) => (() => Found) | undefined;

type Found = Principal | undefined | Promise<Principal | undefined>;
