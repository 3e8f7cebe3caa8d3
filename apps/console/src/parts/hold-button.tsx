import { type ReactNode, useEffect, useRef, useState } from 'react';

const HOLD_MS = 1000;

interface HoldButtonProps {
  children: ReactNode;
  /** What is said while it is held. */
  holding: string;
  onHeld: () => void;
  className?: string;
}

/** A button that does its work once it was held for a second, by pointer, Space or Enter. */
export function HoldButton({ children, holding, onHeld, className = '' }: HoldButtonProps) {
  const [isHeld, setHeld] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const release = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
    setHeld(false);
  };
  const hold = () => {
    if (timer.current) return;
    setHeld(true);
    timer.current = setTimeout(() => {
      release();
      onHeld();
    }, HOLD_MS);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  const isKey = (key: string) => key === ' ' || key === 'Enter';
  return (
    <button
      type="button"
      className={`button relative overflow-hidden select-none ${className}`}
      onPointerDown={(event) => event.button === 0 && hold()}
      onPointerUp={release}
      onPointerLeave={release}
      onPointerCancel={release}
      onBlur={release}
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (!isKey(event.key)) return;
        event.preventDefault();
        if (!event.repeat) hold();
      }}
      onKeyUp={(event) => isKey(event.key) && release()}
    >
      <span
        aria-hidden="true"
        className={`absolute bottom-0 left-0 h-1 bg-current ${isHeld ? 'w-full motion-safe:transition-[width] duration-1000 ease-linear' : 'w-0'}`}
      />
      {isHeld ? holding : children}
    </button>
  );
}
