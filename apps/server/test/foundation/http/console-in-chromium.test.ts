import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasChromium } from '../../../../../openapi/test/browser.ts';
import { rolePermissions } from '../../../src/platform/members/roles.ts';
import { draftOf, HOSTILE, type OpenConsole, openConsole } from './console-pages.ts';
import { walkNewCampaign } from './new-campaign-walk.ts';

const VIEWER = [
  ...['campaigns:read', 'calls:read', 'contact_lists:read', 'do_not_call:read', 'agents:read'],
  ...['phone_numbers:read', 'number_pools:read', 'workflows:read', 'knowledge_bases:read'],
] as const satisfies string[];

let desk: OpenConsole;
let campaignId: string;
beforeAll(async () => {
  if (!hasChromium) return;
  desk = await openConsole();
  campaignId = await draftOf(desk, 'November reminders', 60);
});
afterAll(() => desk?.stop());

test.skipIf(!hasChromium)(
  'by keyboard alone: sign in, find a draft, start it, stop and let go on all dialing, pause it, see it end, also through a death of the server (needs chromium)',
  async () => {
    const { page, context, faults } = await desk.open({ viewport: { width: 1280, height: 900 } });
    const { keyboard } = page;
    const tabTo = async (name: string, key = 'Tab') => {
      for (let steps = 0; steps < 60; steps += 1) {
        const reached = await page.evaluate<string>('document.activeElement?.textContent');
        if (reached === name) return;
        await keyboard.press(key);
      }
      throw new Error(`${key} does not lead to ${name}.`);
    };
    const says = (text: string | RegExp) => page.getByText(text).first().waitFor();
    const holdSpace = async () => {
      await keyboard.down(' ');
      await page.waitForTimeout(1300);
      await keyboard.up(' ');
    };

    await page.goto('/console');
    await page.getByLabel('API key').focus();
    await keyboard.type(`${desk.apiKey}x`);
    await keyboard.press('Enter');
    await says(/no API key|no longer valid/i);
    await page.getByLabel('API key').fill(desk.apiKey);
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Campaigns' }).waitFor();
    expect(await page.evaluate('[document.cookie, localStorage.length, sessionStorage.length]')).toEqual(['', 0, 0]);

    await keyboard.press('/');
    await page.getByRole('combobox', { name: 'Search' }).and(page.locator(':focus')).waitFor();
    await keyboard.type('reminders');
    await page.getByRole('option', { name: 'November reminders' }).waitFor();
    await keyboard.press('Enter');
    await says('A draft. It calls nobody until it is started.');
    expect(page.url()).toBe(`${desk.url}/console/campaigns/${campaignId}`);
    await tabTo('Start…');
    await keyboard.press('Enter');
    await page.getByLabel('Type 60 to start').focus();
    await keyboard.type('60');
    await keyboard.press('Enter');
    await says(/Dialing: \d calls? up\./);

    await tabTo('Hold to stop all dialing');
    await holdSpace();
    await says(/All dialing is stopped since .*, by /);
    await says('Waiting: all dialing is stopped.');
    await tabTo('Hold to let dialing go on');
    await holdSpace();
    await says(/Dialing is on\./);

    // What is changed of a running campaign pauses it; if the change fails, it goes on.
    await tabTo('Change');
    await keyboard.press('Enter');
    const refused = (url: URL) => url.pathname.endsWith(campaignId);
    await page.route(refused, (route) => (route.request().method() === 'PATCH' ? route.abort() : route.continue()));
    await tabTo('Save');
    await keyboard.press('Enter');
    await page.getByRole('form', { name: 'Hours and pace' }).getByRole('alert').waitFor();
    expect((await desk.client.campaigns.get(campaignId)).status).toBe('running');
    await page.unroute(refused);
    await tabTo('Leave it');
    await keyboard.press('Enter');
    await page.getByText(/The server has not answered since/).waitFor({ state: 'detached' });

    await tabTo('Pause', 'Shift+Tab');
    await keyboard.press('Enter');
    await says('Paused.');
    await says('Dialing is on. 0 calls up.');
    await desk.kill();
    await says(/The server has not answered since/);
    await desk.start();
    await page.getByText(/The server has not answered since/).waitFor({ state: 'detached' });
    await tabTo('Resume');
    await keyboard.press('Enter');

    await page.getByText('Done.').waitFor({ timeout: 60_000 });
    await page.getByRole('cell', { name: HOSTILE }).waitFor();
    expect(await page.evaluate(`'wasRun' in window`)).toBe(false);
    expect(faults).toEqual([]);
    await context.close();
  },
);

