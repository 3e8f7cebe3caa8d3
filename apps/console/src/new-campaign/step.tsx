import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Step, stepAfter } from '../rules/steps.ts';
import { useMay, wordsOf } from '../session.ts';

/** What is wrong in a step, in words; nothing if nothing is. */
export const Wrong = ({ error }: { error: unknown }) =>
  error ? (
    <p role="alert" className="mt-2 max-w-prose text-signal">
      {wordsOf(error)}
    </p>
  ) : null;

/** How far something has come. */
export function Bar({
  value,
  max,
  says,
  children,
}: {
  value: number;
  max: number;
  says: string;
  children?: ReactNode;
}) {
  return (
    <div className="max-w-2xl">
      <p role="status">{says} …</p>
      <div className="mt-1 h-1.5 bg-night" aria-hidden="true">
        <div className="h-full bg-signal" style={{ width: `${max > 0 ? Math.min(100, (value / max) * 100) : 0}%` }} />
      </div>
      <p className="label mt-1">{children}</p>
    </div>
  );
}

/** The way to the next step. */
export function GoOn({ from, listId, children }: { from: Step; listId: string; children: ReactNode }) {
  const next = stepAfter(from, useMay());
  if (!next) return null;
  return (
    <p className="mt-4">
      <Link
        to="/campaigns/new/$contactListId"
        params={{ contactListId: listId }}
        search={(before: object) => ({ ...before, step: next })}
        className="button button-signal inline-block no-underline"
      >
        {children}
      </Link>
    </p>
  );
}
