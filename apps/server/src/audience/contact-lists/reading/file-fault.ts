/** Why a whole file cannot be imported. Bad rows never fail a file; these do (contact-files.md, "Step by step"). */
export type FileFaultCode =
  | 'unreadable_file'
  | 'unclear_encoding'
  | 'no_phone_column'
  | 'no_do_not_call_column'
  | 'no_such_column'
  | 'no_such_sheet'
  | 'file_too_large'
  | 'too_many_rows'
  | 'too_many_columns'
  | 'no_valid_row';

/** Thrown by `readContacts`. `message` is for the person who uploaded the file, and says what to do. */
export class FileFault extends Error {
  readonly code: FileFaultCode;

  constructor(code: FileFaultCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** What a client is told of it. */
export const shapeFault = ({ code, message }: FileFault) => ({
  code: code === 'no_valid_row' ? ('no_valid_rows' as const) : code,
  message: message.slice(0, 1024),
});
