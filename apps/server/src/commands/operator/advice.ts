import { toId } from '../../foundation/values/ids.ts';
import { checkFaults } from '../../lines/trunks/check-faults.ts';
import { endsByCheck } from '../../lines/trunks/trunk.ts';
import type { BrakeRow } from './read-brakes.ts';

/** A line of `/readyz` begins so, and this is what to do. */
const ofLines: [line: RegExp, advice: string][] = [
  [
    /^dialing is held/,
    'Read "After a restore" in docs/operations.md, look at what the backup lacks, and then run confirm-restore.',
  ],
  [
    /^the witness|witness can/,
    'Look at the disk and the rights of WITNESS_PATH (or DATA_DIR, or the bucket). Calls go on by themselves then.',
  ],
  [/^the clock/, 'Mend the time service of whichever machine is wrong (timedatectl, chronyc tracking).'],
  [/^this process was/, 'Give the machine more CPU, or start another server.'],
  [/disk is full/, 'Make room. Nothing needs a restart.'],
  [
    /^the folder of files/,
    'Mount the disk of DATA_DIR/objects again, or give the user of the server the right to write there.',
  ],
];

/** What to do about a line of a server's `/readyz` (docs/operations.md, "When something goes wrong"). */
export const adviceForLine = (line: string): string =>
  ofLines.find(([pattern]) => pattern.test(line))?.[1] ??
  'Run `trunkline-server doctor` there, and read "When something goes wrong" in docs/operations.md.';

/** What is due in a queue for longer than this is told of, in seconds, as by the alerts of deploy/prometheus/alerts.yml. */
export const LONGEST_DUE_SECONDS = 60;
export const LONGEST_BACKGROUND_SECONDS = 900;
const DUE = ['calls', 'campaigns', 'workflow_runs', 'webhook_deliveries'];

/** What is wrong with a queue whose oldest has waited for so long; nothing while it is in time. */
export function adviceForQueue(queue: string, seconds: number): { text: string; advice: string } | undefined {
  const isDialing = DUE.includes(queue);
  if (seconds <= (isDialing ? LONGEST_DUE_SECONDS : LONGEST_BACKGROUND_SECONDS)) return undefined;
  return {
    text: `What is due in ${queue} has waited for ${Math.round(seconds)} s.`,
    advice: isDialing
      ? 'No server takes it up. Look at what servers warn of, at their leases, whether they have room, and whether the database answers. Add a server if all are full.'
      : 'Look in the log for `a background job failed`, and whether the place of files answers. Many large ones only take their time: add a server.',
  };
}

/** A sentence of what is wrong, and the rest, which says what to do. */
function parted(name: string, fault: string): { text: string; advice: string } {
  const [, what = fault, then = 'Try again.'] = /^(.*?[.:]) (.*)$/.exec(fault) ?? [];
  return { text: `${name} ${what.replace(/:$/, '.')}`, advice: then };
}

/** What is wrong where something is held back, unless somebody wants it so or it ends by itself soon. */
export function adviceForBrake({
  kind,
  resource,
  reason,
  is_batch,
}: BrakeRow): { text: string; advice: string } | undefined {
  if (kind === 'trunk_paused') {
    const name = `The trunk ${toId('trk', resource!)}`;
    if (reason === 'requested' || reason === 'unchecked') return undefined;
    if (endsByCheck(reason)) return parted(name, checkFaults[reason]);
    return { text: `${name} was paused since calls failed (${reason}).`, advice: 'Mend that, and resume it.' };
  }
  if (kind === 'agent_failing')
    return {
      text: `Calls of the agent ${resource} have failed, and nobody is called for it.`,
      advice: 'Have it tested by its workspace (`POST /v1/agents/{agentId}/test`), or run `trunkline-server doctor`.',
    };
  if (kind === 'campaign_paused' && reason !== 'budget_reached')
    return {
      text: `The ${is_batch ? `batch ${toId('bat', resource!)}` : `campaign ${toId('cmp', resource!)}`} has paused itself (${reason}).`,
      advice: 'Look at its trunk and its agent; its workspace resumes it.',
    };
  if (kind === 'webhook_disabled')
    return {
      text: `The webhook endpoint ${toId('whk', resource!)} has said that it is gone, and is sent nothing.`,
      advice: 'Tell its workspace, which enables or deletes it.',
    };
  if (kind === 'webhook_resting')
    return {
      text: `The webhook endpoint ${toId('whk', resource!)} takes nothing for now.`,
      advice:
        'If all rest, look at the way out of the servers: DNS, proxy, firewall. Events are tried again for three days.',
    };
  return undefined;
}
