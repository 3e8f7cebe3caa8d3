import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { openAnswers } from './open-answers.ts';

// Writes dist/openapi.json and dist/openapi.yaml, the contract as it is published, from dist/closed.json, the contract as it is
// written and as the server checks its answers by.

const fileOf = (name: string) => fileURLToPath(new URL(`dist/${name}`, import.meta.url));
const published = openAnswers(JSON.parse(readFileSync(fileOf('closed.json'), 'utf8')));
writeFileSync(fileOf('openapi.json'), `${JSON.stringify(published, null, 2)}\n`);
writeFileSync(fileOf('openapi.yaml'), stringify(published, { aliasDuplicateObjects: false, lineWidth: 120 }));
