import type { ContactList } from './files.ts';
import type { Campaign } from './words.ts';

/** The way to a new campaign, in its order. */
export const STEPS = [
  { id: 'file', name: 'File', permission: 'contact_lists:read' },
  { id: 'columns', name: 'Columns and rows', permission: 'contact_lists:write' },
  { id: 'people', name: 'People', permission: 'contact_lists:read' },
  { id: 'agent', name: 'Agent and number', permission: 'campaigns:write' },
  { id: 'hours', name: 'Hours', permission: 'campaigns:read' },
  { id: 'call', name: 'Test call', permission: 'calls:write' },
  { id: 'start', name: 'Dry run and start', permission: 'campaigns:run' },
] as const;

export type Step = (typeof STEPS)[number]['id'];

const NO_FILE: readonly string[] = ['pending', 'expired'];

/** The steps that can be opened, as things stand: what comes before them is done. */
export function openSteps(list: ContactList | undefined, draft: Campaign | undefined): Step[] {
  const upload = list?.uploadDetails;
  const isReady = list?.status === 'ready';
  return [
    'file',
    ...(upload && !NO_FILE.includes(upload.status) ? (['columns'] as const) : []),
    ...(isReady ? (['people', 'agent'] as const) : []),
    ...(isReady && draft ? (['hours', 'call', 'start'] as const) : []),
  ];
}

/** The step to show: the one that is asked for, if it can be opened, else the first where there is something to do. */
export function stepOf(asked: string | undefined, list: ContactList | undefined, draft: Campaign | undefined): Step {
  const open = openSteps(list, draft);
  const wanted = open.find((each) => each === asked);
  if (wanted) return wanted;
  if (open.includes('hours')) return 'hours';
  if (open.includes('people')) return 'people';
  return open.includes('columns') ? 'columns' : 'file';
}

/** The step behind this one that somebody with these permissions may take. */
export function stepAfter(step: Step, may: (permission: string) => boolean): Step | undefined {
  const at = STEPS.findIndex(({ id }) => id === step);
  return STEPS.slice(at + 1).find(({ permission }) => may(permission))?.id;
}
