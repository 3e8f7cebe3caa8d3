import { parentPort, workerData } from 'node:worker_threads';
import { createAddressGuard } from '../../foundation/outbound-http/address-guard.ts';
import { createMediaAddressJudge } from './media-address.ts';
import { MediaCall } from './media-call.ts';
import type { MediaEvent } from './media-events.ts';
import { Pacer } from './pacer.ts';
import { readUlawWav } from './read-wav.ts';
import { type Act, type Asked, type Asks, BEHIND, type Told, type WorkerSetup } from './worker-channel.ts';

/** A thread that holds the media of some calls, beside the process's own. */

const { peerAddresses, agentAddresses } = workerData as WorkerSetup;
const pacer = new Pacer();
const agentGuard = createAddressGuard(agentAddresses);
const isOpenAddress = createMediaAddressJudge(peerAddresses);
const calls = new Map<string, MediaCall>();

const tell = (told: Told) => parentPort!.postMessage(told);

async function open(id: string, options: Asks['open']['ask']): Promise<void> {
  if (pacer.isBehind())
    throw Object.assign(new Error('The thread is behind with the sound of its calls.'), { code: BEHIND });
  const emit = (event: MediaEvent) => tell({ call: id, event });
  const call = new MediaCall(options, { pacer, agentGuard, isOpenAddress, emit });
  await call.open();
  calls.set(id, call);
}

const acts: { [A in Exclude<Act, 'worstLate'>]: (call: MediaCall, ask: Asks[A]['ask']) => unknown } = {
  open: () => undefined,
  stream: (call, { stream, trusted }) => call.setStream(stream, trusted),
  answer: (call, { recordTo }) => call.answer(recordTo),
  agent: (call, connection) => call.connectAgent(connection),
  sound: async (call, { path }) => call.playSound(await readUlawWav(path)),
  digit: (call, { digit }) => call.digit(digit),
  sendDigits: (call, { digits }) => call.sendDigits(digits),
  stats: (call) => call.stats,
  close: (call) => call.close(),
};

async function answerTo({ call: id, act, ask }: Asked): Promise<unknown> {
  if (act === 'worstLate') return pacer.worstLateMs();
  if (act === 'open') return await open(id, ask as Asks['open']['ask']);
  const call = calls.get(id);
  if (!call) throw new Error(`No call ${id} is open.`);
  if (act === 'close') calls.delete(id);
  return await acts[act](call, ask as never);
}

parentPort!.on('message', (asked: Asked) => {
  answerTo(asked).then(
    (answer) => tell({ id: asked.id, answer }),
    (error: NodeJS.ErrnoException) => tell({ id: asked.id, fault: { message: error.message, code: error.code } }),
  );
});
