import { createUserAgent, type IncomingCall, SdpSession, type UserAgentOptions } from '@trunkline/sip';
import { type Peer, startPeer } from '../media/peer.ts';

/** What a callee does, by the number that is called as it was dialled. */
export type Callee = (call: IncomingCall, answer: () => Promise<Peer>) => void | Promise<void>;

/** A carrier on loopback, with callees behind it. */
export interface Carrier {
  port: number;
  /** The calls that have come, by the user of their Request-URI. */
  calls: { user: string; call: IncomingCall }[];
  /** The telephones that were answered. */
  phones: Peer[];
  userAgent: Awaited<ReturnType<typeof createUserAgent>>;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';

/** @param callees by their numbers as they are dialled, or what finds one; another one is 404 */
export async function startCarrier(
  callees: Record<string, Callee> | ((user: string) => Callee | undefined),
  options: Partial<UserAgentOptions> = {},
): Promise<Carrier> {
  const calls: Carrier['calls'] = [];
  const phones: Peer[] = [];
  const userAgent = await createUserAgent({
    host: HOST,
    port: 0,
    onInvite: (call) => {
      const user = decodeURIComponent(/^sips?:([^@]*)@/.exec(call.requestUri)?.[1] ?? '');
      calls.push({ user, call });
      const callee = typeof callees === 'function' ? callees(user) : callees[user];
      if (!callee) return call.reject(404);
      const answer = async () => {
        const phone = await telephone(call, options.host ?? HOST);
        phones.push(phone);
        return phone;
      };
      void callee(call, answer);
    },
    ...options,
  });
  return {
    port: userAgent.port,
    calls,
    phones,
    userAgent,
    stop: async () => {
      await userAgent.stop(0);
      for (const phone of phones) phone.close();
    },
  };
}

/** Answers a call with a telephone that hears and speaks. */
async function telephone(call: IncomingCall, address: string): Promise<Peer> {
  const far = new SdpSession({ address, port: 9, codecs: ['PCMU'] }).answer(call.sdp!);
  if (far.refused) throw new Error(far.refused.text);
  const phone = await startPeer(far.audio.remote.port, address, far.audio.remote.address);
  const own = new SdpSession({ address, port: phone.port, codecs: ['PCMU'] }).answer(call.sdp!);
  call.answer(own.answer!);
  return phone;
}
