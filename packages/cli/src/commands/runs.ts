import type { components } from '@trunkline/client';
import type { Command } from 'commander';
import type { Second } from '../client-types.ts';
import { exitCodes, Fault, Interrupted } from '../faults.ts';
import { readData } from '../flags.ts';
import { type Client, type Context, group } from '../group.ts';
import type { Io } from '../io.ts';
import { plain } from '../text.ts';

type Run = components['schemas']['WorkflowRun'];

const EXAMPLE = 'run_…';
const WORKFLOW = 'wf_…';

export function addRuns(program: Command, io: Io): void {
  const runs = group(program, io, 'runs', 'Runs of workflows', EXAMPLE);
  runs.list(
    (client: Client) => client.workflowRuns.listRuns,
    [
      ['id', 'id'],
      ['status', 'status'],
      ['at', ({ currentNodeTitle, currentNodeId }) => currentNodeTitle ?? currentNodeId],
      ['workflow', ({ automationName, automationId }) => automationName ?? automationId],
      ['wakes', 'wakeAt'],
      ['changed', 'updatedAt'],
    ],
    { status: ['text', 'running, waiting_call, failed, …'] },
  );
  runs.one('show <id>', 'Show a run, with each step', (client, id = '') => client.workflowRuns.getRun(id));
  addStart(runs);
  const follow = { usage: 'follow <id>', says: 'Follow a run to its end', example: `follow ${EXAMPLE}` };
  runs.add(follow, followRun);
  const wake = {
    usage: 'wake <workflow> <keys...>',
    says: 'Wake sleeping runs by their concurrency keys',
    example: `wake ${WORKFLOW} patient-17`,
  };
  runs.add(wake, async ({ client, screen }, workflow = '', ...concurrencyKeys) => {
    const { woken } = await client.workflows.wakeRuns(workflow, { concurrencyKeys });
    if (screen.json) return screen.record({ woken });
    screen.say(woken.length > 0 ? `Woken: ${woken.join(', ')}` : 'None of them sleeps.');
  });
  runs.one('cancel <id>', 'End a run', (client, id = '') => client.workflowRuns.cancelRun(id));
}

function addStart(runs: ReturnType<typeof group>): void {
  const about = {
    usage: 'start <workflow>',
    says: 'Start a run. The same key starts it once, however often it is sent',
    example: `start ${WORKFLOW} \\\n    --key appointment-4711 --set phone_number=+14155550100`,
  };
  runs
    .add(about, async ({ client, io, screen, options }, workflow = '') => {
      const { key, concurrencyKey } = options as Record<string, string>;
      const values = (options['set'] ?? []) as string[];
      const context = { ...(await readData(io, options['data'])), ...Object.fromEntries(values.map(assignment)) };
      const keys = { idempotencyKey: key!, ...(concurrencyKey && { concurrencyKey }) };
      const body = { context } as Second<'workflows', 'startRun'>;
      screen.record(await client.workflows.startRun(workflow, body, keys));
    })
    .requiredOption('--key <text>', 'names the event that starts it (Idempotency-Key)')
    .option('--concurrency-key <text>', 'runs with the same one follow each other')
    .option('--set <name=value...>', 'a value of its context')
    .option('--data <file>', 'the context as JSON; - reads standard input');
}

function assignment(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new Fault(`--set takes name=value, not ${text}.`, { exitCode: exitCodes.usage });
  return [text.slice(0, at), text.slice(at + 1)];
}

async function followRun({ client, io, screen }: Context, id = ''): Promise<void> {
  let last: Run | undefined;
  try {
    for await (const event of client.workflowRuns.streamRunEvents(id, { signal: io.signal })) {
      last = event.data;
      screen.event(event, stateOf(last));
    }
  } catch (error) {
    if (!io.signal.aborted) throw error;
    throw new Interrupted(`Stopped following. The run goes on; end it: trunkline runs cancel ${id}`);
  }
  if (last?.status === 'failed') throw new Fault(`The run has failed: ${last.error?.message ?? 'no reason is given'}`);
}

function stateOf({ status, updatedAt, currentNodeTitle, currentNodeId, wakeAt }: Run): string {
  const node = currentNodeTitle ?? currentNodeId;
  return `${plain(updatedAt)}  ${status}${node ? ` at ${plain(node)}` : ''}${wakeAt ? `, wakes ${plain(wakeAt)}` : ''}`;
}
