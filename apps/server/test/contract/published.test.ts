import { mkdirSync } from 'node:fs';
import { installLinked, linkedParent } from './install-packed.ts';
import { testPublished } from './published.ts';

// published.long.test.ts has npm install it all from the registry.
mkdirSync(linkedParent, { recursive: true });
testPublished(linkedParent, installLinked);
