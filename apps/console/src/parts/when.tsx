const sameDay = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const otherDay = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const whole = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long' });

/** A time by the reader's clock: of today to the second, of another day with its date. */
export function timeOf(timestamp: string): string {
  const at = new Date(timestamp);
  return (at.toDateString() === new Date().toDateString() ? sameDay : otherDay).format(at);
}

/** The same, with all of it on hover. */
export function When({ at }: { at: string | undefined }) {
  if (!at) return <span className="text-dim">–</span>;
  return (
    <time dateTime={at} title={whole.format(new Date(at))}>
      {timeOf(at)}
    </time>
  );
}
