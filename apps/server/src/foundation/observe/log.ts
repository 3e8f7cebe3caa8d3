import { destination, type Logger, pino } from 'pino';
import type { Config } from '../../config.ts';
import { maskLine } from './mask-numbers.ts';

/** Where PostgreSQL's errors quote rows, and so people's numbers. */
const ROW_VALUES = ['err.detail', 'err.where', 'err.cause.detail', 'err.cause.where'];

/** The log, on standard error: lines for people on a terminal, JSON elsewhere, unless LOG_FORMAT decides. */
export async function openLog({ logLevel: level, logFormat, logPhoneNumbers }: Config): Promise<Logger> {
  const hooks = logPhoneNumbers === 'masked' ? { streamWrite: maskLine } : {};
  const options = { level, base: null, redact: ROW_VALUES, hooks };
  if (logFormat === 'json' || (logFormat === 'auto' && !process.stderr.isTTY)) return pino(options, destination(2));
  const { prettyFactory } = await import('pino-pretty');
  const colorize = process.stderr.isTTY === true;
  const line = prettyFactory({ colorize, singleLine: true, translateTime: 'SYS:HH:MM:ss' });
  return pino(options, { write: (json: string) => void process.stderr.write(line(json) ?? '') });
}
