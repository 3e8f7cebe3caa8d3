/** Whom a key stands for. */
export interface Principal {
  /** The key's UUID. */
  keyId: string;
  /** The workspace's UUID. */
  workspaceId: string;
  permissions: readonly string[];
}

/** Finds whom an `X-API-Key` stands for; nothing where it is unknown, revoked or expired. Throws `unavailable`. */
export type Authenticate = (key: string) => Principal | undefined | Promise<Principal | undefined>;
