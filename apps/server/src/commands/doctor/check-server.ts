import type { Config } from '../../config.ts';
import { type Finding, mend, note, ok, whyOf } from './finding.ts';

const ANSWER_MS = 3000;
/** What an address that listens everywhere is asked at. */
const EVERYWHERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

/** Asks the server of these settings what it says of itself, where one runs. */
export async function checkServer({ host, port }: Config): Promise<Finding[]> {
  if (port === 0) return [note('server', 'PORT is 0, any free one: a server that runs was not looked for.')];
  const at = EVERYWHERE[host] ?? (host.includes(':') ? `[${host}]` : host);
  try {
    const answer = await fetch(`http://${at}:${port}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS) });
    const [first = '', ...warnings] = (await answer.text()).trim().split('\n');
    if (answer.status === 200 && first === 'ok')
      return warnings.length === 0
        ? [ok('server', `One runs on port ${port}, and takes requests.`)]
        : warnings.map((warning) => mend('server', `The server on port ${port} warns: ${warning}.`));
    if (answer.status === 503) return [mend('server', `The server on port ${port} takes no requests: ${first}.`)];
    return [mend('server', `Something else listens on port ${port}. Stop it, or set PORT to another.`)];
  } catch (error) {
    if ((error as { cause?: NodeJS.ErrnoException }).cause?.code === 'ECONNREFUSED')
      return [note('server', `None runs on port ${port}, which is free.`)];
    return [mend('server', `What listens on ${at}, port ${port}, does not answer as a server does (${whyOf(error)}).`)];
  }
}
