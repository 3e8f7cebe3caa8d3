import { useQuery } from '@tanstack/react-query';
import { type RefObject, useRef, useState } from 'react';
import { named } from '../rules/call.ts';
import { filled, turnAt } from '../rules/waves.ts';
import { type Call, duration } from '../rules/words.ts';
import { client } from '../session.ts';
import { Waves } from './waves.tsx';

export interface Playing {
  audio: RefObject<HTMLAudioElement | null>;
  /** Where the recording is, in seconds. */
  now: number;
  onTime: (second: number) => void;
  seek: (second: number) => void;
}

/** Where the recording is, which what was said goes along with. */
export function usePlaying(): Playing {
  const audio = useRef<HTMLAudioElement>(null);
  const [now, onTime] = useState(0);
  const seek = (second: number) => {
    if (audio.current) audio.current.currentTime = second;
    onTime(second);
  };
  return { audio, now, onTime, seek };
}

/** So many points are drawn. */
const POINTS = 800;

interface PlayerProps {
  roomId: string;
  recording: NonNullable<Call['recording']> & { url: string };
  playing: Playing;
}

/** The player keeps the first address: each reading of the call brings another one, which would begin it anew. */
export function Player({ roomId, recording, playing: { audio, now, onTime, seek } }: PlayerProps) {
  const [src] = useState(recording.url);
  const { data: peaks } = useQuery({
    queryKey: ['peaks', roomId],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => client.calls.getRecordingPeaks(roomId, { points: POINTS }),
  });
  return (
    <>
      {peaks && <Waves peaks={filled(peaks)} seconds={peaks.durationSeconds} now={now} onSeek={seek} />}
      {/* biome-ignore lint/a11y/useMediaCaption: sound without a picture has nowhere to show captions; WCAG 1.2.1 asks for a transcript, which stands below. */}
      <audio
        ref={audio}
        controls
        src={src}
        preload="metadata"
        className="w-full"
        onTimeUpdate={({ currentTarget }) => onTime(currentTarget.currentTime)}
      />
    </>
  );
}

const SPEAKERS = { agent: 'Agent', person: 'Person', system: '' };

/** What was said, turn by turn, by the time from the answer on. */
export function Said({ call, playing }: { call: Call; playing?: Playing }) {
  const turns = call.result?.transcript ?? [];
  const begin = Date.parse(call.answeredAt ?? turns[0]?.at ?? call.queuedAt);
  // Before it plays nothing is being said.
  const current = playing && playing.now > 0 ? turnAt(turns, begin, playing.now) : -1;
  return (
    <>
      {turns.length === 0 && <p className="text-dim">Nobody has told. The agent reports it, if it can.</p>}
      <ol>
        {named(turns).map((turn, index) => (
          <li
            key={turn.name}
            aria-current={index === current ? 'true' : undefined}
            className={`cells grid-cols-[48px_60px_minmax(0,1fr)] border-b border-line py-1 ${index === current ? 'bg-night' : ''}`}
          >
            <Since second={Math.max(0, (Date.parse(turn.at) - begin) / 1000)} onSeek={playing?.seek} />
            <span className="text-dim">{SPEAKERS[turn.role as 'agent'] ?? turn.role}</span>
            <span className={`break-words whitespace-pre-wrap ${turn.role === 'system' ? 'text-dim' : ''}`}>
              {turn.text}
              {turn.interrupted && <span className="text-dim"> – cut short</span>}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}

/** When a turn began, which the recording is taken to. */
const Since = ({ second, onSeek }: { second: number; onSeek: ((second: number) => void) | undefined }) =>
  onSeek ? (
    <button
      type="button"
      className="link cursor-pointer text-end text-dim"
      title="Hear it from here"
      onClick={() => onSeek(second)}
    >
      {duration(second)}
    </button>
  ) : (
    <span className="text-end text-dim">{duration(second)}</span>
  );
