import { expect, test } from 'vitest';
import { textTypeOf } from './text-type.ts';

test.each([
  ['html', '\n<!-- saved --><!DOCTYPE html><html><body>Hi</body></html>'],
  ['html', '<?xml version="1.0"?>\n<html xmlns="x"><p>Hi</p></html>'],
  ['html', '<div class="a"><p>Hi</p></div>\n'],
  ['md', '<p align="center">Logo</p>\n\n# Name\n\n- one\n- two\n'],
  ['md', '# Opening hours\n\nWe are open.'],
  ['md', 'Hours\n=====\n\nSee [the page](https://example.com).'],
  ['md', '| Day | Hours |\n| --- | --- |\n| Mon | 9 |'],
  ['json', '{"a": [1, 2]}'],
  ['json', ' [ ] '],
  ['txt', '{not json}'],
  ['txt', '42'],
  ['csv', 'name,city\nAna,Lima\n'],
  ['csv', 'name;price\nTea;2,50\nCoffee;3,00'],
  ['csv', 'name\tcity\nAna\tLima\nBo\t"a\tb"'],
  ['txt', 'Hello, world\nGood, bye\nSo, so\n'],
  ['txt', 'One line, with a comma'],
  ['txt', 'Dear Ana,\n\nwe are open, as always.\n\nYours,\nBo'],
  ['txt', '- a list\n- of two'],
  ['txt', 'a < b'],
])('%s: %j', (type, text) => {
  expect(textTypeOf(text)).toBe(type);
});
