/** Why a step can't be carried out as the definition says. The engine adds faults of its own kinds. */
export type StepErrorCode =
  | 'template_key_missing'
  | 'template_too_large'
  | 'invalid_condition'
  | 'invalid_time'
  | 'invalid_time_zone';

/** A fault of a step: the run's `error` is its code and message, with the node. The message is for the client. */
export class StepError extends Error {
  readonly code: StepErrorCode;

  constructor(code: StepErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
