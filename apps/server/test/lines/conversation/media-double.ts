import { MediaFault, NoMediaRoomError } from '@trunkline/media';
import type { StreamEnd } from '../../../src/lines/media/agent-end.ts';
import type { CallMedia, CallMediaEvent, CallMediaStats, Media } from '../../../src/lines/media/media.ts';
import type { Cause, World } from './order.ts';

const refusals = [
  'address_refused',
  'dns_failure',
  'refused',
  'tls_failure',
  'timed_out',
  'rejected',
  'limit_reached',
] as const;
const losses = ['crashed', 'frozen', 'vanished', 'too_large'] as const;
const oneOf = <T>(random: () => number, all: readonly T[]): T => all[Math.floor(random() * all.length)]!;

/** A media plane whose threads answer, fail and die by chance. */
export function soundOf(world: World): {
  media: Media;
  stats: () => CallMediaStats | undefined;
  acts: () => { name: string; run: () => void }[];
} {
  const { random, open } = world;
  let tell: (event: CallMediaEvent) => void = () => {};
  let state: 'none' | 'open' | 'lost' | 'closed' = 'none';
  let agent: 'none' | 'there' | 'gone' = 'none';
  let isAnswered = false;
  let isHeard = false;
  let stats: CallMediaStats | undefined;
  const close = (as: 'lost' | 'closed') => {
    if (state !== 'open') return;
    state = as;
    open.sockets -= 1;
    if (agent === 'there') open.streams -= 1;
    agent = 'gone';
  };
  const asked = <T>(name: string, answer: () => T, failsWith = 0.05): Promise<T> =>
    new Promise((resolve, reject) => {
      const fails = random() < failsWith;
      world.later(`${name}${fails ? ' fails' : ''}`, () => {
        if (state !== 'open' || fails) reject(new MediaFault('lost', undefined));
        else resolve(answer());
      });
    });
  const isSpeaking = () => {
    if (state !== 'open' || agent !== 'there') return;
    isHeard = true;
    if (!world.isEnding()) world.counts.heard += 1;
    tell({ type: 'voice_heard' });
  };
  const speaks = () => {
    if (isAnswered && agent === 'there' && random() >= 0.3) world.later('the agent is heard', isSpeaking);
  };
  const agentEnds = (cause: Cause, reason: StreamEnd['reason']) => () => {
    agent = 'gone';
    open.streams -= 1;
    world.because(cause, reason);
    tell({ type: 'voice_ended', end: { reason } });
  };
  const handle = {
    rtpPort: 10_000,
    setStream: async () => {},
    answer: () =>
      asked('sound begins', () => {
        isAnswered = true;
        speaks();
      }).catch((error) => {
        world.because('media', 'media_lost');
        throw error;
      }),
    speak: () =>
      asked('the agent answers', () => {
        if (random() < 0.2) return { connected: false, reason: oneOf(random, refusals), text: 'no' };
        agent = 'there';
        open.streams += 1;
        // What the agent does may be known before it is known that it is there.
        const haste = random();
        if (haste < 0.05) agentEnds('agent', 'crashed')();
        else if (haste < 0.1 && isAnswered) isSpeaking();
        else speaks();
        return { connected: true } as const;
      }).catch((error) => {
        world.because('agent', 'media_lost');
        throw error;
      }),
    digit: async () => {
      world.counts.passedOn += 1;
    },
    close: () =>
      asked(
        'sound is closed',
        () => {
          const isThere = agent === 'there';
          close('closed');
          stats = {
            ...{ packetsReceived: 1, packetsLost: 0, packetsSent: 1, packetsLostByPeer: undefined, codec: 'PCMU' },
            ...{ remoteAddress: undefined, encryption: undefined },
            ...{ packetsRefused: 0, packetsUndeciphered: 0, malformedPackets: 0 },
            ...{ soundLeftOutMs: 0, voice: { framesMissed: 2 } },
            calleeSpoke: isAnswered && random() < 0.5,
            firstSoundMs: isHeard ? 300 : undefined,
            ...(isThere && { voiceEnd: { reason: random() < 0.8 ? 'call_ended' : 'crashed' } }),
          };
          return stats;
        },
        0,
      ),
  };
  return {
    media: {
      openCall: ({ onEvent }: { onEvent: (event: CallMediaEvent) => void }) => {
        tell = onEvent;
        return new Promise<CallMedia>((resolve, reject) => {
          const fails = random() < 0.08;
          world.later(fails ? 'no port is free' : 'sockets open', () => {
            if (fails) return reject(new NoMediaRoomError('full'));
            state = 'open';
            open.sockets += 1;
            resolve(handle as unknown as CallMedia);
          });
        });
      },
    } as unknown as Media,
    stats: () => stats,
    acts: () => {
      if (state !== 'open') return [];
      const lost = () => {
        world.because('media', 'media_lost');
        close('lost');
        tell({ type: 'media_lost' });
      };
      const silent = () => {
        world.because('silent');
        tell({ type: 'no_media', heardBefore: true });
      };
      return [
        { name: 'the thread of its sound dies', run: lost },
        ...(isAnswered ? [{ name: 'nothing is heard', run: silent }] : []),
        ...(agent === 'there'
          ? [
              {
                name: 'the agent hangs up',
                run: agentEnds('agent_hung_up', 'hung_up'),
              },
              {
                name: 'the agent is lost',
                run: agentEnds('agent_lost', oneOf(random, losses)),
              },
              ...(isAnswered
                ? [
                    { name: 'the agent is mute', run: agentEnds('agent_lost', 'mute') },
                    { name: 'both are silent', run: agentEnds('agent_silent', 'silence') },
                  ]
                : []),
            ]
          : []),
      ];
    },
  };
}
