import type { components } from '@trunkline/client/schema';
import type { TestServer } from '../../server.ts';

export type Sound = components['schemas']['Sound'];

export const sounds = '/v1/sounds';

/** A body of these files, each a part of this name. */
export function formWith(files: Record<string, Uint8Array>, part = 'file'): FormData {
  const form = new FormData();
  for (const [name, content] of Object.entries(files)) form.append(part, new Blob([Buffer.from(content)]), name);
  return form;
}

/** Sends such a body as it is. */
export const sendSound = (server: TestServer, body: FormData, headers: Record<string, string> = {}) =>
  fetch(server.url + sounds, { method: 'POST', headers: { 'X-API-Key': server.apiKey, ...headers }, body });

export async function uploadSound(server: TestServer, name: string, file: Uint8Array): Promise<Sound> {
  const response = await sendSound(server, formWith({ [name]: file }));
  if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
  return ((await response.json()) as { data: Sound }).data;
}

export async function readSound(server: TestServer, soundId: string): Promise<Sound> {
  const { data, error } = await server.client.GET(`${sounds}/{soundId}`, { params: { path: { soundId } } });
  if (!data) throw new Error(JSON.stringify(error));
  return data.data;
}
