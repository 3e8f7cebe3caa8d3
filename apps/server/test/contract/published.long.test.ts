import { tmpdir } from 'node:os';
import { installFromRegistry } from './install-packed.ts';
import { testPublished } from './published.ts';

testPublished(tmpdir(), installFromRegistry);
