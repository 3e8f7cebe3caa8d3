import { type Argument, compileFilter, FilterFault, type TemplateFilter } from './template-filters.ts';

/** What stands for a value: a path into the context, and what is done with what it leads to. */
export interface Template {
  /** As it is written, with its braces. */
  source: string;
  path: string;
  filters: readonly TemplateFilter[];
}

/** A text, taken apart. */
export interface ParsedText {
  parts: readonly (string | Template)[];
  /** What is wrong with the first part that looks like a template and is none, for a person. */
  fault?: string;
}

const PLAIN = /\{\{\s*([^\s{}]+)\s*\}\}/y;
const HEAD = /\{\{\s*([^\s{}|]+)\s*(?=\|)/y;
const FILTER = /\|\s*([^\s{}|:,"']{1,64})\s*(:\s*)?/y;
/** A text in quotes of either kind, or a bare word: a path, or a form of `format`. */
const ARGUMENT = /(?:"([^"]{0,500})"|'([^']{0,500})'|([^\s{}|,"']{1,255}))\s*/y;
/** What text programs make of the quotes that somebody types. */
const CURLY_QUOTE = /^[“”„‟‘’‚‛«»‹›]/;
const COMMA = /,\s*/y;
const CLOSE = /\}\}/y;

const MOST_FILTERS = 8;
const MOST_ARGUMENTS = 4;
/** How much of a faulty template its message shows. */
const SHOWN = 40;

/** What a sticky expression finds at a place, and where it ends. */
function at(expression: RegExp, text: string, index: number): { groups: RegExpExecArray; end: number } | undefined {
  expression.lastIndex = index;
  const groups = expression.exec(text);
  return groups ? { groups, end: expression.lastIndex } : undefined;
}

/** The template with filters that begins at a place, or nothing where none does. Throws FilterFault where one is wrong. */
function filteredAt(text: string, index: number): { template: Template; end: number } | undefined {
  const head = at(HEAD, text, index);
  if (!head) return undefined;
  const filters: TemplateFilter[] = [];
  let { end } = head;
  for (let close = at(CLOSE, text, end); !close; close = at(CLOSE, text, end)) {
    const filter = at(FILTER, text, end);
    if (!filter) throw new FilterFault('Write filters as {{key | default: "text"}}, and close them with }}.');
    if (filters.length === MOST_FILTERS) throw new FilterFault(`A template takes at most ${MOST_FILTERS} filters.`);
    const [, name = '', colon] = filter.groups;
    const read = colon === undefined ? { found: [], end: filter.end } : argumentsAt(text, filter.end, name);
    filters.push(compileFilter(name, read.found, filters));
    end = read.end;
  }
  end += 2;
  return { template: { source: text.slice(index, end), path: head.groups[1]!, filters }, end };
}

function argumentsAt(text: string, index: number, name: string): { found: Argument[]; end: number } {
  const found: Argument[] = [];
  let end = index;
  for (;;) {
    const one = at(ARGUMENT, text, end);
    if (!one) throw new FilterFault(`After ${name}: stands a path, or a text in quotes of at most 500 characters.`);
    if (found.length === MOST_ARGUMENTS) throw new FilterFault(`${name} takes at most ${MOST_ARGUMENTS} of them.`);
    const [, double, single, word] = one.groups;
    if (word !== undefined && CURLY_QUOTE.test(word)) throw new FilterFault('Write straight quotes, " or \'.');
    found.push(word === undefined ? { kind: 'text', value: double ?? single! } : { kind: 'word', value: word });
    const comma = at(COMMA, text, one.end);
    if (!comma) return { found, end: one.end };
    end = comma.end;
  }
}

function parse(text: string): ParsedText {
  const parts: (string | Template)[] = [];
  let fault: string | undefined;
  let begin = 0;
  const add = (template: Template, index: number, end: number) => {
    const before = text.slice(begin, index);
    if (before !== '') parts.push(before);
    parts.push(template);
    begin = end;
  };
  for (let open = text.indexOf('{{'); open !== -1; open = text.indexOf('{{', Math.max(open + 1, begin))) {
    const plain = at(PLAIN, text, open);
    const [source = '', path = ''] = plain?.groups ?? [];
    try {
      // The simple form is read as it always was, and nobody asks for a second fault.
      const isSimple = plain && !path.includes('|');
      const filtered = isSimple || fault !== undefined ? undefined : filteredAt(text, open);
      if (filtered) {
        add(filtered.template, open, filtered.end);
        continue;
      }
    } catch (error) {
      if (!(error instanceof FilterFault)) throw error;
      fault = `${text.slice(open, open + SHOWN)} is no template. ${error.message}`;
    }
    // What was published before there were filters may have a key with a | in it.
    if (plain) add({ source, path, filters: [] }, open, plain.end);
  }
  if (begin < text.length) parts.push(text.slice(begin));
  return { parts, ...withFault(fault ?? looseBraces(parts)) };
}

const withFault = (fault: string | undefined) => (fault === undefined ? {} : { fault });

/** Braces that are left over: `{{first name}}`, or an open `{{`. */
function looseBraces(parts: ParsedText['parts']): string | undefined {
  const loose = parts.find((part) => typeof part === 'string' && part.includes('{{'));
  if (typeof loose !== 'string') return undefined;
  const shown = loose.slice(loose.indexOf('{{')).slice(0, SHOWN);
  return `${shown} is no template: write {{key}} or {{key.part}}, without blanks in the name.`;
}

/** How many characters of texts are remembered at most, beside what they were taken apart into. */
const MOST_REMEMBERED = 1_048_576;
const remembered = new Map<string, ParsedText>();
let size = 0;

/**
 * Takes a text with templates apart, each text once: `{{path | filter: argument, argument | …}}`. A template without
 * filters is a path between braces, whatever characters it has but blanks and braces. Never throws.
 */
export function parseTemplates(text: string): ParsedText {
  const known = remembered.get(text);
  if (known) return known;
  const parsed = parse(text);
  if (size + text.length > MOST_REMEMBERED) {
    remembered.clear();
    size = 0;
  }
  remembered.set(text, parsed);
  size += text.length;
  return parsed;
}
