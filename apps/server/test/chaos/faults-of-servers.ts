import { setTimeout as sleep } from 'node:timers/promises';
import type { Disorder } from './chaos-server.ts';
import type { Fault } from './faults.ts';
import { LEASE_SECONDS, type World } from './world.ts';

const HOUR_MS = 3_600_000;

/** A server by chance, which no other fault has in its hands: it is handed to one at a time. */
const taken = new WeakSet<object>();
async function withServer(
  { servers }: World,
  chance: () => number,
  act: (server: World['servers'][number]) => Promise<void>,
): Promise<void> {
  const free = servers.filter((each) => !taken.has(each));
  const server = free[Math.floor(chance() * free.length)];
  if (!server) return;
  taken.add(server);
  try {
    await act(server);
  } finally {
    taken.delete(server);
  }
}

const between = (chance: () => number, from: number, to: number) => Math.round(from + chance() * (to - from));

const restarted =
  (signal: 'SIGKILL' | 'SIGTERM'): Fault =>
  (world, chance, told) =>
    withServer(world, chance, async (server) => {
      const ms = between(chance, 0, 3000);
      told(`gets ${signal}, and starts again after ${ms} ms`, server);
      await server.signal(signal);
      await sleep(ms);
      await server.start();
    });

/** Ends a server, and starts it in the other version: a newer one adds to the tables when it starts first. */
const changeVersion: Fault = (world, chance, told) =>
  withServer(world, chance, async (server) => {
    const [signal, isNewer] = [chance() < 0.5 ? 'SIGKILL' : 'SIGTERM', server.changeVersion()] as const;
    told(`gets ${signal}, and starts again in the ${isNewer ? 'newer' : 'former'} version`, server);
    await server.signal(signal);
    await server.start();
  });

const disturbed =
  (draw: (chance: () => number) => { disorder: Disorder; what: string; ms: number }): Fault =>
  (world, chance, told) =>
    withServer(world, chance, async (server) => {
      const { disorder, what, ms } = draw(chance);
      told(`${what} for ${ms} ms`, server);
      server.disturb(disorder);
      await sleep(ms);
      server.disturb({});
    });

/** Drops packets on their way between the servers and the carrier, both ways: some by chance, or all. */
const dropPackets: Fault = async ({ network }, chance, told) => {
  const share = chance() < 0.3 ? 1 : Math.ceil(chance() * 6) / 10;
  const ms = between(chance, 1000, 4000);
  if (!network) return told('left out: no network can be made here');
  told(`${share * 100} % of the packets to and from the carrier are dropped for ${ms} ms`);
  const rule = ['FORWARD', '-m', 'statistic', '--mode', 'random', '--probability', String(share), '-j', 'DROP'];
  network.filter('-I', ...rule);
  await sleep(ms);
  network.filter('-D', ...rule);
};

/** What happens to a server's process, to its clock and its files, and between it and others. */
export const serverFaults = {
  kill: restarted('SIGKILL'),
  drain: restarted('SIGTERM'),
  stop: (world, chance, told) =>
    withServer(world, chance, async (server) => {
      const ms = between(chance, 500, LEASE_SECONDS * 1600);
      told(`is frozen for ${ms} ms`, server);
      await server.signal('SIGSTOP');
      try {
        await sleep(ms);
      } finally {
        await server.signal('SIGCONT');
      }
    }),
  clock: disturbed((chance) => {
    const hours = Math.round((chance() < 0.5 ? -1 : 1) * (1 + chance() * 11));
    return {
      disorder: { aheadMs: hours * HOUR_MS },
      what: `has a clock that is ${hours} h off`,
      ms: between(chance, 1000, 4000),
    };
  }),
  provider: disturbed((chance) => {
    const share = () => Math.round(chance() * 5) / 10;
    const provider = {
      loseAnswer: share(),
      loseRequest: share(),
      loseEnd: chance() < 0.3 ? 0.3 : 0,
      repeat: share(),
      delay: share(),
    };
    const what = `has a provider that loses and repeats, ${JSON.stringify(provider)},`;
    return { disorder: { provider }, what, ms: between(chance, 2000, 5000) };
  }),
  thread: disturbed(() => ({ disorder: { endsThread: true }, what: 'loses a thread, and nothing else', ms: 500 })),
  packets: dropPackets,
  store: disturbed((chance) => ({
    ...{ disorder: { storeIsFull: true }, what: 'has no room for files' },
    ms: between(chance, 1000, 5000),
  })),
  resolver: async ({ names }, chance, told) => {
    const ms = between(chance, 1000, 6000);
    told(`the name server answers nobody for ${ms} ms`);
    names.beDead(true);
    await sleep(ms);
    names.beDead(false);
  },
  version: changeVersion,
} satisfies Record<string, Fault>;