test.skipIf(!hasChromium)(
  'a manager makes a campaign of a spreadsheet with five hidden faults, narrow and dark, and follows it (needs chromium)',
  async () => {
    const permissions = [...rolePermissions.manager] as ['*'];
    const { key } = await desk.client.apiKeys.create({ name: 'Manager', permissions });
    await desk.client.agents.create({ name: 'Zoe', connection: { type: 'stream', url: 'wss://agents.example.com/' } });
    const { page, context, faults } = await desk.open({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    await desk.signIn(context, key);
    const look = async (step: string) =>
      void faults.push(...(await desk.faultsOf(page)).map((fault) => `${step}: ${fault}`));
    const listId = await walkNewCampaign({ page, hears: 'echo', look });
    expect(faults).toEqual([]);
    expect((await desk.client.campaigns.list({ listId })).totalCount).toBe(1);
    expect((await desk.client.contactLists.list({ searchText: 'Customers 2026' })).totalCount).toBe(1);
    await context.close();
  },
);

test.skipIf(!hasChromium)(
  'each screen can be read by all, narrow and wide, light and dark, and fits (needs chromium)',
  async () => {
    const faults: string[] = [];
    const [agent] = await Promise.all([
      modelAgent(),
      desk.client.members.create({ email: 'grace@example.com', role: 'manager' }),
    ]);
    for (const [width, colorScheme] of [
      [390, 'dark'],
      [2560, 'light'],
    ] as const) {
      const { page, context, faults: told } = await desk.open({ viewport: { width, height: 900 }, colorScheme });
      await page.goto('/console');
      await page.getByLabel('API key').waitFor();
      const look = async () =>
        faults.push(...(await desk.faultsOf(page)).map((fault) => `${page.url()} ${width}: ${fault}`));
      await look();
      await desk.signIn(context);
      const { items } = await desk.client.calls.list({ campaignId, outcome: 'answered' });
      for (const [address, shown] of [
        ['/campaigns', 'November reminders'],
        [`/campaigns/${campaignId}?contact=%2B14152001001`, 'Ada 1'],
        [`/calls?campaignId=${campaignId}`, 'How it ended'],
        [`/calls/${items[0]!.roomId}`, 'Timeline'],
        ['/lists/phone-numbers', 'simulator'],
        ['/people/+14152001001', 'May it be called now?'],
        [`/agents/${agent.id}`, 'It says first_name, day.'],
        ['/members', 'manager'],
        ['/keys', 'Signed in with a browser'],
        ['/limits', 'Calls up at once, at most'],
      ] as const) {
        await page.goto(`/console${address}`);
        await page.getByText(shown).first().waitFor();
        await look();
      }
      await page.getByRole('button', { name: 'Search' }).first().click();
      for (const [text, shown] of [
        ['ada 17', 'Ada 17, +14152001017'],
        ['no such name', 'Nothing is found. Searched are people, calls'],
      ] as const) {
        await page.getByRole('combobox', { name: 'Search' }).fill(text);
        await page.getByText(shown).waitFor();
        await look();
      }
      faults.push(...told);
      await context.close();
    }
    expect(faults).toEqual([]);
  },
);

/** An agent whose name would run, were it more than a text. */
async function modelAgent() {
  const texts = { instructions: 'Remind {{first_name}} of {{day}}.', firstMessage: 'Hello {{first_name}}.' };
  const connection = { type: 'realtime', protocol: 'openai_realtime', model: 'gpt-realtime-2' } as const;
  return (await desk.client.agents.create({ name: HOSTILE, connection, ...texts })).agent;
}

/** A call in which something was said, with a recording of two seconds. */
async function heard(page: Page): Promise<string> {
  const { items } = await desk.client.calls.list({ campaignId, outcome: 'answered', perPage: 1 });
  const [{ roomId, answeredAt }] = items as [(typeof items)[number]];
  const at = new Date(Date.parse(answeredAt!) + 1000).toISOString();
  await desk.client.calls.recordResult(roomId, { transcript: [{ role: 'person', text: HOSTILE, at }] });
  const wav = Buffer.alloc(44 + 2 * 32_000, 9);
  const url = `${desk.url}/objects/heard.wav`;
  const recording = { status: 'stored', url, durationSeconds: 2, sizeBytes: wav.length };
  await page.route(url, (route) => route.fulfill({ body: wav, contentType: 'audio/wav' }));
  const peaks = { roomId, durationSeconds: 2, callee: [0, 0.5], agent: [0.25, 0] };
  await page.route(`**/v1/calls/${roomId}/recording/peaks?points=800`, (route) => route.fulfill({ json: peaks }));
  await page.route(`**/v1/calls/${roomId}`, async (route) => {
    const response = await route.fetch();
    const told = await response.json();
    return route.fulfill({ response, json: { ...told, recording } });
  });
  return roomId;
}

test.skipIf(!hasChromium)(
  'a number typed anywhere opens the person, who is put on the do-not-call list; who was not reached is called again by a draft, and one is skipped; what was said is found in its sound (needs chromium)',
  async () => {
    const { page, context, faults } = await desk.open();
    const click = (role: 'button' | 'link', name: string) => page.getByRole(role, { name, exact: true }).click();
    await desk.signIn(context);
    await page.goto('/console/campaigns');
    await page.getByRole('heading', { name: 'Campaigns' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('+1 (415) 200-1000');
    await page.getByRole('option', { name: 'Person' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: HOSTILE }).waitFor();
    expect(page.url()).toBe(`${desk.url}/console/people/+14152001000`);
    await page.getByText('No campaign is going to call.').waitFor();
    await click('button', 'Do not call…');
    await page.getByLabel('Why, for whoever asks later').fill(HOSTILE);
    await click('button', 'Never call 1 number');
    await page.getByText('Nothing calls this number').waitFor();
    await page.getByText(`Opted out`).waitFor();
    await page.getByRole('link', { name: 'November reminders' }).click();

    const { contacts } = await desk.client.campaigns.redialContacts(campaignId, { dryRun: true });
    expect(contacts).toBeGreaterThan(1);
    await click('button', 'Call again…');
    await click('button', `Make a draft of ${contacts} people`);
    await page.getByText('It calls those again who were not reached by').waitFor();
    await page.getByRole('table', { name: 'Contacts' }).getByRole('link').first().click();
    await click('button', 'Skip');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Skip' }).click();
    await page.getByText('skipped: somebody had it skipped.').waitFor();
    await click('link', 'The person');
    await page.getByText('No: somebody had it skipped.').waitFor();

    const roomId = await heard(page);
    await page.goto(`/console/calls/${roomId}`);
    const place = page.getByRole('slider', { name: 'Place in the recording' });
    await place.waitFor();
    await click('button', '0:01');
    await page.locator('li[aria-current]', { hasText: HOSTILE }).waitFor();
    expect(await place.inputValue()).toBe('1');
    await place.press('Home');
    await page.locator('li[aria-current]').waitFor({ state: 'detached' });
    expect(await page.evaluate(`'wasRun' in window`)).toBe(false);
    expect(faults).toEqual([]);
    await context.close();
  },
);

test.skipIf(!hasChromium)(
  'members are invited, given a role and removed, keys are shown once and revoked, an agent and limits are changed (needs chromium)',
  async () => {
    const { page, context, faults } = await desk.open();
    const click = (name: string) => page.getByRole('button', { name, exact: true }).click();
    const row = (text: string) => page.getByRole('row').filter({ hasText: text });
    await desk.signIn(context);
    await page.goto('/console/members');
    await click('Invite…');
    await page.getByLabel('Address').fill('Joan@example.com');
    await page.getByRole('radio', { name: 'manager' }).check();
    await click('Invite');
    await row('joan@example.com').getByRole('cell', { name: 'manager' }).waitFor();
    await row('joan@example.com').getByRole('button', { name: 'Change role' }).click();
    await page.getByRole('radio', { name: 'developer' }).check();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Change role' }).click();
    await row('joan@example.com').getByRole('cell', { name: 'developer' }).waitFor();
    await row('joan@example.com').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    await row('joan@example.com').waitFor({ state: 'detached' });

    await page.getByRole('link', { name: 'Keys and sessions' }).click();
    await click('Make a key…');
    await page.getByLabel('What it is for').fill('Console’s key');
    await page.getByRole('checkbox', { name: 'campaigns:read' }).check();
    await click('Make the key');
    const key = await page.locator('code.select-all').textContent();
    await click('I have kept it');
    expect(await page.getByText(key!).count()).toBe(0);
    await row('Console’s key').getByRole('cell', { name: 'campaigns:read' }).waitFor();
    await row('Console’s key').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
    await row('Console’s key').waitFor({ state: 'detached' });
    await page.getByText('(you, here)').waitFor();

    await page.getByRole('link', { name: 'Limits and hours' }).click();
    await page.getByLabel('Calls a day (UTC), at most').fill('5000');
    await click('Save');
    await page.getByText('Saved. It holds for every call from now on.').waitFor();
    expect((await desk.client.workspace.get()).limits.maxCallsPerDay).toBe(5000);

    const { id } = await modelAgent();
    await page.goto(`/console/agents/${id}`);
    await page.getByLabel('Instructions').fill('Remind {{first name}}.');
    await page.getByText('is no variable').waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await page.getByLabel('Instructions').fill('Remind {{city}}.');
    await page.getByLabel('Do the people of this list have them?').selectOption({ label: 'People' });
    await page.getByText('It has no column city').waitFor();
    await click('Save');
    await page.getByText('Saved. It holds for calls that begin from now on.').waitFor();
    expect((await desk.client.agents.get(id)).instructions).toBe('Remind {{city}}.');
    expect(await page.evaluate(`'wasRun' in window`)).toBe(false);
    expect(faults).toEqual([]);
    await context.close();
  },
);

test.skipIf(!hasChromium)('who may only read is shown nothing that changes anything (needs chromium)', async () => {
  const { page, context } = await desk.open();
  const buttons = async () => {
    const names = await page.getByRole('button').allTextContents();
    return names.filter((name) => !/^(Search|Sign out)/.test(name)).map((name) => `${page.url()}: ${name}`);
  };
  const { key } = await desk.client.apiKeys.create({ name: 'Reader', permissions: ['campaigns:read'] });
  await desk.signIn(context, key);
  await page.goto(`/console/campaigns/${campaignId}`);
  await page.getByRole('heading', { name: 'November reminders' }).waitFor();
  expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual([
    'Campaigns',
    'Limits and hours',
  ]);
  await page.getByText(/\d+ ended of/).waitFor();
  expect(await page.getByRole('link', { name: 'answered' }).count()).toBe(0);
  expect(await buttons()).toEqual([]);

  const { items } = await desk.client.agents.list({ perPage: 1 });
  const viewer = await desk.client.apiKeys.create({ name: 'Viewer', permissions: [...VIEWER] });
  await desk.signIn(context, viewer.key);
  for (const [address, shown] of [
    [`/campaigns/${campaignId}?contact=%2B14152001001`, 'The person'],
    ['/people/+14152001001', 'May it be called now?'],
    ['/lists/do-not-call', '+14152001000'],
    ['/lists/phone-numbers', 'simulator'],
    [`/agents/${items[0]!.id}`, 'What it is told'],
    ['/limits', 'Calls up at once, at most'],
  ] as const) {
    await page.goto(`/console${address}`);
    await page.getByText(shown).first().waitFor();
    expect((await buttons()).filter((name) => !name.endsWith(': Close'))).toEqual([]);
  }
  await context.close();
});

test.skipIf(!hasChromium)(
  'a member comes in by the identity provider, is told why if it has refused, and chooses one of several workspaces, which shows nothing of the others (needs chromium)',
  async () => {
    const email = 'ada@example.com';
    await desk.client.members.create({ email, role: 'viewer' });
    await (await desk.clientElsewhere('Elsewhere')).members.create({ email, role: 'admin' });
    const { page, context } = await desk.open();
    let answer: Record<string, string> = { error: 'access_denied' };
    await page.route(`${desk.provider.issuer}/authorize**`, (route) => {
      const back = answer['error']
        ? answer
        : desk.provider.letIn(route.request().url(), { email, email_verified: true });
      const link = `${desk.url}/console/sign-in?${new URLSearchParams(back)}`.replaceAll('&', '&amp;');
      return route.fulfill({ contentType: 'text/html', body: `<a href="${link}">Back</a>` });
    });
    const comeIn = async () => {
      await page.getByRole('button', { name: 'Sign in as a member' }).click();
      await page.getByRole('link', { name: 'Back' }).click();
    };
    await page.goto('/console');
    await comeIn();
    await page.getByText('The identity provider refused it: access_denied.').waitFor();
    answer = {};
    await comeIn();
    await page.getByRole('heading', { name: 'Which workspace?' }).waitFor();
    expect(page.url()).toBe(`${desk.url}/console/workspaces`);
    const roleNow = async () => (await page.request.get('/v1/session').then((told) => told.json())).data.role;
    await page.getByRole('button', { name: 'Default' }).click();
    await page.getByRole('link', { name: 'November reminders' }).first().waitFor();
    expect(await roleNow()).toBe('viewer');
    await page.getByRole('link', { name: 'Other workspace' }).click();
    await page.getByRole('button', { name: 'Elsewhere' }).click();
    await page.getByText('Nobody is called yet.').waitFor();
    expect(await roleNow()).toBe('admin');
    for (const [address, says] of [
      [`/campaigns/${campaignId}`, /There is no such resource in this workspace/],
      ['/people/+14152001000', /Nothing here knows this number/],
    ] as const) {
      await page.goto(`/console${address}`);
      await page.getByText(says).waitFor();
      expect(await page.getByText(/November|Ada/).count()).toBe(0);
    }
    await context.close();
  },
);
