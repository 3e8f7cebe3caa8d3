import { styleText } from 'node:util';
import {
  ConnectionError,
  ContactFileError,
  type ErrorCode,
  TrunklineError,
  UnexpectedAnswerError,
} from '@trunkline/client';
import { exitCodes, Fault, Interrupted } from './faults.ts';
import { columnsOf, hasColor, type Io } from './io.ts';
import { plain, visible, wrap } from './text.ts';

/** What to do next, where the code says more than its status. */
const nextByCode: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'Log in with a key that is valid: trunkline login, or set TRUNKLINE_API_KEY.',
  forbidden: 'Use a key that has this permission: trunkline keys list shows them.',
  payment_required: 'A limit of the workspace is reached: trunkline workspace show',
  limit_reached: 'A limit of the workspace is reached: trunkline workspace show',
  not_found: 'Look for the right ID with the list command of its group.',
  campaign_not_startable: 'See why: trunkline campaigns preview ID',
  invalid_state: 'See in which state it is with the show command of its group.',
  concurrency_conflict: 'See the run that is in the way: trunkline runs list',
  idempotency_key_reused: 'Give another --key: this one has made something else.',
  internal_error: 'Try again. If it stays, ask the operator about the request below.',
  unavailable: 'Try again in a while.',
};

const LOGIN = 'Is the server running, and the address right? trunkline login changes it.';

interface Explained {
  code: string;
  message: string;
  exitCode: number;
  status?: number;
  details?: readonly object[];
  requestId?: string | undefined;
  next?: string | undefined;
}

/** What went wrong, in words, with the exit code that tells it. */
export function explain(error: unknown): Explained {
  if (error instanceof Fault) {
    const { message, exitCode, next } = error;
    return { code: exitCode === exitCodes.usage ? 'usage' : 'failed', message, exitCode, next };
  }
  if (error instanceof Interrupted)
    return { code: 'interrupted', message: error.message, exitCode: exitCodes.interrupted };
  if (error instanceof UnexpectedAnswerError) return { ...refused(error), exitCode: exitCodes.failed, next: LOGIN };
  if (error instanceof TrunklineError) return refused(error);
  if (error instanceof ContactFileError)
    return { code: error.upload.failure?.code ?? 'failed', message: error.message, exitCode: exitCodes.failed };
  if (error instanceof ConnectionError)
    return { code: 'no_answer', message: error.message, exitCode: exitCodes.failed, next: LOGIN };
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    code: 'unexpected',
    message,
    exitCode: exitCodes.failed,
    next: 'Please open an issue with the lines above.',
  };
}

function refused({ code, message, status, details, requestId, retryAfterSeconds }: TrunklineError): Explained {
  const wait = retryAfterSeconds ? `Try again in ${Math.ceil(retryAfterSeconds)} s.` : undefined;
  const next = wait ?? nextByCode[code] ?? (status === 400 ? 'See what it takes: add --help.' : undefined);
  const exitCode = status === 404 ? exitCodes.notFound : exitCodes.failed;
  return { code, message, exitCode, status, details, requestId, next };
}

/** Writes it to standard error: as lines, or as one JSON document. */
export function report(io: Io, { exitCode, ...fault }: Explained, json: boolean): void {
  if (json) return void io.stderr.write(`${JSON.stringify({ error: fault })}\n`);
  const limit = columnsOf(io.stderr);
  const style = (text: string) =>
    hasColor(io.stderr, io.env) ? styleText(['red', 'bold'], text, { validateStream: false }) : text;
  const [first = '', ...more] = wrap(
    `${fault.code === 'interrupted' ? '' : 'Error: '}${fault.message.split('\n').map(visible).join('\n')}`,
    limit,
  );
  const code = fault.status ? `${fault.code} (${fault.status})` : undefined;
  const details = (fault.details ?? [])
    .map((detail) => detail as { path?: string; message?: string })
    .filter(({ message }) => message && !fault.message.endsWith(message))
    .map(({ path, message }) => [path, message].filter(Boolean).join(': '));
  const fields = [['code', code], ...details.map((text) => ['detail', text]), ['request', fault.requestId]] as const;
  const lines = [...fields, ['next', fault.next] as const]
    .filter(([, text]) => text)
    .flatMap(([name = '', text]) => hanging(name, plain(text), limit));
  io.stderr.write([first.replace('Error:', style('Error:')), ...more, ...lines].map((line) => `${line}\n`).join(''));
}

const NAME_WIDTH = 11;

/** A name, and a text that goes on below itself. */
const hanging = (name: string, text: string, limit: number | undefined): string[] =>
  wrap(text, limit && limit - NAME_WIDTH).map((line, at) => `  ${(at ? '' : name).padEnd(NAME_WIDTH - 2)}${line}`);
