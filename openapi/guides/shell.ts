import { readFileSync } from 'node:fs';
import { PARTS } from './pages.ts';

// What stands around the text of a guide: the head, the way to other pages, and the contents of this one.

interface Heading {
  tag: string;
  id: string;
  title: string;
}
export interface Guide {
  name: string;
  title: string;
  headings: readonly Heading[];
}

const names = Object.values(PARTS).flat();

/** The product's sign, as its console has it. It is in each page: none asks for a file of its own. */
export const ICON = `data:image/svg+xml,${encodeURIComponent(
  readFileSync(new URL('../../apps/console/public/favicon.svg', import.meta.url), 'utf8').trim(),
)}`;

const menu = (current: string, guides: readonly Guide[]) =>
  Object.entries(PARTS)
    .map(([part, ofPart]) => {
      const links = ofPart.map((name) => {
        const { title } = guides.find((guide) => guide.name === name)!;
        return `<li><a href="${name}"${name === current ? ' aria-current="page"' : ''}>${title}</a></li>`;
      });
      return `<h2>${part}</h2>\n<ul>${links.join('')}</ul>`;
    })
    .join('\n');

/** The parts of a page, two levels deep; nothing if there is but one. */
function contents({ headings }: Guide): string {
  const shown = headings.filter(({ tag }) => tag === 'h2' || tag === 'h3');
  if (shown.length < 2) return '';
  const links = shown.map(({ tag, id, title }) => `<li class="${tag}"><a href="#${id}">${title}</a></li>`);
  return `<nav class="contents" aria-label="On this page">\n<h2>On this page</h2>\n<ul>${links.join('')}</ul>\n</nav>`;
}

function steps(current: string, guides: readonly Guide[]): string {
  const at = names.indexOf(current);
  const link = (name: string | undefined, rel: string, word: string) => {
    if (!name) return '<span></span>';
    const { title } = guides.find((guide) => guide.name === name)!;
    return `<a rel="${rel}" href="${name}"><span>${word}</span>${title}</a>`;
  };
  return `<nav class="steps" aria-label="Pages before and after">${link(names[at - 1], 'prev', 'Previous')}${link(names[at + 1], 'next', 'Next')}</nav>`;
}

/** A whole page. */
export const pageOf = (guide: Guide, guides: readonly Guide[], body: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${guide.title} · Trunkline</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="style.css">
<script type="module" src="page.js"></script>
<script type="module" src="search.js"></script>
<a class="skip" href="#text">Skip to the text</a>
<header>
<a class="name" href="get-started"><img src="${ICON}" alt="" width="20" height="20">Trunkline</a>
<nav aria-label="Product"><a href="get-started" class="here">Guides</a><a href="/docs">Reference</a><a href="/console">Console</a></nav>
<div class="search" role="search">
<input type="search" placeholder="Search  /" aria-label="Search guides and reference" autocomplete="off">
<div class="found" hidden><p role="status"></p><ul></ul></div>
</div>
<button type="button" class="menu" aria-expanded="false" aria-controls="pages">Menu</button>
</header>
<div class="columns">
<nav class="pages" id="pages" aria-label="Pages">
${menu(guide.name, guides)}
<div class="narrow"><h2>Elsewhere</h2>
<ul><li><a href="/docs">Reference</a></li><li><a href="/console">Console</a></li></ul></div>
</nav>
<main id="text">
${body}
${steps(guide.name, guides)}
</main>
${contents(guide)}
</div>
</html>
`;
