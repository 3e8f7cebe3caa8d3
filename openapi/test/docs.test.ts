import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import MiniSearch from 'minisearch';
import { beforeAll, describe, expect, it } from 'vitest';
import { errorsAndStates } from '../build-pages.ts';
import { drawDiagram } from '../guides/diagrams.ts';
import { PARTS } from '../guides/pages.ts';
import { searchOptions } from '../guides/search-options.js';
import { OPERATIONS } from './operations-table.ts';
import { QUESTIONS } from './questions.ts';

const here = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
let page: string;

beforeAll(async () => {
  // Not built anew where it stands: the server's tests may be reading it right now.
  for (const [made, by] of [
    ['dist/docs/index.html', 'build-docs.ts'],
    ['dist/docs/llms.txt', 'build-guides.ts'],
  ] as const)
    if (!existsSync(here(made))) await promisify(execFile)(process.execPath, [here(by)]);
  page = await readFile(here('dist/docs/index.html'), 'utf8');
});

describe('the docs page', () => {
  it('describes every operation', () => {
    const missing = OPERATIONS.filter(({ operationId }) => !page.includes(operationId));
    expect(missing).toEqual([]);
  });

  it('is one file, which loads nothing from anywhere', () => {
    const markup = page.replace(/<script\b[^>]*>[\s\S]*?<\/script>/g, (script) =>
      script.slice(0, script.indexOf('>') + 1),
    );
    const loading =
      /<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*\s(?:src|data)=["']?(?!data:)[^"'\s>]/gi;
    const linking =
      /<link\b(?=[^>]*rel=["']?(?:stylesheet|icon|preload|modulepreload|preconnect|dns-prefetch))[^>]*href=["']?(?!data:)[^"'\s>]/gi;
    expect(markup.match(loading)).toBeNull();
    expect(markup.match(linking)).toBeNull();
    expect(page).not.toMatch(/url\(\s*["']?(?:https?:)?\/\//i);
    expect(page).not.toMatch(/@import\s+(?:url\()?["']?(?:https?:)?\/\//i);
    expect(page).not.toContain('cdn.redoc.ly');
    expect(page).toMatch(/API docs by Redoc/);
  });
});

it('the page of errors and states is that of the contract; `npm run generate` writes it', async () => {
  const { components } = JSON.parse(await readFile(here('dist/closed.json'), 'utf8'));
  expect(errorsAndStates(components.schemas)).toBe(await readFile(here('../docs/errors.md'), 'utf8'));
  delete components.schemas.ErrorCode['x-help'].not_found;
  expect(() => errorsAndStates(components.schemas)).toThrow('Each code needs');
});

it("the picture of a campaign's way has the moves of the contract", async () => {
  const { components } = JSON.parse(await readFile(here('dist/closed.json'), 'utf8'));
  const [, picture] = /```mermaid\n(.*?)```/s.exec(await readFile(here('../docs/campaigns.md'), 'utf8'))!;
  const moves = Object.entries(components.schemas.CampaignStatus['x-transitions'] as Record<string, string[]>);
  const told = moves.flatMap(([from, to]) => to.map((each) => `${from} --> ${each}`));
  const shown = [...picture!.matchAll(/(\w+ --> \w+):/g)].map(([, move]) => move);
  expect(shown.toSorted()).toEqual(told.toSorted());
});

it('a diagram is drawn alike each time, and one of an unknown kind is refused', () => {
  const source = 'stateDiagram-v2\n[*] --> new\nnew --> old: in time\nold --> new\nold --> [*]';
  const picture = drawDiagram(source, 'States of a <thing>');
  expect(drawDiagram(source, 'States of a <thing>')).toBe(picture);
  expect(picture).toMatch(/^<svg role="img" aria-label="States of a &lt;thing>"/);
  for (const text of ['new', 'old', 'in time']) expect(picture).toContain(`>${text}</text>`);
  expect(() => drawDiagram('pie\n"a": 1', 'Shares')).toThrow('No diagram of the kind pie');
});

describe('the guides', () => {
  let index: MiniSearch | undefined;
  const names = Object.values(PARTS).flat();
  const guide = (name: string) => readFile(here(`dist/docs/guides/${name}.html`), 'utf8');

  const firstHits = async (question: string): Promise<string[]> => {
    index ??= MiniSearch.loadJSON(await readFile(here('dist/docs/guides/search.json'), 'utf8'), searchOptions);
    return index
      .search(question)
      .slice(0, 3)
      .map(({ href }) => href);
  };

  it('are all pages of docs/, and llms.txt lists them', async () => {
    const files = (await readdir(here('../docs'))).filter((name) => name.endsWith('.md'));
    expect([...names].sort()).toEqual(files.map((name) => name.replace('.md', '')).sort());
    const built = (await readdir(here('dist/docs/guides'))).filter((name) => name.endsWith('.html'));
    expect(built.map((name) => name.replace('.html', '')).sort()).toEqual([...names].sort());
    const listed = await readFile(here('dist/docs/llms.txt'), 'utf8');
    expect([...listed.matchAll(/\(\/docs\/guides\/(.*)\)/g)].map(([, name]) => name)).toEqual(names);
  });

  it('have links that lead to headings that there are', async () => {
    const pages = new Map(await Promise.all(names.map(async (name) => [name, await guide(name)] as const)));
    const dead = [...pages].flatMap(([name, html]) =>
      [...html.matchAll(/<a href="(?!https?:|\/docs"|\/console")([^"#]*)(?:#([^"]*))?"/g)]
        .filter(([, to, anchor]) => {
          const target = pages.get(to || name);
          return !target || (anchor && !target.includes(`id="${decodeURIComponent(anchor)}"`));
        })
        .map(([link]) => `${name}: ${link}`),
    );
    expect(dead).toEqual([]);
    expect([...pages.values()].join('')).not.toMatch(
      /<(?:script|img|link)\b[^>]*(?:src|href)="(?!data:|page\.js|search\.js|style\.css)/,
    );
  });

  it.each([
    ['How do I start the server on my machine?', 'get-started#1-start-the-server'],
    ['How do I make a first call to a real phone?', 'telephony#a-first-real-call-in-ten-minutes'],
    ['How do I try it with a softphone at home?', 'telephony#a-softphone-on-your-own-network'],
    ['How do I connect my own voice agent?', 'agents'],
    ['How do I name the phone column in my contact file?', 'contact-files#the-phone-column'],
    ['What happens to duplicate rows in my file?', 'contact-files#rows-that-are-left-out'],
    ['How do I keep calls within the hours of the day that are allowed?', 'campaigns#when-people-are-called'],
    ['Which time zone counts for the person who is called?', 'campaigns#which-time-zone-counts'],
    ['How often is a busy number tried again?', 'campaigns#how-often-again'],
    ['Why was this person not called?', 'campaigns#why-was-this-person-not-called'],
    ['How do I stop all calls at once?', 'campaigns#stop-all-calls-at-once'],
    ['How do I put somebody on the do-not-call list?', 'campaigns#who-is-never-called-do-not-call'],
    ['How do I make a test call to my own phone?', 'calls#a-test-call'],
    ['Where do I find the transcript of a call?', 'calls#the-result'],
    ['What if I send the same request twice?', 'api#sending-a-request-twice-idempotency-key'],
    ['How do I make an API key that may only read?', 'api#keys-and-permissions'],
    ['How do I get the next page of a list?', 'api#lists'],
    ['What does campaign_not_startable mean?', 'errors#campaign_not_startable'],
    ['How do I check the signature of a webhook?', 'webhooks#receiving-check-the-signature'],
    ['How do I decide which agent answers an inbound call?', 'webhooks#who-takes-an-inbound-call'],
    ['Which ports do I have to open in the firewall?', 'deployment#the-firewall'],
    ['Can I use a managed PostgreSQL database?', 'deployment#the-database'],
    ['How do I put nginx with TLS in front of it?', 'deployment#tls-and-the-reverse-proxy'],
    ['How do I restore a backup?', 'operations#after-a-restore'],
    ["How do I erase somebody's data for the GDPR?", 'compliance#gdpr-european-union-and-the-uks'],
    ['How do I erase all that is kept about a person?', 'records#erase-a-person'],
    ['How do I call from several numbers in turn?', 'phone-numbers#which-number-calls'],
    ['How do I ask my CRM over HTTP in a workflow?', 'workflows#the-nodes'],
    ['How do I let my agent search documents?', 'knowledge-bases#search'],
    ['What does startCampaign do?', '/docs#/campaigns/startcampaign'],
    ['How do I export my calls as CSV?', 'records#exports'],
    ['How far does one PostgreSQL go?', 'scale#how-far-one-postgresql-goes'],
  ])('answer "%s" in the first hits of the search', async (question, expected) => {
    expect(await firstHits(question)).toContain(expected);
  });

  it('answer at least 45 of 50 questions of strangers in the first three hits of the search', async () => {
    expect(QUESTIONS).toHaveLength(50);
    const unanswered: string[] = [];
    for (const [question, ...answers] of QUESTIONS) {
      const hits = await firstHits(question);
      if (!answers.some((answer) => hits.includes(answer))) unanswered.push(`${question}: ${hits.join(', ')}`);
    }
    expect(unanswered.length, unanswered.join('\n')).toBeLessThanOrEqual(5);
  });

  it('have a way to others, the contents of the page, tabs, and coloured code', async () => {
    const campaigns = await guide('campaigns');
    expect(campaigns).toMatch(/<a rel="prev" href="contact-files">.*<a rel="next" href="calls">/);
    expect(campaigns).toContain('<li class="h3"><a href="#stop-all-calls-at-once">');
    expect(campaigns).toContain('<p class="way">@trunkline/client</p>');
    expect(campaigns).toMatch(/<span class="hljs-\w+">/);
    const first = await guide('get-started');
    expect(first).not.toContain('rel="prev"');
    expect(first.match(/<p class="way">Command line<\/p>/g)).toHaveLength(3);
  });
});
