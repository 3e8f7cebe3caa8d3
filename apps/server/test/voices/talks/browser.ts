import { once } from 'node:events';
import { PcmToUlaw } from '@trunkline/media';
import { WebSocket } from 'ws';
import type { TestServer } from '../../server.ts';

/** A talk with an agent, that nobody has opened yet. @returns its URL */
export async function urlOfTalk(
  server: TestServer,
  agentId: string,
  variables: Record<string, string> = {},
): Promise<string> {
  const made = await server.client.POST('/v1/agents/{agentId}/talk', {
    params: { path: { agentId } },
    body: { variables },
  });
  return made.data!.data.url.replace(/^ws:\/\/[^/]+/, server.url.replace(/^http/, 'ws'));
}

/** A browser: what it was told, and what it heard. */
export async function browse(url: string, origin?: string) {
  const socket = new WebSocket(url, { ...(origin !== undefined && { origin }) });
  const told: { event: string; [field: string]: unknown }[] = [];
  const heard: Buffer[] = [];
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) heard.push(data);
    else told.push(JSON.parse(String(data)));
  });
  await once(socket, 'open');
  const ulaw = () => new PcmToUlaw(16_000).push(Buffer.concat(heard));
  return { socket, told, ulaw };
}
