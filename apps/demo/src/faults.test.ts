import { expect, test } from 'vitest';
import { readFaults } from './faults.ts';

const header = 'row,column,value,code,reason\r\n';

test('quoted fields, line ends within them and empty values', () => {
  const report = `${header}2,phone,,missing_phone,The row has no phone number.\r\n7,"phone, ""private""","a\r\nb",invalid_phone,"No, not that."\r\n`;
  expect(readFaults(report)).toEqual([
    { row: '2', column: 'phone', value: '', reason: 'The row has no phone number.' },
    { row: '7', column: 'phone, "private"', value: 'a\r\nb', reason: 'No, not that.' },
  ]);
});

test('the apostrophe that guards a formula is taken off, any other stays', () => {
  const report = `${header}3,phone,'=1+1,invalid_phone,No.\r\n4,phone,'tis nothing,invalid_phone,No.\n`;
  expect(readFaults(report).map(({ value }) => value)).toEqual(['=1+1', "'tis nothing"]);
});

test('a duplicate is no row that cannot be called', () => {
  const report = `${header}3,phone,+14155550100,duplicate,"Row 2 has this number already, and is kept."\r\n4,phone,,missing_phone,No.\r\n`;
  expect(readFaults(report).map(({ row }) => row)).toEqual(['4']);
});

test('a report of nothing', () => {
  expect(readFaults(header)).toEqual([]);
  expect(readFaults('')).toEqual([]);
});
