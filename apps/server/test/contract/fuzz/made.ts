import { type IdPrefix, newUuid, toId } from '../../../src/foundation/values/ids.ts';
import type { FuzzRequest } from './requests.ts';

/** Of each kind the latest are asked for. */
const MOST_OF_KIND = 6;
/** Whose path names another resource before them. */
const parentOf: Record<string, string> = { upl: 'list', doc: 'kb', run: 'wf', dlv: 'whk' };

/** Where the ID of another workspace stands, and how many places there are. */
const FOREIGN_PLACE = 15;
/** So many lists are gone on with. */
const MOST_CURSORS = 100;

const ID = /\b([a-z]+)_[0-9a-f]{32}\b/g;
const PLACE = /<([a-z]+):(\d+)>/g;
const FORGED = /<forged:([\w-]+)>/;
const CURSOR = /"nextCursor":"([\w-]+)"/;

/** What the server has made so far, which requests ask for. */
export interface Made {
  /** Takes up the IDs of an answer to a request. */
  note(path: string, answer: string): void;
  /** Asks no more for what a request has deleted, and for what lay in it. */
  forget(path: string): void;
  /** The request with IDs and numbers in their places. */
  fill(request: FuzzRequest): FuzzRequest;
}

/**
 * Keeps what the server makes.
 * @param numbers that may call, E.164
 * @param untouchable IDs that no request names: the key that asks
 * @param foreign IDs of another workspace by their prefixes, which are named now and then
 */
export function createMade(
  numbers: readonly string[],
  untouchable: ReadonlySet<string>,
  foreign: ReadonlyMap<string, string>,
): Made {
  const byPrefix = new Map<string, string[]>();
  const cursors = new Map<string, string>();
  const parents = new Map<string, string>();

  const ofPrefix = (text: string, prefix: string | undefined) =>
    new Set([...text.matchAll(ID)].filter((found) => found[1] === prefix).map(([id]) => id));

  const pick = (prefix: string, place: number): string => {
    if (prefix === 'number') return numbers[place % numbers.length]!;
    const theirs = place === FOREIGN_PLACE && foreign.get(prefix);
    if (theirs) return theirs;
    const all = byPrefix.get(prefix) ?? [];
    return all[place % Math.max(1, all.length)] ?? toId(prefix as IdPrefix, newUuid());
  };
  const filled = (text: string) =>
    text.replaceAll(PLACE, (whole, prefix: string, place: string) =>
      prefix === 'cursor' ? whole : pick(prefix, Number(place)),
    );

  /** The query with what goes on with the list of this path, or seems to. */
  const withCursor = (operationId: string, whole: string): string => {
    const [path = '', ...query] = whole.split('?');
    const list = [operationId, ...[...path.matchAll(ID)].map(([id]) => id)].join('/');
    const forged = (_: string, held: string) =>
      Buffer.from(
        JSON.stringify([list, ...(JSON.parse(Buffer.from(held, 'base64url').toString()) as unknown[])]),
      ).toString('base64url');
    return [path, ...query]
      .join('?')
      .replace('<cursor:0>', cursors.get(path) ?? 'x')
      .replace(FORGED, forged);
  };

  /** The one that stands last decides: those before it are where it lies. */
  const path = (text: string): string => {
    const places = [...text.split('?')[0]!.matchAll(PLACE)];
    const last = places.at(-1);
    if (places.length < 2 || !last) return filled(text);
    const child = pick(last[1]!, Number(last[2]));
    const parent = parents.get(child);
    return filled(parent ? text.replace(places.at(-2)![0], parent).replace(last[0], child) : text);
  };

  return {
    note: (asked, answer) => {
      const [, cursor] = CURSOR.exec(answer) ?? [];
      if (cursor) {
        if (cursors.size >= MOST_CURSORS) cursors.clear();
        cursors.set(asked.split('?')[0]!, cursor);
      }
      for (const [id, prefix = ''] of answer.matchAll(ID)) {
        if (untouchable.has(id)) continue;
        const all = byPrefix.get(prefix) ?? [];
        byPrefix.set(prefix, all);
        if (all.includes(id)) continue;
        all.push(id);
        if (all.length > MOST_OF_KIND) all.shift();
        const [parent, ...others] = new Set([
          ...ofPrefix(asked, parentOf[prefix]),
          ...ofPrefix(answer, parentOf[prefix]),
        ]);
        if (parent && others.length === 0) parents.set(id, parent);
      }
    },
    forget: (asked) => {
      const id = [...asked.matchAll(ID)].at(-1)?.[0];
      // What is named by a word or a number has nothing that lies in it.
      if (id === undefined) return;
      for (const [prefix, all] of byPrefix)
        byPrefix.set(
          prefix,
          all.filter((each) => each !== id && parents.get(each) !== id),
        );
    },
    fill: (request) => ({
      ...request,
      path: withCursor(request.operationId, path(request.path)),
      ...(request.body !== undefined && { body: filled(request.body) }),
    }),
  };
}
