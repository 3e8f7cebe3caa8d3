import { type ReactNode, useEffect } from 'react';
import { wordsOf } from '../session.ts';

/** The head of a screen, which is also the page's title. */
export function Heading({ title, children }: { title: string; children?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Trunkline`;
  }, [title]);
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 pt-4 pb-3">
      <h1 className="min-w-0 flex-1 text-head break-words">{title}</h1>
      <div className="flex flex-wrap gap-2">{children}</div>
    </div>
  );
}

/** What went wrong, in the server's words, and nothing if nothing did. */
export const Fault = ({ error }: { error: unknown }) =>
  error ? (
    <p role="alert" className="px-4 py-2 text-signal">
      {wordsOf(error)}
    </p>
  ) : null;

/** Shown in the place of a screen that could not be drawn. */
export const Broken = ({ error }: { error: unknown }) => (
  <div className="px-4 py-6" role="alert">
    <p className="text-head">This screen could not be shown.</p>
    <p className="mt-1 text-dim">{wordsOf(error)}</p>
    <button type="button" className="button mt-3" onClick={() => location.reload()}>
      Load it again
    </button>
  </div>
);
