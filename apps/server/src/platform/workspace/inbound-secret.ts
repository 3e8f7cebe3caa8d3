/** What a workspace's inbound secret is encrypted for. */
export const inboundSecretPlace = (workspaceId: string): string => `workspaces.inbound_secret ${workspaceId}`;
