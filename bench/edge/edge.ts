import { newKey } from '../../apps/server/src/platform/api-keys/key.ts';
import { type Child, forkServer } from '../child.ts';
import { load, requestText } from '../load.ts';
import { type Effort, inTurns, median } from '../rounds.ts';
import type { Found, Row } from '../table.ts';
import { PATH, QUERY } from './answers.ts';
import type { Kind } from './server.ts';

const SIZES = {
  whole: { rounds: 7, warmUp: 40_000, requests: 15_000 },
  quick: { rounds: 1, warmUp: 8000, requests: 8000 },
};
const KINDS = ['trunkline', 'express', 'fastify'] as const satisfies Kind[];

/** CPU and requests a second of an authenticated, validated GET and POST, against bare Express and Fastify. */
export async function benchEdge(effort: Effort): Promise<Found> {
  const key = newKey('bench');
  const children = {} as Record<Kind, Child>;
  for (const kind of KINDS) children[kind] = await forkServer(new URL('./server.ts', import.meta.url), { kind, key });
  const headers = { 'X-API-Key': key };
  const body = { phoneNumbers: ['+14155550142', '+14155550143'], reason: 'Asked not to be called again' };
  const rows = [
    ...(await compare(effort, children, 'GET', requestText('GET', PATH + QUERY, headers))),
    ...(await compare(effort, children, 'POST', requestText('POST', PATH, headers, body))),
  ];
  return { rows };
}

async function compare(
  effort: Effort,
  children: Record<Kind, Child>,
  method: 'GET' | 'POST',
  request: string,
): Promise<Row[]> {
  const { rounds, warmUp, requests } = SIZES[effort];
  const turns = await inTurns(KINDS, rounds, async (kind, isWarmUp) => {
    const child = children[kind];
    const times = isWarmUp ? warmUp : requests;
    const [before, from] = [await child.cpu(), performance.now()];
    await load(child.port, request, times);
    const seconds = (performance.now() - from) / 1000;
    return { cpu: ((await child.cpu()) - before) / times, rate: times / seconds };
  });
  const peers = { express: 'bare Express', fastify: 'Fastify with schemas' };
  return (['express', 'fastify'] as const).flatMap((peer) =>
    (['cpu', 'rate'] as const).map((figure) => ({
      what: `${method}, ${figure === 'cpu' ? 'CPU a request' : 'requests'}`,
      ours: median(turns.trunkline.map((turn) => turn[figure])),
      peer: peers[peer],
      theirs: median(turns[peer].map((turn) => turn[figure])),
      unit: figure === 'cpu' ? 'µs' : '/s',
      ...(peer === 'express' && figure === 'cpu' && { aim: '≤ 1.25' }),
    })),
  );
}
