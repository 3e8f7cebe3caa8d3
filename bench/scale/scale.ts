import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '../postgres.ts';
import type { Cost, Found, Row } from '../table.ts';
import { startSetting } from './setting.ts';
import { COUNTING, COUNTS_LAG_MS, forget, heightsOf, type Touched, touched } from './statements.ts';
import { works } from './work.ts';

const SIZES = [10_000, 100_000, 1_000_000];
/** What counts as flat. */
const FLAT = 1.2;

/** What a unit of some work touched in a database of one size. */
interface Measured extends Touched {
  rows: number;
  units: number;
  heights: Map<string, number>;
}

/**
 * What a call, a run, a row and a page touch in PostgreSQL with as many rows in each table as each of the sizes, by all
 * statements of a whole server.
 */
export async function benchScale(sizes: number[]): Promise<Found> {
  const postgres = await startPostgres(COUNTING);
  const measured = new Map<string, Measured[]>(works.map(({ unit }) => [unit, []]));
  let rowBytes = new Map<string, number>();
  const all = sizes.length > 0 ? sizes : SIZES;
  for (const rows of all) {
    const setting = await startSetting(postgres, rows, forget);
    const { connectionString } = setting;
    if (rows === Math.max(...all)) rowBytes = setting.rowBytes;
    for (const { unit, run } of works) {
      const from = performance.now();
      const units = await run(setting);
      await sleep(COUNTS_LAG_MS);
      const each = { rows, units, ...(await touched(connectionString)), heights: await heightsOf(connectionString) };
      measured.get(unit)!.push(each);
      const seconds = ((performance.now() - from - COUNTS_LAG_MS) / 1000).toFixed(1);
      console.error(`  ${unit}: ${perUnit(each, buffersOf).toFixed(1)} buffers, in ${seconds} s`);
      await forget(connectionString);
    }
    await setting.end();
  }
  for (const sized of measured.values()) sized.sort((a, b) => a.rows - b.rows);
  const found = [...measured].flatMap(([unit, sized]) =>
    sized.slice(1).flatMap((more) => rowsOf(unit, sized[0]!, more)),
  );
  for (const [unit, sized] of measured) tellOfStatements(unit, sized);
  return { rows: found, costs: diskCosts(Math.max(...all), rowBytes) };
}

const perUnit = (measured: Measured, of: (measured: Measured) => number) => of(measured) / measured.units;

const buffersOf = ({ statements }: Touched): number => statements.reduce((sum, { buffers }) => sum + buffers, 0);

/** The buffers as if each index were as high as with few rows. */
const levelledTo =
  (few: Measured) =>
  (measured: Measured): number => {
    const { indexes, heights } = measured;
    const more = [...indexes].reduce((sum, [name, pages]) => {
      const [before, now] = [few.heights.get(name) ?? 1, heights.get(name) ?? 1];
      return sum + pages * Math.max(0, 1 - before / now);
    }, 0);
    return buffersOf(measured) - more;
  };

function rowsOf(unit: string, few: Measured, many: Measured): Row[] {
  const row = (what: string, of: (measured: Measured) => number, aim?: string): Row => ({
    what,
    ours: perUnit(many, of),
    peer: `${few.rows.toLocaleString('en')} rows`,
    theirs: perUnit(few, of),
    unit: 'buffers',
    ...(aim && { aim }),
  });
  const what = `${unit}, ${many.rows.toLocaleString('en')} rows`;
  return [row(what, buffersOf), row(`${what}, indexes as high`, levelledTo(few), `≤ ${FLAT}`)];
}

/** Tells of each statement that is a share of its unit's buffers worth a word, or grows. */
function tellOfStatements(unit: string, sized: Measured[]): void {
  console.error(`\n${unit}: statements by buffers each time, and times a unit`);
  const texts = new Set(sized.flatMap(({ statements }) => statements.map(({ text }) => text)));
  const lines = [...texts].map((text) => {
    const each = sized.map((m) => m.statements.find((statement) => statement.text === text));
    const costs = each.map((statement) => (statement ? statement.buffers / statement.times : 0));
    const share = Math.max(...each.map((statement, at) => (statement?.buffers ?? 0) / buffersOf(sized[at]!)));
    const times = each.map((statement, at) => (statement?.times ?? 0) / sized[at]!.units);
    const grows = costs.at(-1)! > FLAT * costs[0]! && costs.at(-1)! - costs[0]! >= 2;
    return { text, costs, times, share, grows };
  });
  for (const { text, costs, times, share, grows } of lines.toSorted((a, b) => b.share - a.share)) {
    if (share < 0.01 && !grows) continue;
    const figures = costs.map((cost) => cost.toFixed(1).padStart(10)).join('');
    const each = times.map((time) => time.toFixed(2)).join('/');
    console.error(`${grows ? '!' : ' '}${figures}  ×${each}  ${text.replaceAll(/\s+/g, ' ').slice(0, 300)}`);
  }
}

const diskCosts = (rows: number, rowBytes: Map<string, number>): Cost[] =>
  [...rowBytes].map(([table, bytes]) => ({
    what: `disk of a row of ${table}, of ${rows.toLocaleString('en')}`,
    value: bytes,
    unit: 'bytes',
  }));
