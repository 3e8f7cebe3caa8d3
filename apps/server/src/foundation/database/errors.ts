import pg from 'pg';
import { noRoom, ServiceError } from '../values/service-error.ts';
import { NoPrimary } from './primary.ts';

/** Whether running the whole transaction again may succeed: deadlock, serialization failure, a plan made stale by a migration. */
export function isRetriable(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.code === '40P01' || error.code === '40001' || isStalePlan(error);
}

/** A prepared `select *` whose table a migration has changed meanwhile. Its connection must be thrown away. */
export function isStalePlan(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery';
}

const hasCode = (error: unknown, code: string): boolean => error instanceof pg.DatabaseError && error.code === code;

/** Whether a row was refused since a unique index has another one like it. */
export const isUniqueViolation = (error: unknown, index: string): boolean =>
  error instanceof pg.DatabaseError && error.code === '23505' && error.constraint === index;

/** Whether a statement waited for locks of other transactions for too long, and was given up for that. */
export const isLockTimeout = (error: unknown): boolean =>
  hasCode(error, '55P03') || (error instanceof ServiceError && hasCode(error.cause, '55P03'));

/** What a transaction threw, with a statement that waited or ran for too long turned into `unavailable`. */
export function tookTooLong(error: unknown): unknown {
  if (!hasCode(error, '55P03') && !hasCode(error, '57014')) return error;
  return new ServiceError('unavailable', 'The database takes too long right now. Try again.', { cause: error });
}

/** Whether a statement was refused since its transaction only reads, as all do on a standby. */
export const isReadOnly = (error: unknown): boolean => hasCode(error, '25006');

/** What a transaction that was to write threw where its server takes no writes. */
export const notPrimary = (cause: unknown): ServiceError =>
  new ServiceError('unavailable', 'The database takes no writes right now. Try again.', { cause });

/** Whether a statement was refused since one before it in its transaction has failed. */
export const isRefusedForFault = (error: unknown): boolean => hasCode(error, '25P02');

/** Whether a statement failed since the database's disk is full. */
export const isDiskFull = (error: unknown): boolean =>
  hasCode(error, '53100') || (error instanceof ServiceError && hasCode(error.cause, '53100'));

/** What the driver threw, with a lost or refused connection and a full disk turned into `unavailable`. */
export function translated(error: unknown): unknown {
  if (isDiskFull(error)) return noRoom('The database', error);
  if (!isConnectionLost(error)) return error;
  return new ServiceError('unavailable', CANNOT_REACH, { cause: error });
}

const CANNOT_REACH = 'The database cannot be reached right now. Try again.';

/** Whether something failed for nothing but a lost or refused connection to the database. */
export const isDatabaseLost = (error: unknown): boolean =>
  error instanceof ServiceError && error.message === CANNOT_REACH;

/** Whether the database could not be reached, rather than refused what it was asked. */
export const isUnavailable = (error: unknown): boolean => error instanceof ServiceError && error.code === 'unavailable';

function isConnectionLost(error: unknown): boolean {
  if (error instanceof NoPrimary) return true;
  if (typeof error !== 'object' || error === null) return false;
  // By what it says, and not by its class: the job queue hands on copies.
  const { severity, code = '', message = '' } = error as Partial<pg.DatabaseError>;
  // Connection exceptions, operator intervention, too many connections, idle in transaction for too long.
  if (severity !== undefined) return /^(08...|57P0[1-5]|53300|25P03)$/.test(code);
  return 'syscall' in error || /^Connection terminated|not queryable|timeout exceeded|Client was closed/.test(message);
}
