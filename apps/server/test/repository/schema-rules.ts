/** A table of the dump: its first line, its columns by their names, and what else is said of it. */
interface Table {
  head: string;
  columns: Map<string, string>;
  others: Set<string>;
}

const isColumn = (line: string) => /^("?)[a-z_]+\1 /.test(line) && !line.startsWith('policy ');
const withoutDefault = (column: string) => column.replace(/ default .*/, '');
const isLeftOut = (column: string) => !column.includes(' not null') || column.includes(' default ');
const wall = (head: string) => head.match(/, (row security.*)/)?.[1];

function parse(dump: string): { tables: Map<string, Table>; rest: string[] } {
  const tables = new Map<string, Table>();
  const rest: string[] = [];
  for (const block of dump.trim().split('\n\n')) {
    const [head, ...lines] = block.split('\n').map((line) => line.trim()) as [string, ...string[]];
    const name = head.match(/^table (\w+)/)?.[1];
    if (!name) rest.push(block);
    else
      tables.set(name, {
        head,
        columns: new Map(lines.filter(isColumn).map((line) => [line.split(' ')[0]!, line])),
        others: new Set(lines.filter((line) => !isColumn(line))),
      });
  }
  return { tables, rest };
}

/** Of a CHECK of a list of texts: what stands around the list, and the list. PostgreSQL writes a list of one as an equation. */
function listOf(written: string): { around: string; list: string[] } {
  const check = written.replace(/ = ('[^']*'::text)\)/, ' = ANY (ARRAY[$1]))');
  const list = check.match(/ARRAY\[(.*?)\]/)?.[1];
  return { around: check.replace(/ARRAY\[.*?\]/, ''), list: list?.split(', ') ?? [] };
}

/**
 * What servers that were written for a schema would miss in another: all of it must still be there, and they must be able to
 * write rows as they do. Both are dumps, as of `migrations/schema.txt`.
 */
export function lostBy(former: string, now: string): string[] {
  const [old, made] = [parse(former), parse(now)];
  const lost = old.rest.filter((block) => !made.rest.includes(block));
  for (const [name, was] of old.tables) {
    const is = made.tables.get(name);
    const faults = is ? faultsOf(was, is) : ['is gone'];
    lost.push(...faults.map((fault) => `${name}: ${fault}`));
  }
  for (const [name, { others }] of made.tables)
    if (!old.tables.has(name))
      for (const line of others) {
        const of = line.match(/^FOREIGN KEY .* REFERENCES (\w+)/)?.[1];
        // Workspaces are never deleted.
        if (of && of !== 'workspaces' && old.tables.has(of) && !line.includes(' ON DELETE '))
          lost.push(`${name}: keeps rows of ${of} from being deleted`);
      }
  return lost;
}

function faultsOf(was: Table, is: Table): string[] {
  const faults: string[] = [];
  if (wall(was.head) !== wall(is.head)) faults.push('has another wall');
  for (const [column, line] of was.columns) {
    const found = is.columns.get(column);
    if (!found) faults.push(`${column} is gone`);
    else if (withoutDefault(found) !== withoutDefault(line)) faults.push(`${column} was ${withoutDefault(line)}`);
    else if (isLeftOut(line) && !isLeftOut(found)) faults.push(`${column} has no default any more`);
  }
  const added = [...is.columns].filter(([column]) => !was.columns.has(column));
  for (const [column, line] of added) if (!isLeftOut(line)) faults.push(`${column} must be given`);
  for (const line of was.others) if (!is.others.has(line) && !isNoLoss(line)) faults.push(`is without ${line}`);
  const nullable = added.filter(([, line]) => !/ not null| default /.test(line)).map(([column]) => column);
  for (const line of is.others) if (!was.others.has(line) && !isFree(line, was, nullable)) faults.push(`has ${line}`);
  return faults;
}

/** Whether nothing rests on it: an index that only finds, a CHECK, a foreign key by which nothing is deleted. */
const isNoLoss = (line: string): boolean =>
  /^(CREATE INDEX|CHECK) /.test(line) || (line.startsWith('FOREIGN KEY ') && !line.includes(' ON DELETE '));

/** Whether rows that are written as before can't break it. */
function isFree(line: string, was: Table, nullable: string[]): boolean {
  if (/^CREATE (INDEX|TRIGGER) /.test(line)) return true;
  const words = new Set(line.match(/\w+/g));
  if (line.startsWith('CHECK ')) {
    const { around, list } = listOf(line);
    const isWider = [...was.others].map(listOf).some((each) => each.around === around && isWithin(each.list, list));
    return isWider || !(words.has('NULL') || [...was.columns.keys()].some((column) => words.has(column)));
  }
  // Null in one of its columns frees a row of a key.
  if (/^(UNIQUE|FOREIGN KEY|CREATE UNIQUE INDEX) /.test(line) && !line.includes('NULLS NOT DISTINCT'))
    return nullable.some((column) => words.has(column));
  return false;
}

const isWithin = (list: string[], wider: string[]) => list.length > 0 && list.every((each) => wider.includes(each));
