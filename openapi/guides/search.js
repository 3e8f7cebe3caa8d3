import MiniSearch from './minisearch.js';
import { searchOptions } from './search-options.js';

// Searches the guides and the operations of the reference, in the reader's browser.

const MOST = 12;
const input = document.querySelector('input');
const found = document.querySelector('#found');
let index;

async function load() {
  const answer = await fetch('search.json');
  return MiniSearch.loadJSON(await answer.text(), searchOptions);
}

async function show() {
  index ??= load();
  const ready = await index;
  const hits = input.value.trim() ? ready.search(input.value).slice(0, MOST) : [];
  found.replaceChildren(
    ...hits.map(({ href, title, page }) => {
      const line = document.createElement('li');
      const link = line.appendChild(document.createElement('a'));
      link.href = href;
      link.textContent = title === page ? title : `${title} · ${page}`;
      return line;
    }),
  );
}

input.addEventListener('input', show);
