import { parentPort } from 'node:worker_threads';
import { MediaCall } from './media-call.ts';
import type { MediaEvent } from './media-events.ts';
import type { IsOpenAddress } from './media-plane.ts';
import { Pacer } from './pacer.ts';
import type { OpenVoices, Voices } from './voice.ts';
import { VoiceAsks } from './voice-asks.ts';
import { type Act, type Answered, type Asked, type Asks, BEHIND, type Told } from './worker-channel.ts';

/** What a thread brings of its own: a function can't be sent to it. */
export interface ServeMediaOptions<V extends Voices> {
  isOpenAddress: IsOpenAddress;
  voices: OpenVoices<V>;
}

/**
 * Makes the worker thread that calls it one that holds the media of some calls, for the `MediaPlane` that has started it.
 * @throws outside of a worker thread
 */
export function serveMedia<V extends Voices>({ isOpenAddress, voices }: ServeMediaOptions<V>): void {
  const port = parentPort;
  if (!port) throw new Error('Media are served in a worker thread.');
  const tell = (told: Told) => port.postMessage(told);
  const pacer = new Pacer(undefined, () => tell({ late: true }));
  const calls = new Map<string, MediaCall>();
  const asks = new VoiceAsks(tell);

  async function open(id: string, options: Asks['open']['ask']): Promise<void> {
    if (pacer.isBehind())
      throw Object.assign(new Error('The thread is behind with the sound of its calls.'), { code: BEHIND });
    const emit = (event: MediaEvent) => tell({ call: id, event });
    const ask = (what: unknown) => asks.ask(id, what);
    const call = new MediaCall(options, { pacer, isOpenAddress, emit, ask });
    await call.open();
    calls.set(id, call);
  }

  const acts: { [A in Exclude<Act, 'worstLate' | 'open'>]: (call: MediaCall, ask: Asks[A]['ask']) => unknown } = {
    stream: (call, { stream, trusted, networks }) => call.setStream(stream, trusted, networks),
    answer: (call, { recordTo }) => call.answer(recordTo),
    speak: (call, { kind, ask }) => call.speak((speech) => voices[kind]!(ask, speech)),
    digit: (call, { digit }) => call.digit(digit),
    listen: (call, { isHeard }) => call.listen(isHeard),
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

  port.on('message', (asked: Asked | Answered) => {
    if ('answered' in asked) return asks.answer(asked);
    answerTo(asked).then(
      (answer) => tell({ id: asked.id, answer }),
      (error: NodeJS.ErrnoException) => tell({ id: asked.id, fault: { message: error.message, code: error.code } }),
    );
  });
}
