import type { components } from '@trunkline/client';
import { PLACES, placesOfText } from './places.ts';
import { type Known, plain } from './words.ts';

type Hit = components['schemas']['SearchHit'];

/** What a search shows, and where it leads, if there is a screen of it. */
export interface Found {
  key: string;
  path?: string;
  search?: Record<string, string>;
  says: string;
  more?: string | undefined;
}

interface Type {
  /** As a sentence names them. */
  all: string;
  permission: string;
  /** The list that shows it, or the screen that has its ID behind it. */
  list?: string;
  screen?: string;
}

const TYPES = {
  person: { all: 'people', permission: 'contact_lists:read', screen: '/people' },
  call: { all: 'calls', permission: 'calls:read', screen: '/calls' },
  campaign: { all: 'campaigns', permission: 'campaigns:read', screen: '/campaigns' },
  batch: { all: 'batches', permission: 'calls:read' },
  contact_list: { all: 'contact lists', permission: 'contact_lists:read', list: '/lists/contact-lists' },
  agent: { all: 'agents', permission: 'agents:read', screen: '/agents' },
  phone_number: { all: 'phone numbers', permission: 'phone_numbers:read', list: '/lists/phone-numbers' },
  number_pool: { all: 'number pools', permission: 'number_pools:read', list: '/lists/number-pools' },
  trunk: { all: 'trunks', permission: 'phone_numbers:read', list: '/lists/trunks' },
  workflow: { all: 'workflows', permission: 'workflows:read', list: '/lists/workflows' },
  workflow_run: { all: 'runs of workflows', permission: 'workflows:read' },
  knowledge_base: { all: 'knowledge bases', permission: 'knowledge_bases:read', list: '/lists/knowledge-bases' },
} satisfies Record<Known<Hit['type']>, Type>;

type May = (permission: string) => boolean;

/** What somebody can search, as a sentence names it. */
export function searched(may: May): string {
  const all = Object.values(TYPES).flatMap((each) => (may(each.permission) ? [each.all] : []));
  return new Intl.ListFormat('en').format(all);
}

function foundOf({ type, id, name, phoneNumber, status }: Hit): Found {
  const { screen, list }: Partial<Type> = (TYPES as Record<string, Type>)[type] ?? {};
  return {
    key: id,
    ...(screen && { path: `${screen}/${id}` }),
    ...(list && { path: list, search: { q: phoneNumber ?? name ?? '' } }),
    says: name && type === 'person' ? `${name}, ${phoneNumber}` : (name ?? phoneNumber ?? id),
    more: status ? `${plain(type)}, ${plain(status)}` : plain(type),
  };
}

/** Where a text that somebody types may lead: a number or an ID as such, screens by their names, and what a search has found. */
export function foundBy(text: string, hits: readonly Hit[], may: May): Found[] {
  const wanted = text.trim().toLowerCase();
  const places = placesOfText(text).filter(({ permission }) => may(permission));
  const paths = places.map(({ path }) => path);
  const nameOf = (path: string) => hits.find(({ id }) => path.endsWith(`/${id}`))?.name;
  const screens = PLACES.filter(({ permission, name }) => may(permission) && name.toLowerCase().includes(wanted));
  // The calls with a number have a place of their own.
  const left = hits.filter(
    ({ type, matched }) => !(type === 'call' && matched === 'number' && paths.includes('/calls')),
  );
  return [
    ...places.map((place) => ({
      ...place,
      key: place.path,
      says: `${place.says} ${text.trim()}`,
      more: nameOf(place.path),
    })),
    ...screens.map(({ path, name }) => ({ key: path, path, says: name })),
    ...left.map(foundOf).filter(({ path }) => path === undefined || !paths.includes(path)),
  ];
}
