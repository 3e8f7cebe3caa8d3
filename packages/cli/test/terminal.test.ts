import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { client, json } from './cli.ts';
import { hasTmux, openTerminal, type Terminal } from './terminal.ts';

const PEOPLE = `name,phone,city,a column with a name that is longer than anybody would like to read it
Ada,(415) 555-0100,Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch,x
Nobody,ask the office about this number before you call it,Rome,y
`;

let fromNumber = '';

beforeAll(async () => {
  const { items } = await client().phoneNumbers.searchAvailable({ provider: 'simulator', areaCode: '305' });
  fromNumber = items[0]!.phoneNumber;
  await client().phoneNumbers.buy({ phoneNumber: fromNumber, provider: 'simulator' });
});

/** Logs in by the prompts, on a screen of so many columns. */
async function loggedIn(columns: number): Promise<Terminal> {
  const { url, apiKey } = inject('server');
  const terminal = await openTerminal(columns);
  await terminal.enter('trunkline login');
  await terminal.shows('Address of the server');
  await terminal.press('C-u');
  await terminal.type(url);
  await terminal.press('Enter');
  await terminal.shows('API key');
  await terminal.type(apiKey);
  await terminal.press('Enter');
  const login = await terminal.ended(0);
  expect(login).toContain('Logged in');
  expect(login).not.toContain(apiKey);
  return terminal;
}

/** A draft, to be called from `fromNumber`. */
const campaign = (list: string) => {
  const flags = ['--agent-id', 'agent_hello', '--from-number', fromNumber, '--list', list];
  return json<{ id: string }>('campaigns', 'create', '--name', 'A name that is rather long for a table', ...flags);
};

describe.skipIf(!hasTmux)('in a terminal, which needs tmux', () => {
  let list = '';
  let id = '';

  test('of 60 columns: log in, upload, agree, watch, press Ctrl-C', async () => {
    const terminal = await loggedIn(60);
    await writeFile(path.join(terminal.folder, 'people.csv'), PEOPLE);
    await terminal.enter('trunkline lists upload people.csv --country US');
    await terminal.shows('Import 1 contact as');
    await terminal.press('Enter');
    expect(await terminal.ended(130)).toContain('Nothing was imported.');
    await terminal.enter('trunkline lists upload people.csv --country US');
    await terminal.shows('Import 1 contact as');
    await terminal.type('y');
    const uploaded = await terminal.ended(0);
    expect(uploaded).toContain("1 row can't be called");
    [, list = ''] = /1 contact in (list_\w+)/.exec(uploaded) ?? [];

    ({ id } = await campaign(list));
    await terminal.enter('trunkline stop');
    await terminal.shows('Stop all dialing in');
    await terminal.type('y');
    await terminal.ended(0);
    await json('campaigns', 'start', id);
    await terminal.enter(`trunkline campaigns watch ${id}`);
    await terminal.shows(/░+ {2}0 of 1, 0 on the line/);
    await terminal.press('C-c');
    expect(await terminal.ended(130)).toMatch(/Stopped watching\. The campaign goes on\./);
    await json('resume');
    await terminal.enter('trunkline campaigns list');
    const table = await terminal.ended(0);
    expect(table).toContain(id);
    expect(table).not.toContain('CONTACTS');
  });

  test('of 100 columns: a table shows more', async () => {
    const terminal = await loggedIn(100);
    await terminal.enter('trunkline campaigns list');
    const table = await terminal.ended(0);
    expect(table).toContain(id);
    expect(table).toContain('CONTACTS');
  });
});
