import { reasonOf } from '../../foundation/database/wait-for-start.ts';

/**
 * What a check has found, in a line: `mend` where calls fail or will fail until somebody acts, `note` where it depends on
 * what is wanted.
 */
export interface Finding {
  state: 'ok' | 'note' | 'mend';
  subject: string;
  text: string;
}

const found =
  (state: Finding['state']) =>
  (subject: string, text: string): Finding => ({ state, subject, text });

export const ok = found('ok');
export const note = found('note');
export const mend = found('mend');

/** A finding as it is printed. */
export const lineOf = ({ state, subject, text }: Finding): string =>
  `${state.padEnd(5)} ${subject.padEnd(9)} ${text.replaceAll(/\s+/g, ' ')}\n`;

/** What something failed with, at its root, without a full stop. */
export function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? whyOf(error.cause) : reasonOf(error).replace(/\.$/, '');
}
