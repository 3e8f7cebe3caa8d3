import type { Command } from 'commander';
import { askYes } from '../ask.ts';
import type { First } from '../client-types.ts';
import { addFlags, type Flags, given } from '../flags.ts';
import { command, group } from '../group.ts';
import type { Io } from '../io.ts';

const limitFlags: Flags<NonNullable<First<'workspace', 'update'>['limits']>> = {
  maxConcurrentCalls: ['number', 'calls at once'],
  maxCallsPerDay: ['number', 'calls a day'],
  maxAttemptsPerPersonPerDay: ['number', 'calls to one person a day'],
  maxNumbersPerDay: ['number', 'numbers bought a day'],
  allowedCountries: ['list', 'countries that may be called'],
};

export function addWorkspace(program: Command, io: Io): void {
  const workspace = group(program, io, 'workspace', 'Limits, quiet hours, and what is used', '');
  workspace.one('show', 'Show the workspace', (client) => client.workspace.get());
  const update = workspace.send(
    { usage: 'update', says: 'Change name and limits', example: 'update --max-concurrent-calls 20' },
    { name: ['text', 'what to call it'] },
    (client, body: First<'workspace', 'update'>) => client.workspace.update(body),
    (body, { options }) => {
      const limits = given(options, limitFlags);
      return Object.keys(limits).length ? { ...body, limits: { ...(body['limits'] as object), ...limits } } : body;
    },
  );
  addFlags(update, limitFlags);

  const pause = { usage: 'pause', says: 'Stop all dialing (the kill switch)', example: 'pause' };
  command(program, io, pause, async ({ client, screen, options }) => {
    const { name, usage } = await client.workspace.get();
    const message = `Stop all dialing in ${name}? Calls that are up go on (${usage.liveCalls} now).`;
    await askYes(io, { yes: options['yes'], message, otherwise: 'Nothing was paused.' });
    const paused = await client.workspace.pauseDialing();
    if (screen.json) return screen.record(paused);
    screen.say(`All dialing in ${name} is paused. Go on: trunkline unpause`);
  }).option('-y, --yes', 'do not ask');

  const unpause = { usage: 'unpause', says: 'Let dialing go on', example: 'unpause' };
  command(program, io, unpause, async ({ client, screen }) => {
    const resumed = await client.workspace.resumeDialing();
    if (screen.json) return screen.record(resumed);
    screen.say(`Dialing in ${resumed.name} goes on.`);
  });
}
