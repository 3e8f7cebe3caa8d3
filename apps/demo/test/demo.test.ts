import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { csv, startDemo } from './run.ts';

const lastLine = (text: string) => JSON.parse(text.trimEnd().split('\n').at(-1)!);

test("a small file of one's own: every call, every fault, one line of JSON", async () => {
  const file = await csv(
    'Name;Mobile',
    'Answers;(415) 555-0100',
    'Busy;+14155550186',
    'Declines;+1 212 555 0103',
    'Wrong;+14155550104',
    'Nobody there;+14155550108',
    'Answers again;415.555.0100',
    ...Array(7).fill('Broken;ask the office'),
  );
  const demo = await startDemo('--contacts', file, '--json');
  const { code, stdout, stderr } = await demo.ended;
  expect(stderr).toContain('     8  ask the office ');
  expect(stderr).toContain('How the calls ended');
  expect(code).toBe(0);
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  const result = lastLine(stdout);
  expect(result).toMatchObject({
    contacts: 13,
    valid: 5,
    invalid: 7,
    duplicates: 1,
    calls: 5,
    outcomes: { answered: 1, busy: 1, declined: 1, invalid_number: 1, no_answer: 1 },
  });
  expect(result.callsPerSecond).toBeCloseTo(5 / result.seconds, 0);
  const [, report = ''] = /and 2 more: all of them in\s+(\S+)/.exec(stderr) ?? [];
  expect((await readFile(report, 'utf8')).trimEnd().split('\r\n')).toHaveLength(9);
  expect(await demo.leftovers()).toEqual([path.basename(path.dirname(report))]);
});

test('over SIP: a campaign calls telephones, an agent talks to who answers, and the sound is kept', async () => {
  const file = await csv(
    'Name;Mobile',
    'Talks;+14155550105',
    'Busy;+14155550110',
    'Declines;+14155550111',
    'Wrong;+14155550113',
  );
  const demo = await startDemo('--sip', '--contacts', file, '--json');
  const { code, stdout, stderr } = await demo.ended;
  expect(code, stderr).toBe(0);
  const result = lastLine(stdout);
  expect(result).toMatchObject({
    calls: 4,
    outcomes: { answered: 1, busy: 1, declined: 1, invalid_number: 1 },
  });
  // Both sides of it: 16 bits each, 8,000 times a second.
  const sound = await readFile(result.recording);
  expect(sound.length).toBeGreaterThan(44 + 3 * 32_000);
  const loudest = (side: number) => {
    let peak = 0;
    for (let at = 44 + 2 * side; at + 2 <= sound.length; at += 4)
      peak = Math.max(peak, Math.abs(sound.readInt16LE(at)));
    return peak;
  };
  expect([loudest(0), loudest(1)].every((peak) => peak > 2000)).toBe(true);
  expect(await demo.leftovers()).toEqual([path.basename(path.dirname(result.recording))]);
});

test('a page to talk to an agent is there until Ctrl-C', async () => {
  const demo = await startDemo('--talk');
  await expect.poll(() => demo.output.stdout, { timeout: 120_000 }).toMatch(/\/talk#tl_live_\w+/);
  const [, page = '', key = ''] = /(http\S+\/talk)#(\S+)/.exec(demo.output.stdout) ?? [];
  expect((await fetch(page)).status).toBe(200);
  const agents = await fetch(new URL('/v1/agents', page), { headers: { 'X-API-Key': key } });
  expect(await agents.json()).toMatchObject({ data: { items: [{ name: 'Appointments' }] } });
  demo.child.kill('SIGINT');
  expect((await demo.ended).code).toBe(130);
  expect(await demo.leftovers()).toEqual([]);
});

test('the file that it brings, in words, without a terminal', async () => {
  const demo = await startDemo('--concurrency', '200');
  const { code, stdout, stderr } = await demo.ended;
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout).toContain('970 valid, 18 invalid, 12 duplicates');
  expect(stdout).toContain("18 rows can't be called");
  expect(stdout).toMatch(/Dialing {5}\d+ of 970, \d+ on the line/);
  expect(stdout).toMatch(/970 calls in [\d.]+ s: [\d.]+ calls per second/);
  expect(stdout).not.toContain('\u001b');
  expect(await demo.leftovers()).toEqual([]);
});

test('Ctrl-C in the middle leaves nothing running', async () => {
  const demo = await startDemo();
  await expect.poll(() => demo.output.stdout, { timeout: 120_000 }).toMatch(/Dialing {5}/);
  expect((await demo.leftovers()).length).toBeGreaterThan(0);
  demo.child.kill('SIGINT');
  const { code, stdout } = await demo.ended;
  expect(stdout).toContain('Stopped. Nothing is left running.');
  expect(code).toBe(130);
  expect(await demo.leftovers()).toEqual([]);
});

test('Ctrl-C while the server starts leaves nothing running', async () => {
  const demo = await startDemo();
  await expect.poll(async () => (await demo.leftovers()).length, { timeout: 120_000, interval: 20 }).toBeGreaterThan(0);
  demo.child.kill('SIGINT');
  expect((await demo.ended).code).toBe(130);
  expect(await demo.leftovers()).toEqual([]);
});

test('a file without numbers ends it, and says what would be right', async () => {
  const demo = await startDemo('--contacts', await csv('name,city', 'Ana,Berlin'), '--json');
  const { code, stdout, stderr } = await demo.ended;
  expect(stdout).toBe('');
  expect(stderr).toContain("mine.csv can't be imported.");
  expect(stderr).toContain('phone');
  expect(code).toBe(1);
  expect(await demo.leftovers()).toEqual([]);
});

test('a file no row of which can be called ends it, with the rows and the option that may help', async () => {
  const demo = await startDemo('--contacts', await csv('name,phone', 'Ada,030 901820', 'Lin,0171 3920001'));
  const { code, stdout, stderr } = await demo.ended;
  expect(stdout).toContain("2 rows can't be called");
  expect(stdout).toContain('     2  030 901820 ');
  expect(stdout).toContain('     3  0171 3920001 ');
  expect(stderr).toContain('numbers of US.');
  expect(stderr).toContain('npm run demo -- --contacts FILE --country DE');
  expect(code).toBe(1);
});

test('a wrong command line ends it before anything starts', async () => {
  for (const [args, message] of [
    [['--contacts', '/no/such.csv'], 'There is no file /no/such.csv.'],
    [['--concurrency', 'many'], '--concurrency takes a number from 1 to 10000, not many.'],
    [['--colour'], "Unknown option '--colour'"],
  ] as const) {
    const demo = await startDemo(...args);
    const { code, stderr } = await demo.ended;
    expect(stderr).toContain(message);
    expect(code).toBe(1);
    expect(await demo.leftovers()).toEqual([]);
  }
});
