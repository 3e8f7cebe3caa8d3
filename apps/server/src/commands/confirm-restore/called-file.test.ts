import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readCalledFile } from './called-file.ts';

async function read(text: string, column?: string) {
  const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-called-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'calls.csv');
  await writeFile(file, text);
  return readCalledFile(file, column);
}

test.each([
  ['an exchange', 'calldate,clid,src,dst,duration', '2026-11-20 09:30:00,Us,12125550199,14155550100,9', 'dst'],
  ['a carrier', 'From;To;Start Time', '12125550199;+14155550100;2026-11-20T10:30:00+01:00', 'To'],
  ['another', 'caller_number\tcalled_number\ttimestamp', '12125550199\t14155550100\t1795167000', 'called_number'],
  ['a switch', 'CLI,B-Number,Date', '12125550199,sip:14155550100@10.0.0.1;user=phone,2026-11-20T09:30:00Z', 'B-Number'],
  ['a contact file', 'caller phone,phone,time', '12125550199,0014155550100,2026-11-20 09:30 UTC', 'phone'],
])('reads what %s writes', async (_name, head, row, numberColumn) => {
  const { rows, faults, ...found } = await read(`${head}\n${row}\n`);
  expect(found).toMatchObject({ numberColumn, faulty: 0 });
  expect(faults).toEqual([]);
  expect(rows).toEqual([{ number: 14_155_550_100, at: new Date('2026-11-20T09:30:00Z') }]);
});

test('a row that can not be read is told with its place, and the others count', async () => {
  const text = 'dst,start\n14155550100,\nanonymous,2026-11-20T09:30:00Z\n5550100,\n14155550101,20.11.2026\n';
  const { rows, faults, faulty } = await read(text);
  expect(rows).toEqual([
    { number: 14_155_550_100, at: undefined },
    { number: 14_155_550_101, at: undefined },
  ]);
  expect(faulty).toBe(3);
  expect(faults.map((fault) => fault.slice(0, 20))).toEqual([
    'row 3: "anonymous" i',
    'row 4: "5550100" is ',
    'row 5: "20.11.2026" ',
  ]);
});

test('of many faults the first are told', async () => {
  const { faults, faulty } = await read(`dst\n${'nobody\n'.repeat(50)}`);
  expect([faults.length, faulty]).toEqual([20, 50]);
});

test('a column that its name does not say is named', async () => {
  const text = 'leg,nr\nA,14155550100\n';
  await expect(read(text)).rejects.toThrow(
    'No column holds the numbers called by its name: give it with --column NAME. Found: "leg", "nr".',
  );
  await expect(read(text, 'number')).rejects.toThrow('No column is called "number", as --column says.');
  expect((await read(text, 'NR')).rows).toHaveLength(1);
  await expect(read('14155550100\n14155550101\n')).rejects.toThrow('The first row has to name the columns.');
});

test('a file without a row is none', async () => {
  await expect(read('')).rejects.toThrow('The file is empty.');
});
