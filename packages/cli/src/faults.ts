/** What the program ends with. */
export const exitCodes = {
  ok: 0,
  /** The server refused or failed, nothing answered, or what was followed has failed. */
  failed: 1,
  /** The command line, a file or the settings are not as they must be. */
  usage: 2,
  /** There is no such thing. */
  notFound: 3,
  /** Ctrl-C, or a no where we asked. */
  interrupted: 130,
} as const;

/** A fault that a person can do something about. */
export class Fault extends Error {
  readonly exitCode: number;
  /** What to do next. */
  readonly next: string | undefined;

  constructor(message: string, { exitCode = exitCodes.failed as number, next = undefined as string | undefined } = {}) {
    super(message);
    this.exitCode = exitCode;
    this.next = next;
  }
}

/** The command line, a file or the settings are not as they must be. */
export const usageFault = (message: string, next?: string) => new Fault(message, { exitCode: exitCodes.usage, next });

/** Somebody pressed Ctrl-C, or said no. `message` says what has become of it. */
export class Interrupted extends Error {}
