import { spawnSync } from 'node:child_process';
import path from 'node:path';

const root = path.dirname(import.meta.dirname);

/** What git answers, or undefined where it fails or isn't there. */
function git(...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** Whether this copy has all commits. */
export const hasHistory = (): boolean => git('rev-parse', '--is-shallow-repository') === 'false';

/** The commit that this copy stands at, if it has any. */
export const currentCommit = (): string | undefined => git('rev-parse', 'HEAD');

/** Whether anything at these paths, or what measures it, differs from the commit that this copy stands at. */
export const isChanged = (paths: readonly string[]): boolean =>
  git('status', '--porcelain', '--', ...paths, 'bench', ':!bench/results.json', ':!bench/README.md') !== '';

/**
 * How many commits came after a commit, up to the last that changed something at these paths. Undefined where the commit is
 * none that this copy stands on.
 */
export function commitsSince(commit: string, paths: readonly string[]): number | undefined {
  if (git('merge-base', '--is-ancestor', commit, 'HEAD') === undefined) return undefined;
  const last = git('log', '-1', '--format=%H', '--', ...paths);
  return Number(git('rev-list', '--count', `${commit}..${last}`));
}
