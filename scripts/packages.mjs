import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './process.mjs';

/** The workspace's packages, as pnpm-workspace.yaml has them: folder, name, scripts. */
export function workspacePackages() {
  const nested = ['packages', 'apps', 'examples'].flatMap((parent) =>
    readdirSync(path.join(root, parent)).map((name) => path.join(parent, name)),
  );
  return ['openapi', ...nested, 'bench']
    .filter((folder) => existsSync(path.join(root, folder, 'package.json')))
    .map((folder) => {
      const { name, scripts = {} } = JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8'));
      return { folder, name, scripts };
    });
}
