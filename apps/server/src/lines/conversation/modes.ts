import assert from 'node:assert';

/** What each mode of a conversation may change to. */
export const modes = {
  /** A callee is to be called: where it is, and sockets for its sound, are looked for. Nothing was sent. */
  opening: ['placing', 'withdrawn', 'discarding'],
  /** It was asked to end meanwhile, and nothing will be sent. */
  withdrawn: ['closing', 'discarding'],
  /** The call is kept for other processes, and leaves as soon as it is. */
  placing: ['dialing', 'ending', 'closing', 'discarding'],
  /** It may have left, and the far side may ring. */
  dialing: ['ringing', 'joining_early', 'answered', 'ending', 'closing'],
  /** The far side rings; the voice waits for the answer. */
  ringing: ['answered', 'ending', 'closing'],
  /** The far side rings, and the voice is being connected. */
  joining_early: ['joined_early', 'joining', 'ending', 'closing'],
  /** The far side rings, and the voice is there. */
  joined_early: ['talking', 'ending', 'closing'],
  /** A caller hears it ring: it is kept, and sockets for its sound are opened. */
  arriving: ['admitting', 'ending', 'closing'],
  /** A caller hears it ring until the voice is there. */
  admitting: ['answering', 'ending', 'closing'],
  /** The caller is answered, and has not said yet that it knows. */
  answering: ['talking', 'ending', 'closing'],
  /** The far side has answered; how sound is sent is being agreed on. */
  answered: ['joining', 'ending', 'closing'],
  /** Sound flows; the voice is being connected. */
  joining: ['talking', 'ending', 'closing'],
  talking: ['ending', 'closing'],
  /** The leg was asked to end: by CANCEL, BYE, or a refusal. */
  ending: ['closing'],
  /** The leg has ended; its sound is being closed, and the end is told then. */
  closing: ['over'],
  /** Nothing was sent, and nothing will be; its sound is being closed, and whoever placed it is told then. */
  discarding: ['discarded'],
  over: [],
  discarded: [],
} as const satisfies Record<string, readonly string[]>;

/** Those in which the far side can be sent digits. */
export const takesDigits: ReadonlySet<string> = new Set<keyof typeof modes>(['joining', 'talking']);

export type Mode = keyof typeof modes;
export type Modes = Readonly<Record<Mode, readonly Mode[]>>;

/** Fails where the table doesn't know the move. @returns the mode that it comes to */
export function moved(table: Modes, from: Mode, to: Mode): Mode {
  assert(table[from].includes(to), `A conversation can not move from ${from} to ${to}.`);
  return to;
}
