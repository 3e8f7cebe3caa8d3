import type { Command } from 'commander';
import type { First } from '../client-types.ts';
import { usageFault } from '../faults.ts';
import { addFlags, type Flags, given } from '../flags.ts';
import { group } from '../group.ts';
import type { Io } from '../io.ts';

const limitFlags: Flags<NonNullable<First<'workspace', 'update'>['limits']>> = {
  maxConcurrentCalls: ['number', 'calls at once'],
  maxCallsPerDay: ['number', 'calls a day'],
  maxAttemptsPerPersonPerDay: ['number', 'calls to one person a day'],
  maxNumbersPerDay: ['number', 'numbers bought a day'],
  allowedCountries: ['list', 'countries that may be called'],
};

const CLOCK = String.raw`(\d{1,2})(?::(\d\d))?`;
const HOURS = new RegExp(`^${CLOCK}\\s*-\\s*${CLOCK}$`);

/** Reads `21:00-8:00`, or `none`. Hours that end at 0:00 end at midnight. */
function quietHours(text: string): { start: number; end: number } | null {
  if (text === 'none') return null;
  const [, ...parts] = HOURS.exec(text.trim()) ?? [];
  const [fromHour, fromMinute = 0, toHour, toMinute = 0] = parts.map((part) =>
    part === undefined ? part : Number(part),
  );
  const isMinute = (minute: number) => minute < 60;
  if (fromHour === undefined || toHour === undefined || !isMinute(fromMinute) || !isMinute(toMinute))
    throw usageFault('--quiet-hours takes hours such as 21:00-8:00, or none.');
  return { start: fromHour * 60 + fromMinute, end: toHour * 60 + toMinute || 24 * 60 };
}

/** `none` takes a list away. */
const orNone = (list: readonly string[]): readonly string[] => (list.join() === 'none' ? [] : list);

export function addWorkspace(program: Command, io: Io): void {
  const workspace = group(program, io, 'workspace', 'Limits, quiet hours, and what is used', '');
  workspace.one('show', 'Show the workspace', (client) => client.workspace.get());
  const update = workspace.send(
    { usage: 'update', says: 'Change name, limits and hours', example: 'update --quiet-hours 21:00-8:00' },
    {
      name: ['text', 'what to call it'],
      trustedNumbers: ['list', 'phones of your own; or none'],
      eventFeed: ['switch', 'keep events, for trunkline events'],
    },
    (client, body: First<'workspace', 'update'>) => client.workspace.update(body),
    (body, { options }) => {
      const limits = given(options, limitFlags);
      const { quietHours: hours, trustedNumbers } = options as { quietHours?: string; trustedNumbers?: string[] };
      return {
        ...body,
        ...(hours !== undefined && { quietHours: quietHours(hours) }),
        ...(trustedNumbers && { trustedNumbers: orNone(trustedNumbers) }),
        ...(Object.keys(limits).length && { limits: { ...(body['limits'] as object), ...limits } }),
      };
    },
  );
  addFlags(update, limitFlags);
  update.option('--quiet-hours <from-to>', 'nobody is called, such as 21:00-8:00; or none');
}
