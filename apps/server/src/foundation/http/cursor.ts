import { canonicalBytes } from '../values/canonical-base64.ts';
import type { Answer } from './answer.ts';
import type { Operation, RequestParts } from './contract.ts';
import { faultAt } from './request-fault.ts';

type Query = Record<string, string | string[] | undefined>;

/** What a cursor holds: which list it is of, what was asked of it, and where the page before ended. */
type Held = [list: string, asked: Query, place: unknown[]];

/** Whether an operation lists by cursor. */
export const takesCursor = ({ parameters }: Pick<Operation, 'parameters'>): boolean =>
  parameters.some(({ in: place, name }) => place === 'query' && name === 'cursor');

/** What names one list among all: the operation, and the IDs of its path. */
const listOf = ({ id }: Operation, params: RequestParts['params']) => [id, ...Object.values(params)].join('/');

/**
 * The query that a cursor stands for, with all that was asked of its first page, to be validated as if it were sent; its
 * `cursor` is the place alone, as `pageOf` reads it. Throws `invalid_request` where the cursor is none of this list, and
 * where something else is asked beside it.
 */
export function openCursor(operation: Operation, params: RequestParts['params'], query: Query): Query {
  if (typeof query['cursor'] !== 'string' || query['cursor'] === '') return query;
  const { cursor, ...given } = query as { cursor: string } & Query;
  if (given['page'] !== undefined) throw faultAt('/query/page', 'must be left out beside a cursor');
  const [list, asked, place] = read(cursor) ?? [];
  if (list !== listOf(operation, params)) {
    throw faultAt('/query/cursor', 'must be the nextCursor of a page of this list');
  }
  for (const { in: at, name } of operation.parameters) {
    if (at !== 'query' || name === 'perPage' || given[name] === undefined || same(given[name], asked?.[name])) continue;
    throw faultAt(`/query/${name}`, 'must be left out beside a cursor, or be as it was at the first page');
  }
  return { ...asked, ...given, cursor: JSON.stringify(place) };
}

/** Makes the cursor of a page opaque, and has it hold what was asked, the defaults among it. */
export function sealCursor(operation: Operation, { params, query }: RequestParts, { body }: Answer): void {
  const page = ((body as { data?: object }).data ?? body) as { nextCursor?: string };
  if (page.nextCursor === undefined) return;
  const { page: _, cursor: __, ...rest } = query;
  // The validator takes no empty text; none that is sent is as good as one.
  const given = Object.entries(rest).filter(([, value]) => value !== '');
  const asked = given.map(([name, value]) => [name, Array.isArray(value) ? value : String(value)]);
  const held = [listOf(operation, params), Object.fromEntries(asked), JSON.parse(page.nextCursor)];
  page.nextCursor = Buffer.from(JSON.stringify(held)).toString('base64url');
}

function read(cursor: string): Held | undefined {
  try {
    const held = JSON.parse(canonicalBytes(cursor, 'base64url')!.toString()) as Held;
    const [list, asked, place] = held;
    const areTexts = Object.values(asked).every((value) => [value].flat().every((each) => typeof each === 'string'));
    return typeof list === 'string' && areTexts && Array.isArray(place) ? held : undefined;
  } catch {
    return undefined;
  }
}

const textOf = (value: unknown) => JSON.stringify([value].flat().sort());
const same = (one: unknown, other: unknown) => textOf(one) === textOf(other);
