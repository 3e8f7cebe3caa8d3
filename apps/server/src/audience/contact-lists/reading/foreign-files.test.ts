import { expect, it } from 'vitest';
import { FOREIGN_FILES } from '../../../../test/audience/contact-lists/files/foreign-files.ts';
import { FileFault } from './file-fault.ts';
import { readContacts } from './read-contacts.ts';

it('has sixty files that other programs write', () => {
  expect(FOREIGN_FILES.length).toBeGreaterThanOrEqual(60);
});

it.each(FOREIGN_FILES)(
  'reads $name right, or says what to do',
  async ({ bytes, options, people, leftOut, refused }) => {
    async function* source() {
      yield bytes;
    }
    const read: string[] = [];
    const invalid: number[] = [];
    let fault: unknown;
    try {
      for await (const { contacts, rejected } of readContacts(source(), options)) {
        read.push(...contacts.map(({ phoneNumber, name = '' }) => `${phoneNumber} ${name}`.trim()));
        invalid.push(...rejected.map(({ row }) => row.row));
      }
    } catch (error) {
      fault = error;
    }
    if (refused) {
      expect(fault).toBeInstanceOf(FileFault);
      expect((fault as FileFault).message).toMatch(refused);
    } else {
      expect(fault).toBeUndefined();
      expect(read).toEqual(people);
      expect(invalid).toEqual(leftOut ?? []);
    }
  },
);
