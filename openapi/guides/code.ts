import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import http from 'highlight.js/lib/languages/http';
import ini from 'highlight.js/lib/languages/ini';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import nginx from 'highlight.js/lib/languages/nginx';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import type { Token } from 'markdown-it';

// Blocks of code as the guides show them: coloured, and those that do the same thing in several ways as tabs.

const languages = { bash, http, ini, javascript, json, nginx, python, sql, typescript, yaml };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);

/** What fences are called, where that is no name of a language. */
const ALIASES: Readonly<Record<string, string>> = {
  console: 'bash',
  sh: 'bash',
  ts: 'typescript',
  mts: 'typescript',
  js: 'javascript',
  py: 'python',
  yml: 'yaml',
  jsonc: 'json',
};

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** A block of code, coloured if its language is known. */
export function codeBlock(info: string, code: string): string {
  const [written = ''] = info.split(' ');
  const language = ALIASES[written] ?? written;
  const shown = hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : escaped(code);
  return `<pre tabindex="0"><code>${shown}</code></pre>\n`;
}

/** What the tabs are called. The first block of a set bears no name: it is what the suite runs. */
const LABELS: Readonly<Record<string, string>> = { client: '@trunkline/client', cli: 'Command line' };
const FIRST_LABEL = 'curl';

const labelOf = ({ type, info }: Token): string | undefined =>
  type === 'fence' ? LABELS[info.split(' ')[1] ?? ''] : undefined;

/** The label of a block that is one of a set of tabs, and whether it begins or ends the set; nothing if it is none. */
export function tabOf(
  tokens: readonly Token[],
  at: number,
): { label: string; first: boolean; last: boolean } | undefined {
  const next = tokens[at + 1];
  const hasNext = next !== undefined && labelOf(next) !== undefined;
  const label = labelOf(tokens[at]!);
  if (!label && !hasNext) return undefined;
  return { label: label ?? FIRST_LABEL, first: !label, last: !hasNext };
}
