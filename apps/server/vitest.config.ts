import path from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** How long a condition may take on a machine that stalls; where it holds, nobody waits. */
const PATIENCE_MS = 120_000;

/** What the test processes of every project share. */
export const shared = {
  // Workspace packages run from their sources; this holds in the test processes and in their worker threads too.
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    pool: 'forks',
    // Collections of young objects, with the usual 16 MiB, are a tenth of a test's CPU time; by threads that wait for each
    // other, another fifteenth. To optimize functions as long as validators takes more than a test process gains by it: an
    // eighth of its time.
    execArgv: [
      ...['--max-semi-space-size=64', '--min-semi-space-size=32', '--single-threaded-gc'],
      '--max-optimized-bytecode-size=4000',
    ],
    // Tests wait as much as they compute: two cores are busy with three at a time. With more a slow machine is late with
    // everything, and what comes too late is done again.
    maxWorkers: 3,
    maxConcurrency: 3,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: PATIENCE_MS } },
  },
} as const;

const last = 'test/contract/every-status.test.ts';
/** They put something else in the place of what other files use, such as the timer that a process begins once. */
const alone = [
  'src/platform/jobs/every.test.ts',
  'test/foundation/database/plans.test.ts',
  'test/foundation/database/silence.test.ts',
  'test/foundation/http/bodies.test.ts',
  'test/foundation/http/edge.test.ts',
  'test/lines/media/plane.test.ts',
  'test/foundation/objects/disk.test.ts',
];
/** They take CPU times, which what another file leaves behind would add to. */
const growth = 'test/growth/*.test.ts';

/** What takes longest alone, in this order. Begun last, they would keep one core waiting. */
const long = [
  'test/chaos/chaos.test',
  'test/lines/telephony/calls-over-sip',
  'test/contract/published.test',
  'test/dialing/workflows/crash',
  'test/records/erasures/erasures',
  'test/clocks/days-of-people',
  'test/lines/media/source',
  'test/lines/telephony/trunk-grants',
  'test/commands/confirm-restore/',
  'test/records/exports/',
  'test/dialing/default-hours',
  'test/platform/installation/lost-commits',
  'test/lines/telephony/broken-agents',
  'test/contract/fuzz',
  'test/dialing/calls/inbound',
  'test/audience/contact-lists/servers',
  'test/dialing/calls/recordings',
  'test/platform/installation/',
  'test/dialing/claim-cost',
  'test/dialing/limits',
  'test/dialing/workflows/room',
  'test/dialing/workflows/starts',
  'test/audience/contact-lists/import',
  'test/platform/jobs/quiet',
  'test/lines/telephony/registrar',
  'test/dialing/control',
  'test/platform/webhooks/deliveries',
  'test/dialing/trunks',
  'test/lines/telephony/trunk-targets',
  'test/foundation/database/versions',
  'test/contract/mock',
  'test/dialing/campaigns/hostile-contacts',
  'test/lines/media/silent-agent',
  'test/dialing/calls/create',
  'test/dialing/workflows/run-calls',
  'test/lines/telephony/script-agent',
  'test/lines/telephony/realtime-agent',
  'test/dialing/crash',
  'test/platform/webhooks/servers',
  'test/contract/guides',
  'test/platform/do-not-call/no-call-after-no',
  'test/lines/telephony/real-peers',
  'test/lines/media/agent-flood',
  'test/lines/telephony/behind-nat',
  'test/dialing/workflows/',
  'test/dialing/batches/batches',
  'test/contract/scenarios',
  'test/foundation/http/process',
  'test/records/erasures/',
  'test/voices/knowledge-bases/',
  'test/platform/workspace/storage',
  'test/foundation/http/docs-in-chromium',
  'test/foundation/http/chromium',
  'test/crash/',
  'test/audience/contact-lists/unattended',
  'test/lines/telephony/simulator',
  'test/dialing/windows',
  'test/dialing/clock',
  'test/dialing/campaigns/events',
  'test/foundation/database/primary',
  'test/commands/rotate-key',
];
/** The place among them; the last one for all others. */
const rankOf = ({ moduleId }: TestSpecification) => {
  const file = path.relative(import.meta.dirname, moduleId);
  const at = long.findIndex((start) => file.startsWith(start));
  return at === -1 ? long.length : at;
};

/** Within a project the long ones first: what nobody has measured here begins by its size. */
class LongOnesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const order = [...new Set(sorted.map(({ project }) => project.name))];
    const placeOf = (file: TestSpecification) => order.indexOf(file.project.name);
    return sorted.toSorted((one, other) => placeOf(one) - placeOf(other) || rankOf(one) - rankOf(other));
  }
}

const exclude = [...configDefaults.exclude, '**/*.long.test.ts', ...alone, growth, last];

export default defineConfig({
  ...shared,
  test: {
    globalSetup: ['test/global-setup.ts'],
    sequence: { sequencer: LongOnesFirst },
    projects: [
      // In one process one after another: to load the server and to compile the contract takes longer than most files.
      // `pnpm test:long` runs the long ones.
      {
        ...shared,
        test: { ...shared.test, name: 'server', include: ['test/**/*.test.ts'], exclude, isolate: false },
      },
      { ...shared, test: { ...shared.test, name: 'rules', include: ['src/**/*.test.ts'], exclude, isolate: false } },
      { ...shared, test: { ...shared.test, name: 'alone', include: alone } },
      { ...shared, test: { ...shared.test, name: 'growth', include: [growth], isolate: false } },
      // It looks at what the others saw.
      { ...shared, test: { ...shared.test, name: 'last', include: [last], sequence: { groupOrder: 1 } } },
    ],
  },
});
