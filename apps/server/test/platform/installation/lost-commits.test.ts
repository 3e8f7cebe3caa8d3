import { test } from 'vitest';
import { runLoss } from './lost-commits.ts';

test('a copy of the database that is put back under servers that run calls nobody twice', () =>
  runLoss({ by: 'copy', lossMs: 800, servers: 2, killed: false }));

test('a standby that had not heard all, promoted after all was killed, calls nobody twice', () =>
  runLoss({ by: 'standby', lossMs: 600, servers: 2, killed: true }));

test('a synchronous standby that takes over holds nothing, and everybody is called once', () =>
  runLoss({ by: 'synchronous', lossMs: 0, servers: 2, killed: false }));
