import { destination, type Logger, type LoggerOptions, pino } from 'pino';
import type { Config } from '../../config.ts';
import { maskLine } from './mask-numbers.ts';

/** Where PostgreSQL's errors quote rows, and so people's numbers. */
const ROW_VALUES = ['err.detail', 'err.where', 'err.cause.detail', 'err.cause.where'];

const DEBUG = pino.levels.values['debug']!;

/**
 * The log, on standard error: lines for people on a terminal, JSON elsewhere, unless LOG_FORMAT decides.
 * @param isToldElsewhere whether an error says nothing new, so that its line is for `debug` alone: that the database is lost
 * would be said hundreds of times
 */
export async function openLog(
  { logLevel: level, logFormat, logPhoneNumbers }: Config,
  isToldElsewhere: (error: unknown) => boolean,
): Promise<Logger> {
  const hooks: LoggerOptions['hooks'] = {
    ...(logPhoneNumbers === 'masked' && { streamWrite: maskLine }),
    logMethod(line, method, level) {
      const [fields] = line as unknown[] as [{ err?: unknown } | undefined];
      if (level > DEBUG && isToldElsewhere(fields?.err)) this.debug(...line);
      else method.apply(this, line);
    },
  };
  const options = { level, base: null, redact: ROW_VALUES, hooks };
  if (logFormat === 'json' || (logFormat === 'auto' && !process.stderr.isTTY)) return pino(options, destination(2));
  const { prettyFactory } = await import('pino-pretty');
  const colorize = process.stderr.isTTY === true;
  const line = prettyFactory({ colorize, singleLine: true, translateTime: 'SYS:HH:MM:ss' });
  return pino(options, { write: (json: string) => void process.stderr.write(line(json) ?? '') });
}
