import { type Peaks, waveOf } from '../rules/waves.ts';
import { duration } from '../rules/words.ts';

interface WavesProps {
  peaks: Peaks;
  seconds: number;
  /** Where the recording is, in seconds. */
  now: number;
  onSeek: (second: number) => void;
}

/** The sound of both channels, the person above and the agent below. It is sought in by pointer and by keys. */
export function Waves({ peaks, seconds, now, onSeek }: WavesProps) {
  const width = Math.max(1, peaks.callee.length - 1);
  return (
    <div className="relative my-2 h-28 border-y outline-signal border-line has-focus-visible:outline-2">
      <svg viewBox={`0 0 ${width} 100`} preserveAspectRatio="none" className="h-full w-full" aria-hidden="true">
        <path d={waveOf(peaks.callee, 25, 24)} fill="currentColor" />
        <path d={waveOf(peaks.agent, 75, 24)} fill="currentColor" opacity="0.55" />
      </svg>
      <span className="label pointer-events-none absolute top-0 left-1 bg-paper px-1">Person</span>
      <span className="label pointer-events-none absolute bottom-0 left-1 bg-paper px-1">Agent</span>
      <span
        aria-hidden="true"
        className="pointer-events-none absolute inset-y-0 w-0.5 bg-signal"
        style={{ left: `${Math.min(100, (now / seconds) * 100)}%` }}
      />
      <input
        type="range"
        aria-label="Place in the recording"
        aria-valuetext={`${duration(now)} of ${duration(seconds)}`}
        min={0}
        max={seconds}
        step={0.1}
        value={Math.min(now, seconds)}
        onChange={(event) => onSeek(Number(event.target.value))}
        className="absolute inset-0 m-0 h-full w-full cursor-pointer opacity-0"
      />
    </div>
  );
}
