import type { components } from '../../foundation/values/generated/contract.ts';
import type { ErrorDetail } from '../../foundation/values/service-error.ts';

/** The faults of a change whose lists of numbers exclude each other. */
export function contradictions({
  phoneNumberIds,
  addPhoneNumberIds = [],
  removePhoneNumberIds = [],
}: components['schemas']['UpdateNumberPool']): ErrorDetail[] {
  if (phoneNumberIds) {
    const beside = addPhoneNumberIds.length > 0 ? 'addPhoneNumberIds' : 'removePhoneNumberIds';
    const others = addPhoneNumberIds.length + removePhoneNumberIds.length;
    return others > 0 ? [{ path: `/body/${beside}`, message: 'cannot stand beside phoneNumberIds' }] : [];
  }
  const toAdd = new Set(addPhoneNumberIds);
  return removePhoneNumberIds.flatMap((id, at) =>
    toAdd.has(id) ? [{ path: `/body/removePhoneNumberIds/${at}`, message: 'stands in addPhoneNumberIds too' }] : [],
  );
}
