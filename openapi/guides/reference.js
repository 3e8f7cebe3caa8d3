// What Redoc's markup doesn't tell those who hear a page, and none of its settings changes: where the menu is, which heading
// stands below which, and which example is chosen. Redoc draws anew as one moves, so all is told again after each change.

/** How deep a heading stands; Redoc leaves out a level, and a page of an operation begins with the second. */
function level(heading, hasTitle) {
  const depth = Number(heading.tagName.slice(1));
  return (depth > 3 ? depth - 1 : depth) - (hasTitle ? 0 : 1);
}

function mend() {
  const menu = document.querySelector('.menu-content');
  menu?.setAttribute('role', 'navigation');
  menu?.setAttribute('aria-label', 'Operations');
  const hasTitle = document.querySelector('h1') !== null;
  for (const heading of document.querySelectorAll('h2, h3, h4, h5, h6'))
    heading.setAttribute('aria-level', String(level(heading, hasTitle)));
  for (const list of document.querySelectorAll('main button[aria-haspopup=menu][aria-label^=Example]'))
    list.setAttribute('aria-label', `Example: ${list.textContent}`);
}

let isDue = false;
new MutationObserver(() => {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    mend();
  });
}).observe(document, { childList: true, characterData: true, subtree: true });
