import MiniSearch from './minisearch.js';
import { searchOptions } from './search-options.js';

// Searches the guides and the operations of the reference, in the reader's browser.

const MOST = 10;
const BEFORE = 50;
const EXCERPT = 150;
const box = document.querySelector('.search');
const input = box.querySelector('input');
const found = box.querySelector('.found');
const said = found.querySelector('p');
const list = found.querySelector('ul');
let index;

async function load() {
  const answer = await fetch('search.json');
  return MiniSearch.loadJSON(await answer.text(), searchOptions);
}

/** What of a text says why it was found: around its first word that matches, with all such words marked. */
function excerpt(text, terms) {
  const words = [...text.matchAll(/[\p{L}\p{N}_-]+/gu)];
  const matches = words.filter(([word]) => terms.some((term) => word.toLowerCase().startsWith(term)));
  const from = Math.max(0, (matches[0]?.index ?? 0) - BEFORE);
  const start = from > 0 ? text.indexOf(' ', from) + 1 : 0;
  const end = start + EXCERPT < text.length ? text.lastIndexOf(' ', start + EXCERPT) : text.length;
  const line = document.createElement('span');
  line.className = 'excerpt';
  let at = start;
  if (start > 0) line.append('… ');
  for (const match of matches) {
    const [word] = match;
    if (match.index < at || match.index + word.length > end) continue;
    const mark = document.createElement('mark');
    mark.textContent = word;
    line.append(text.slice(at, match.index), mark);
    at = match.index + word.length;
  }
  line.append(text.slice(at, end), end < text.length ? ' …' : '');
  return line;
}

function lineOf({ href, title, page, text, terms }) {
  const line = document.createElement('li');
  const link = line.appendChild(document.createElement('a'));
  link.href = href;
  const name = link.appendChild(document.createElement('strong'));
  name.textContent = title;
  if (page !== title) link.append(` · ${page}`);
  link.append(excerpt(text, terms));
  return line;
}

async function show() {
  index ??= load();
  const ready = await index;
  const asked = input.value.trim();
  const hits = asked ? ready.search(asked).slice(0, MOST) : [];
  list.replaceChildren(...hits.map(lineOf));
  found.hidden = !asked;
  said.textContent =
    hits.length > 0
      ? `${hits.length === MOST ? 'The best ' : ''}${hits.length} found. Arrow keys choose.`
      : `Nothing is found for “${asked}”. Try fewer words, or what it does in plain ones.`;
}

function close() {
  found.hidden = true;
  input.focus();
}

/** Up and down among the field and what is found. */
function step(by) {
  const stops = [input, ...list.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement);
  stops[Math.min(Math.max(at + by, 0), stops.length - 1)].focus();
}

input.addEventListener('input', show);
input.addEventListener('focus', () => {
  if (input.value.trim()) show();
});
box.addEventListener('keydown', (event) => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by && !found.hidden) {
    event.preventDefault();
    step(by);
  }
  if (event.key === 'Escape' && !found.hidden) {
    event.stopPropagation();
    close();
  }
  if (event.key === 'Enter' && event.target === input) list.querySelector('a')?.click();
});
// On the way to what was found the list closes, also where that stands on this page.
list.addEventListener('click', () => {
  found.hidden = true;
});
document.addEventListener('click', ({ target }) => {
  if (!box.contains(target)) found.hidden = true;
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.closest('input, textarea, [contenteditable]')) return;
  event.preventDefault();
  input.focus();
});
