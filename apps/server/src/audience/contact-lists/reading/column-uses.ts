import type { components } from '../../../foundation/values/generated/contract.ts';
import type { Header } from './header.ts';

/** A column of a file, and what its cells become. */
export type ColumnUse = components['schemas']['ContactListPreviewColumn'];

/** Each column of a file, in its order, and what it is read as. */
export const columnUses = (header: Header): ColumnUse[] =>
  header.columns.map((name, at) => ({ name, use: useOf(header, at) }));

function useOf({ phones, names, timezones, doNotCall, consent }: Header, at: number): ColumnUse['use'] {
  if (phones.includes(at)) return 'phone';
  if (doNotCall.includes(at)) return 'do_not_call';
  if (names.includes(at)) return 'name';
  if (timezones.includes(at)) return 'timezone';
  const part = consent.get(at);
  if (part === undefined) return 'variable';
  return part === 'given' ? 'consent' : `consent_${part}`;
}
