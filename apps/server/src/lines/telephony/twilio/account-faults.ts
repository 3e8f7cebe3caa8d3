import type { AccountProvider } from '../number-market.ts';

const forms = {
  accountId: { form: /^AC[0-9a-fA-F]{32}$/, name: 'an Account SID: AC and 32 hex digits' },
  keyId: { form: /^SK[0-9a-fA-F]{32}$/, name: "an API key's SID: SK and 32 hex digits" },
  addressId: { form: /^AD[0-9a-fA-F]{32}$/, name: "an address's SID: AD and 32 hex digits" },
  bundleId: { form: /^BU[0-9a-fA-F]{32}$/, name: "a bundle's SID: BU and 32 hex digits" },
} as const;

/** What in an account can't be one of Twilio's. */
export const accountFaults: AccountProvider['faults'] = (account) =>
  (Object.keys(forms) as (keyof typeof forms)[]).flatMap((field) => {
    const [value, { form, name }] = [account[field], forms[field]];
    if (value === undefined) return field === 'accountId' ? [{ field, message: `must be given: ${name}` }] : [];
    return form.test(value) ? [] : [{ field, message: `must be ${name}` }];
  });
