import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import MarkdownIt, { type Token } from 'markdown-it';
import MiniSearch from 'minisearch';
import { codeBlock, tabOf } from './guides/code.ts';
import { drawDiagram } from './guides/diagrams.ts';
import { PARTS } from './guides/pages.ts';
import { searchOptions } from './guides/search-options.js';
import { pageOf } from './guides/shell.ts';

// The pages of docs/ as a site beside the reference, with a search over both, and the list of pages for programs that
// read (llms.txt): `npm run docs`, once the contract is bundled.

interface Section {
  id: string;
  href: string;
  page: string;
  title: string;
  text: string;
}
interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
}

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const target = fileOf('dist/docs/guides/');
const names = Object.values(PARTS).flat();
const markdown = new MarkdownIt({ html: true });
const sections: Section[] = [];

/** As code hosts make it. */
const slugOf = (title: string) =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

const textOf = (tokens: Token[]): string =>
  tokens.map(({ content, children }) => (children ? textOf(children) : content)).join(' ');

/** The tokens of a page as the site shows it: headings have IDs, and links lead to pages that it has. */
function tokensOf(name: string): Token[] {
  const tokens = markdown.parse(readFileSync(fileOf(`../docs/${name}.md`), 'utf8'), {});
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'heading_open')
      token.attrSet('id', slugOf(tokens[at + 1]!.children!.map(({ content }) => content).join('')));
    for (const child of token.children ?? []) if (child.type === 'link_open') lead(child, name);
  }
  return tokens.filter(({ type }) => type !== 'html_block');
}

const isDiagram = ({ type, info }: Token) => type === 'fence' && info === 'mermaid';
markdown.renderer.rules.fence = (tokens, at) => {
  const token = tokens[at]!;
  if (!isDiagram(token)) return codeOf(tokens, at);
  const heading = tokens.slice(0, at).findLastIndex(({ type }) => type === 'heading_open');
  const title = `Picture of ${textOf([tokens[heading + 1]!]).trim()}; the text beside it says the same`;
  return `<div class="wide" tabindex="0">${drawDiagram(token.content, title)}</div>`;
};

/** A block of code, or one of several ways to do the same. */
function codeOf(tokens: Token[], at: number): string {
  const { info, content } = tokens[at]!;
  const block = codeBlock(info, content);
  const tab = tabOf(tokens, at);
  if (!tab) return block;
  const { label, first, last } = tab;
  const panel = `<section><p class="way">${label}</p>\n${block}</section>\n`;
  return `${first ? '<div class="ways">\n' : ''}${panel}${last ? '</div>\n' : ''}`;
}

/** Where other files of the repository are read. */
const repository = (
  JSON.parse(readFileSync(fileOf('package.json'), 'utf8')) as { repository: { url: string } }
).repository.url.replace(/^git\+(.*)\.git$/, '$1');

/** Leads a link to the site's page, and one to another file of the repository to where that is read. */
function lead(link: Token, from: string) {
  const href = link.attrGet('href')!;
  const [file, anchor] = href.split('#');
  if (/^https?:/.test(href) || href.startsWith('#')) return;
  const behind = anchor ? `#${anchor}` : '';
  const page = file!.replace(/\.md$/, '');
  if (names.includes(page)) return link.attrSet('href', page + behind);
  const target = fileOf(`../docs/${file}`);
  if (!existsSync(target)) throw new Error(`docs/${from}.md links to ${href}, which is not there`);
  const kind = statSync(target).isDirectory() ? 'tree' : 'blob';
  link.attrSet('href', `${repository}/${kind}/main/${path.relative(fileOf('..'), target)}${behind}`);
}

/** The parts of a page that a search can lead to: from each heading to the next. */
function addSections(name: string, tokens: Token[]) {
  const page = textOf([tokens[1]!]);
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const href = token.tag === 'h1' ? name : `${name}#${token.attrGet('id')}`;
      sections.push({ id: href, href, page, title: textOf([tokens[at + 1]!]), text: '' });
    } else if (token.type === 'inline' && tokens[at - 1]!.type !== 'heading_open') {
      sections.at(-1)!.text += ` ${textOf([token]).replaceAll(/\s+/g, ' ')}`;
    }
  }
}

function addOperations() {
  const { paths } = JSON.parse(readFileSync(fileOf('dist/openapi.json'), 'utf8')) as {
    paths: Record<string, Record<string, Operation>>;
  };
  for (const [path, methods] of Object.entries(paths))
    for (const { operationId, tags, summary, description } of Object.values(methods).filter(
      (each) => each.operationId,
    )) {
      const href = `/docs#/${tags[0]!.replaceAll(' ', '-')}/${operationId}`.toLowerCase();
      sections.push({
        id: href,
        href,
        page: 'Reference',
        title: summary,
        text: `${operationId} ${path} ${description}`,
      });
    }
}

const pages = names.map((name) => {
  const tokens = tokensOf(name);
  addSections(name, tokens);
  return { name, title: textOf([tokens[1]!]), tokens };
});
const titleOf = (name: string) => pages.find((page) => page.name === name)!.title;

const headingsOf = (tokens: Token[]) =>
  tokens.flatMap((token, at) =>
    token.type === 'heading_open'
      ? [
          {
            tag: token.tag,
            id: String(token.attrGet('id')),
            title: markdown.utils.escapeHtml(textOf([tokens[at + 1]!])),
          },
        ]
      : [],
  );
const guides = pages.map(({ name, title, tokens }) => ({ name, title, headings: headingsOf(tokens) }));

/** Tables can be scrolled by themselves, and an empty head is none. */
const readable = (html: string) =>
  html
    .replaceAll('<th></th>', '<td></td>')
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');

mkdirSync(target, { recursive: true });
for (const file of readdirSync(target)) {
  const [, page] = /^(.*)\.html/.exec(file) ?? [];
  if (page && !names.includes(page)) rmSync(target + file);
}
for (const [at, { name, tokens }] of pages.entries()) {
  const body = readable(markdown.renderer.render(tokens, markdown.options, {}));
  writeFileSync(`${target}${name}.html`, pageOf(guides[at]!, guides, body));
}
addOperations();
const search = new MiniSearch<Section>(searchOptions);
search.addAll(sections);
writeFileSync(`${target}search.json`, JSON.stringify(search));
for (const name of ['page.js', 'search.js', 'search-options.js', 'style.css'])
  copyFileSync(fileOf(`guides/${name}`), target + name);
const minisearch = fileOf('node_modules/minisearch/');
const [licence, source] = ['LICENSE.txt', 'dist/es/index.js'].map((name) => readFileSync(minisearch + name, 'utf8'));
writeFileSync(`${target}minisearch.js`, `/*\n${licence}*/\n${source.replace(/\/\/# sourceMappingURL.*/, '')}`);

const listed = Object.entries(PARTS).map(([part, ofPart]) => {
  const lines = ofPart.map((name) => `- [${titleOf(name)}](/docs/guides/${name})`);
  return `## ${part}\n\n${lines.join('\n')}`;
});
writeFileSync(
  fileOf('dist/docs/llms.txt'),
  `# Trunkline

> An open, self-hosted service that calls people with voice agents.

- [The contract, OpenAPI 3.1](/openapi.yaml)
- [The reference of the API](/docs)

${listed.join('\n\n')}
`,
);
