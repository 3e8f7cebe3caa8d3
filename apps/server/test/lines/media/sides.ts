import { pcmToUlaw } from '@trunkline/media';

/** The two sides of a recording, as µ-law: the callee, the agent. */
export const sidesOf = (wav: Buffer): [callee: Buffer, agent: Buffer] => {
  const side = (at: number) =>
    Buffer.from(
      Uint8Array.from({ length: (wav.length - 44) / 4 }, (_, sample) =>
        pcmToUlaw(wav.readInt16LE(44 + sample * 4 + at)),
      ),
    );
  return [side(0), side(2)];
};
