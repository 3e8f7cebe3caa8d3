import { readFileSync } from 'node:fs';
import { type Argument, Command, Option } from 'commander';
import { addAgents } from './commands/agents.ts';
import { addBatches } from './commands/batches.ts';
import { addCalls } from './commands/calls.ts';
import { addCampaigns } from './commands/campaigns.ts';
import { addDnc } from './commands/dnc.ts';
import { addEvents } from './commands/events.ts';
import { addKeys } from './commands/keys.ts';
import { addKillSwitch } from './commands/kill-switch.ts';
import { addKnowledgeBases } from './commands/knowledge-bases.ts';
import { addLists } from './commands/lists.ts';
import { addMembers } from './commands/members.ts';
import { addNumbers } from './commands/numbers.ts';
import { addPeople } from './commands/people.ts';
import { addPools } from './commands/pools.ts';
import { addProviders } from './commands/providers.ts';
import { addRuns } from './commands/runs.ts';
import { addSearch } from './commands/search.ts';
import { addSession } from './commands/session.ts';
import { addSounds } from './commands/sounds.ts';
import { addTrunks } from './commands/trunks.ts';
import { addWebhooks } from './commands/webhooks.ts';
import { addWhy } from './commands/why.ts';
import { addWorkflows } from './commands/workflows.ts';
import { addWorkspace } from './commands/workspace.ts';
import { columnsOf, type Io } from './io.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** An argument as a usage line has it: `<id>`, `[file]`, `<files...>`. */
function argumentTerm(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '...' : '');
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** Every command there is. */
export function createProgram(io: Io): Command {
  const json = new Option('--json', 'results as JSON, events a line each');
  const program = new Command('trunkline')
    .description('Call people with voice agents, from the command line.')
    .version(version, '-v, --version', 'the version of this program')
    .addOption(json)
    .helpOption('-h, --help', 'this text')
    .helpCommand(false)
    .exitOverride()
    .configureHelp({
      minWidthToWrap: 10,
      showGlobalOptions: true,
      visibleGlobalOptions: ({ parent }) => (parent ? [json] : []),
      subcommandTerm: (each) => [each.name(), ...each.registeredArguments.map(argumentTerm)].join(' '),
    })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHelpWidth: () => columnsOf(io.stdout) ?? 80,
      getErrHelpWidth: () => columnsOf(io.stderr) ?? 80,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  const parts = [
    addSession,
    addNumbers,
    addProviders,
    addTrunks,
    addPools,
    addAgents,
    addSounds,
    addLists,
    addCampaigns,
    addBatches,
    addCalls,
    addDnc,
    addPeople,
    addWhy,
    addSearch,
    addWorkflows,
    addRuns,
    addKnowledgeBases,
    addEvents,
    addWebhooks,
    addKeys,
    addMembers,
    addWorkspace,
    addKillSwitch,
  ];
  for (const add of parts) add(program, io);
  return program.addHelpText(
    'after',
    '\nExample:\n  trunkline lists upload people.csv --country US\n\nCall nobody any more, at once:\n  trunkline stop',
  );
}
