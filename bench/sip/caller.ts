import { createUserAgent } from '@trunkline/sip';
import { settingsOf, tell } from '../child.ts';
import { percentile } from '../rounds.ts';

export interface CallerSettings {
  callee: number;
  /** The variables of a whole server in the same process, if there is one. */
  environment?: Record<string, string>;
}

/** Calls to place: so many, so many a second, each up for so long. */
export interface Calls {
  count: number;
  perSecond: number;
  holdMs: number;
}

export interface CallsFound {
  completed: number;
  mostUp: number;
  /** Of this process, from the first INVITE to the last answer to a BYE. */
  cpuMs: number;
  /** So long that took. */
  seconds: number;
  /** From the INVITE to its answer, in milliseconds. */
  answeredP99: number;
  /** What the process has grown by when most calls were up, for each of them. */
  kib: number;
}

const { callee, environment } = settingsOf<CallerSettings>();
const agent = await createUserAgent({ host: '127.0.0.1', port: 0, keepaliveSeconds: 0 });
const sdp = 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 6000 RTP/AVP 0\r\n';

async function place({ count, perSecond, holdMs }: Calls): Promise<CallsFound> {
  let [placed, up, mostUp, completed] = [0, 0, 0, 0];
  const before = process.memoryUsage().rss;
  let mostRss = before;
  const ended: Promise<unknown>[] = [];
  const answers: number[] = [];
  const [cpu, since] = [process.cpuUsage(), performance.now()];
  const one = async () => {
    const invited = performance.now();
    const call = agent.invite({ to: `sip:service@127.0.0.1:${callee}`, from: 'sip:caller@127.0.0.1', sdp });
    if (!(await call.answered)) return;
    answers.push(performance.now() - invited);
    up += 1;
    mostUp = Math.max(mostUp, up);
    await new Promise((resolve) => setTimeout(resolve, holdMs));
    const { kind } = await call.hangUp();
    up -= 1;
    if (kind === 'hung_up') completed += 1;
  };
  while (placed < count) {
    const due = Math.min(count, Math.ceil(((performance.now() - since) / 1000) * perSecond));
    for (; placed < due; placed += 1) ended.push(one());
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (placed % 100 === 0) mostRss = Math.max(mostRss, process.memoryUsage.rss());
  }
  await Promise.all(ended);
  const { user, system } = process.cpuUsage(cpu);
  return {
    ...{ completed, mostUp, cpuMs: (user + system) / 1000, kib: (mostRss - before) / 1024 / mostUp },
    ...{ seconds: (performance.now() - since) / 1000, answeredP99: percentile(answers, 0.99) },
  };
}

/** @returns the port of a whole server in this process */
async function startServer(variables: Record<string, string>): Promise<number> {
  // Not loaded where there is none: what it takes would count as the calls'.
  const [{ loadConfig }, server, { log }] = await Promise.all([
    import('../../apps/server/src/config.ts'),
    import('../../apps/server/src/server.ts'),
    import('../postgres.ts'),
  ]);
  const { url } = await server.startServer({ config: loadConfig(variables), log });
  return Number(new URL(url).port);
}

tell(environment ? await startServer(environment) : agent.port, (calls) => place(calls as Calls));
