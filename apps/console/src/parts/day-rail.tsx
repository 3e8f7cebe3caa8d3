import { useNow } from '../live.tsx';
import { clock, isWithin, marksAt, type Span } from '../rules/hours.ts';
import { number } from '../rules/words.ts';

interface DayRailProps {
  /** What the hours are of. */
  title: string;
  /** Whose clocks are marked. */
  timezones: readonly string[];
  /** When nobody is called, in minutes since local midnight. */
  nights?: readonly Span[];
  /** When the campaign calls. */
  windows?: readonly Span[];
  /** How many could ring in each local hour. */
  counts?: readonly number[] | undefined;
}

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const at = (minute: number) => `${(minute / 1440) * 100}%`;
const across = ({ start, end }: Span) => ({ left: at(start), width: at(end - start) });

/** Night as people know it, where the workspace has no quiet hours. */
const USUAL_NIGHT: Span[] = [
  { start: 0, end: 480 },
  { start: 1260, end: 1440 },
];

/** A day of 24 hours by the callee's own clock: where it is night, when calls are placed, and where everybody is now. */
export function DayRail({ title, timezones, nights = USUAL_NIGHT, windows = [], counts }: DayRailProps) {
  const now = useNow(10_000);
  const marks = marksAt(timezones, now);
  const most = Math.max(1, ...(counts ?? []));
  return (
    <figure className="@container m-0">
      <figcaption className="label flex flex-wrap justify-between gap-x-4">
        <span>{title}</span>
        <span className="clip">{marks.map((mark) => says(mark, nights)).join(' · ')}</span>
      </figcaption>
      <div className={`relative mt-1 border-y border-rule ${counts ? 'h-20' : 'h-7'}`} aria-hidden="true">
        {nights.map((span) => (
          <div key={span.start} className="absolute inset-y-0 bg-night" style={across(span)} />
        ))}
        {HOURS.map((hour) => (
          <div
            key={hour}
            className={`absolute bottom-0 border-l ${hour % 6 === 0 ? 'h-full border-line' : 'h-1.5 border-rule'}`}
            style={{ left: at(hour * 60) }}
          />
        ))}
        {counts?.map((count, hour) => (
          <div
            key={HOURS[hour]}
            className="absolute bottom-0 bg-ink"
            style={{ left: `calc(${at(hour * 60)} + 1px)`, width: at(30), height: `${(count / most) * 78}%` }}
          />
        ))}
        {windows.map((span) => (
          <div key={span.start} className="absolute top-0 h-1 bg-ink" style={across(span)} />
        ))}
        {marks.map(({ minute }) => (
          <div key={minute} className="absolute inset-y-0 w-0.5 bg-signal" style={{ left: at(minute) }} />
        ))}
      </div>
      <div className="label relative h-4" aria-hidden="true">
        {[0, 6, 12, 18].map((hour) => (
          <span key={hour} className="absolute" style={{ left: at(hour * 60) }}>
            {clock(hour * 60)}
          </span>
        ))}
        <span className="absolute right-0">24:00</span>
      </div>
      {counts && (
        <p className="sr-only">
          {HOURS.filter((hour) => counts[hour]! > 0)
            .map((hour) => `${clock(hour * 60)}: ${number(counts[hour]!)}`)
            .join('; ')}
        </p>
      )}
    </figure>
  );
}

const says = ({ minute, places }: { minute: number; places: string[] }, nights: readonly Span[]) =>
  `${places.slice(0, 3).join(', ')}${places.length > 3 ? ` and ${places.length - 3} more` : ''} ${clock(minute)}${isWithin(nights, minute) ? ', night' : ''}`;
