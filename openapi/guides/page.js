// Copies code, shows one of several ways to do a thing, and opens the menu where there is no room for it.

document.documentElement.classList.add('scripted');

const SHOWN_MS = 2000;
const WAY = 'trunkline-docs-way';

function button(text, label) {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = text;
  if (label) made.setAttribute('aria-label', label);
  return made;
}

for (const block of document.querySelectorAll('main pre')) {
  const holder = document.createElement('div');
  holder.className = 'code';
  block.replaceWith(holder);
  const copy = button('Copy', 'Copy this code');
  copy.className = 'copy';
  copy.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.textContent);
    copy.textContent = 'Copied';
    setTimeout(() => {
      copy.textContent = 'Copy';
    }, SHOWN_MS);
  });
  holder.append(block, copy);
}

/** All sets of tabs show the same way, as far as they have it. */
function choose(way, sets) {
  for (const { tabs } of sets) {
    const chosen = tabs.find(({ tab }) => tab.textContent === way) ?? tabs[0];
    for (const { tab, panel } of tabs) {
      const isChosen = tab === chosen.tab;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      panel.hidden = !isChosen;
    }
  }
}

const sets = [...document.querySelectorAll('.ways')].map((set, at) => {
  const list = document.createElement('div');
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', 'Ways to do it');
  const tabs = [...set.querySelectorAll('section')].map((panel, nth) => {
    const label = panel.querySelector('.way');
    const tab = button(label.textContent);
    label.remove();
    tab.id = `way-${at}-${nth}`;
    panel.id = `panel-${at}-${nth}`;
    tab.setAttribute('role', 'tab');
    tab.setAttribute('aria-controls', panel.id);
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', tab.id);
    list.append(tab);
    return { tab, panel };
  });
  set.prepend(list);
  return { list, tabs };
});

for (const { list, tabs } of sets) {
  list.addEventListener('click', ({ target }) => {
    if (target.role !== 'tab') return;
    localStorage.setItem(WAY, target.textContent);
    const before = target.getBoundingClientRect().top;
    choose(target.textContent, sets);
    scrollBy({ top: target.getBoundingClientRect().top - before, behavior: 'instant' });
  });
  list.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = tabs.findIndex(({ tab }) => tab === document.activeElement);
    const { tab } = tabs[(at + step + tabs.length) % tabs.length];
    tab.focus();
    tab.click();
  });
}
choose(localStorage.getItem(WAY), sets);

const menu = document.querySelector('button.menu');
const pages = document.querySelector('#pages');
function openMenu(open) {
  menu.setAttribute('aria-expanded', String(open));
  pages.classList.toggle('open', open);
}
menu.addEventListener('click', () => openMenu(menu.getAttribute('aria-expanded') === 'false'));
document.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape' || menu.getAttribute('aria-expanded') === 'false') return;
  openMenu(false);
  menu.focus();
});
