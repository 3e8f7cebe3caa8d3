#!/usr/bin/env -S node --max-semi-space-size=8
// What `trunkline-server` runs. An older Node can't read the server's modules, so that it is told here, before any of
// them: OLDEST is what `engines` of package.json says.
const OLDEST = [22, 18] as const;
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  process.stderr.write(`Trunkline needs Node ${OLDEST.join('.')} or newer; this is ${process.versions.node}.\n`);
  process.exit(1);
}
await import('./main.ts');
