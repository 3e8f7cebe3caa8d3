import type { Speech } from '@trunkline/media';

/** A message as a sound of the workspace, or as a text that is spoken. */
export type MessageWords =
  | { soundId: string }
  /** @param isKept whether it is the same for everybody */
  | { text: string; language: string; voice?: string | undefined; isKept: boolean };

/** The sound of a message, which is made while the phone rings and the greeting is heard. */
export class MessageSound {
  /** µ-law; nothing while it isn't there. */
  ulaw: Buffer | undefined;

  constructor(words: MessageWords, { ask }: Pick<Speech, 'ask'>) {
    const what = 'soundId' in words ? { type: 'sound', ...words } : { type: 'speech', ...words };
    ask(what).then(
      (shared) => {
        this.ulaw = Buffer.from(shared as SharedArrayBuffer);
      },
      () => {},
    );
  }
}
