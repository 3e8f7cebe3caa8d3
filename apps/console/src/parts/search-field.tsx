import { useEffect, useRef } from 'react';

const REST_MS = 250;

interface SearchFieldProps {
  label: string;
  /** What is looked for, as the address has it. */
  value: string | undefined;
  onSearch: (text: string | undefined) => void;
}

/** Looks for what is typed, once there is a pause in it. */
export function SearchField({ label, value = '', onSearch }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // Who types is not disturbed.
  useEffect(() => {
    if (field.current && document.activeElement !== field.current) field.current.value = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <label className="flex min-w-40 flex-1 items-center gap-2">
      <span className="label">{label}</span>
      <input
        ref={field}
        type="search"
        className="min-w-0 max-w-80 flex-1"
        defaultValue={value}
        onChange={(event) => {
          const text = event.target.value || undefined;
          clearTimeout(timer.current);
          timer.current = setTimeout(() => onSearch(text), REST_MS);
        }}
      />
    </label>
  );
}
