import { pino } from 'pino';
import { Conversation } from '../../../src/lines/conversation/conversation.ts';
import type { Input } from '../../../src/lines/conversation/decide.ts';
import type { EndedCall } from '../../../src/lines/conversation/leg.ts';
import type { Voice } from '../../../src/lines/conversation/voice.ts';
import type { AgentEndReason } from '../../../src/lines/media/agent-end.ts';
import type { CallMediaStats } from '../../../src/lines/media/media.ts';
import type { CallEvent, PlaceResult } from '../../../src/lines/telephony/call-gateway.ts';
import { chances } from '../../chances.ts';
import { type FarSide, farSide } from './far-side.ts';
import { soundOf } from './media-double.ts';

/** What may happen next in an order: one of them does, by chance. */
export interface World {
  readonly random: () => number;
  /** Something that happens once, some time. */
  later(name: string, run: () => void, weight?: number): void;
  /** Notes why we end the call, the first time. @param reason how its agent ended, if that is why */
  because(cause: Cause, reason?: AgentEndReason): void;
  /** What is open and must be closed at the end. */
  readonly open: { sockets: number; streams: number; timers: number; rows: number };
  /** Whether the call is ending: what happens then is told to nobody. */
  isEnding(): boolean;
  /** What has happened before that: keys that were pressed, those that the voice was told of, and agents that were heard. */
  readonly counts: { pressed: number; passedOn: number; heard: number };
  readonly story: string[];
}

/** Why we end a call. */
export type Cause =
  | 'asked'
  | 'limit'
  | 'agent'
  | 'agent_hung_up'
  | 'agent_lost'
  | 'agent_silent'
  | 'media'
  | 'silent'
  | 'far_unusable'
  | 'not_ours'
  | 'given_up';

export interface Order {
  far: 'callee' | 'caller';
  joinsAt: 'ringing' | 'answered';
  inputs: Input[];
  events: CallEvent[];
  ends: (EndedCall | undefined)[];
  result: PlaceResult | 'failed' | undefined;
  /** Why we ended it, and whether the far side had answered then. */
  cause: { why: Cause; wasAnswered: boolean; reason: AgentEndReason | undefined } | undefined;
  /** Whether its agent was asked to join, and what was counted as its sound was closed. */
  isAsked: boolean;
  stats: CallMediaStats | undefined;
  farSide: FarSide;
  open: World['open'];
  counts: World['counts'];
  /** Whether it had a cause to end, and its leg was not asked to. */
  isNeglected: boolean;
  story: string[];
}

const log = pino({ level: 'silent' });
const MOST_STEPS = 60;

/** One conversation, to whose leg, voice and sound everything happens by chance. */
export async function runOrder(seed: number): Promise<Order> {
  const random = chances(seed);
  const story: string[] = [];
  const open = { sockets: 0, streams: 0, timers: 0, rows: 0 };
  const counts = { pressed: 0, passedOn: 0, heard: 0 };
  let isNeglected = false;
  const pending: { name: string; run: () => void; weight: number }[] = [];
  let cause: Order['cause'];
  let now = 0;
  const world: World = {
    random,
    open,
    counts,
    story,
    isEnding: () => leg.isEndAsked() || leg.ended() !== undefined,
    later: (name, run, weight = 1) => void pending.push({ name, run, weight }),
    because: (why, reason) => {
      if (!leg.ended()) cause ??= { why, wasAnswered: leg.wasAnswered(), reason };
    },
  };
  const far = random() < 0.6 ? 'callee' : 'caller';
  const joinsAt = random() < 0.5 ? 'ringing' : 'answered';
  const sound = soundOf(world);
  const voice: Voice = {
    agentId: 'anna',
    joinsAt,
    join: async (joined) => {
      isAsked = true;
      const found = await joined.speak('agent', {} as never);
      if (found.connected) return undefined;
      world.because('agent', found.reason);
      return { reason: found.reason, text: found.text };
    },
  };
  let isAsked = false;
  const hasVoice = random() > 0.03;
  const events: CallEvent[] = [];
  const ends: Order['ends'] = [];
  let leg!: FarSide;
  const conversation = new Conversation(
    {
      log,
      media: sound.media,
      serve: async () => undefined,
      clock: { now: () => new Date(now) },
      timers: {
        after: (ms, run) => {
          open.timers += 1;
          let isSet = true;
          const clear = () => {
            if (isSet) open.timers -= 1;
            isSet = false;
          };
          const isLimit = ms !== 1000;
          const pass = () => {
            if (!isSet) return;
            clear();
            if (isLimit) world.because('limit');
            run();
          };
          if (isLimit) world.later('the longest talk is over', pass, 0.1);
          else world.later('a second passes', pass);
          return clear;
        },
      },
      recorder: { pathOf: () => '/recording', finish: async () => {} },
      emit: (event) => {
        events.push(event);
        if (random() < 0.01) throw new Error('a listener fails');
      },
      onOver: (over, ended) => {
        ends.push(ended);
        if (ended) void over.leg.keepEnd(ended);
      },
    },
    {
      roomId: 'room',
      workspaceId: 'ws',
      voice: hasVoice ? voice : undefined,
      maxCallSeconds: 60,
      recording: random() < 0.3,
    },
    (tell) => {
      leg = farSide(world, far, tell);
      return leg;
    },
  );
  const inputs: Input[] = [];
  const tell = conversation.tell.bind(conversation);
  conversation.tell = (input) => {
    inputs.push(input);
    tell(input);
  };
  let result: Order['result'];
  void conversation.begin().then(
    (answer) => (result = answer),
    () => (result = 'failed'),
  );
  if (!hasVoice) {
    world.because('agent');
    await settled();
  }
  const asked = () => {
    world.because('asked');
    conversation.end();
  };
  const acts = () => [
    ...pending.map(({ name, weight }, index) => ({ name, run: () => pending.splice(index, 1)[0]!.run(), weight })),
    ...leg.acts(),
    ...sound.acts().map((act) => ({ ...act, weight: 0.04 })),
    { name: 'it is asked to end', run: asked, weight: 0.03 },
    { name: 'the user agent stops', run: () => leg.stop(), weight: 0.02 },
  ];
  for (let step = 0; step < MOST_STEPS && ends.length === 0; step += 1) {
    now += random() * 4000;
    await act(acts(), random, story);
    isNeglected ||= cause !== undefined && !leg.ended() && !leg.isIdle() && !leg.isEndAsked();
  }
  const rest = async () => {
    while (pending.length > 0) await act(acts().slice(0, pending.length), random, story);
  };
  // The server stops: it ends what it holds, or its user agent does.
  if (leg.isIdle() || random() < 0.5) asked();
  else leg.stop();
  await rest();
  leg.stop();
  await rest();
  await settled();
  return {
    far,
    joinsAt,
    inputs,
    events,
    ends,
    result,
    cause,
    isAsked,
    stats: sound.stats(),
    farSide: leg,
    open,
    counts,
    isNeglected,
    story,
  };
}

async function act(
  acts: { name: string; run: () => void; weight: number }[],
  random: () => number,
  story: string[],
): Promise<void> {
  let at = random() * acts.reduce((sum, { weight }) => sum + weight, 0);
  for (const { name, run, weight } of acts) {
    at -= weight;
    if (at > 0) continue;
    story.push(name);
    run();
    break;
  }
  await settled();
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
