import { expect, test } from 'vitest';
import type { UploadEvent } from '../src/index.ts';
import { json, standIn, stream } from './stand-in.ts';

const frame = (eventId: string, status: string) =>
  `id: ${eventId}\nevent: upload.${status}\ndata: ${JSON.stringify({ eventId, eventType: `upload.${status}`, data: { status } })}\n\n`;
const done = (response: { writeHead(status: number): { end(): void } }) => response.writeHead(204).end();

async function statusesOf(events: AsyncIterable<UploadEvent>): Promise<string[]> {
  const statuses: string[] = [];
  for await (const { data } of events) statuses.push(data.status);
  return statuses;
}

test('a stream is read to its end, across chunks and comments', async () => {
  const text = `: ping\n\n${frame('1', 'uploaded')}${frame('2', 'validating')}${frame('3', 'validated')}`;
  const { client, received } = await standIn(async (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const part of text.match(/[\s\S]{1,40}/g)!) {
      response.write(part);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    response.end();
  });
  expect(await statusesOf(client.contactLists.streamUploadEvents('list_1', 'upl_1'))).toEqual([
    'uploaded',
    'validating',
    'validated',
  ]);
  expect(received.map(({ url }) => url)).toEqual(['/v1/calls/contact-lists/list_1/uploads/upl_1/events']);
  expect(received[0]!.headers).not.toHaveProperty('last-event-id');
});

test('a cut stream goes on after the last event that came', async () => {
  const { client, received } = await standIn(
    stream(frame('1', 'uploaded') + frame('2', 'validating').slice(0, 30), { cut: true }),
    stream(frame('2', 'validating')),
    stream(frame('3', 'validated')),
  );
  expect(await statusesOf(client.contactLists.streamUploadEvents('list_1', 'upl_1'))).toEqual([
    'uploaded',
    'validating',
    'validated',
  ]);
  expect(received.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '1', '2']);
});

test('retry: says how long to wait before coming back', async () => {
  const { client } = await standIn(stream(`${frame('1', 'uploaded')}retry: 700\n\n`), stream(frame('2', 'failed')));
  const begun = performance.now();
  await statusesOf(client.contactLists.streamUploadEvents('list_1', 'upl_1'));
  expect(performance.now() - begun).toBeGreaterThanOrEqual(690);
});

test('204 ends a stream that names its last event', async () => {
  const { client, received } = await standIn(done);
  expect(await statusesOf(client.contactLists.streamUploadEvents('list_1', 'upl_1', { lastEventId: '9' }))).toEqual([]);
  expect(received.map(({ headers }) => headers['last-event-id'])).toEqual(['9']);
});

test('a server that is away for a moment is asked again, one that refuses is not', async () => {
  const away = json(503, { code: 'unavailable', error: 'Restarting.' }, { 'Retry-After': '0' });
  const { client, received } = await standIn(away, json(404, { code: 'not_found', error: 'No such upload.' }));
  await expect(statusesOf(client.contactLists.streamUploadEvents('list_1', 'upl_1'))).rejects.toMatchObject({
    code: 'not_found',
  });
  expect(received).toHaveLength(2);
});

test('an abort ends the loop and the connection', async () => {
  let closed = false;
  const { client } = await standIn((response) => {
    response.on('close', () => {
      closed = true;
    });
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(frame('1', 'uploaded'));
  });
  const controller = new AbortController();
  const events = client.contactLists.streamUploadEvents('list_1', 'upl_1', { signal: controller.signal });
  await events.next();
  controller.abort(new Error('enough'));
  await expect(events.next()).rejects.toThrow('enough');
  await expect.poll(() => closed).toBe(true);
});

test('a loop that breaks closes the connection', async () => {
  let closed = false;
  const { client } = await standIn((response) => {
    response.on('close', () => {
      closed = true;
    });
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(frame('1', 'uploaded'));
  });
  for await (const _ of client.contactLists.streamUploadEvents('list_1', 'upl_1')) break;
  await expect.poll(() => closed).toBe(true);
});

test("a campaign's stream ends with the campaign", async () => {
  const event = (eventId: string, status: string) =>
    `id: ${eventId}\ndata: ${JSON.stringify({ eventId, eventType: `campaign.${status}`, data: { campaign: { status } } })}\n\n`;
  const { client, received } = await standIn(stream(event('1', 'running') + event('2', 'completed')));
  const seen: string[] = [];
  for await (const { data } of client.campaigns.streamEvents('cmp_1')) seen.push(data.campaign.status);
  expect(seen).toEqual(['running', 'completed']);
  expect(received).toHaveLength(1);
});
