import { AlertDialog } from '@base-ui/react/alert-dialog';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { wordsOf } from '../session.ts';

interface AskedProps {
  /** What the button says that opens it. */
  name: ReactNode;
  title: string;
  className?: string;
  /** What is asked. It is made anew each time. */
  children: (close: () => void) => ReactNode;
}

/** A button that asks before it does something. */
export function Asked({ name, title, className = 'button', children }: AskedProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={setOpen}>
      <AlertDialog.Trigger className={className}>{name}</AlertDialog.Trigger>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="fixed inset-0 z-30 bg-ink opacity-30" />
        <AlertDialog.Popup className="fixed top-[12vh] left-1/2 z-40 max-h-[80vh] w-[min(92vw,520px)] -translate-x-1/2 overflow-y-auto border border-rule bg-raised p-4 outline-none">
          <AlertDialog.Title className="text-head break-words">{title}</AlertDialog.Title>
          {children(() => setOpen(false))}
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

interface AnswerProps {
  /** What the button says that does it. */
  does: ReactNode;
  children: ReactNode;
  close: () => void;
  onDo: (form: FormData) => Promise<unknown>;
  /** What follows; else it closes. */
  onDone?: () => void;
  /** A count that must be typed first: of people who are called. */
  count?: number | undefined;
  isOff?: boolean | undefined;
}

/** The form of what is asked: it stays, with the server's words, until it is done. */
export function Answer({ does, children, close, onDo, onDone = close, count, isOff = false }: AnswerProps) {
  const [typed, setTyped] = useState('');
  const id = useId();
  const doing = useMutation({ mutationFn: onDo, onSuccess: () => onDone() });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    doing.mutate(new FormData(event.currentTarget));
  };
  const isCounted = count === undefined || typed.replace(/[\s,.]/g, '') === String(count);
  return (
    <form onSubmit={submit} className="mt-2">
      {children}
      {count !== undefined && count > 0 && (
        <label htmlFor={id} className="mt-3 block">
          Type {count} to confirm
          <input
            id={id}
            className="ms-2 w-28"
            inputMode="numeric"
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
      )}
      <p role="alert" className="mt-2 text-signal empty:hidden">
        {doing.error && wordsOf(doing.error)}
      </p>
      <div className="mt-4 flex justify-end gap-2">
        <button type="button" className="button" onClick={close}>
          Leave it
        </button>
        <button type="submit" className="button button-signal" disabled={isOff || !isCounted || doing.isPending}>
          {does}
        </button>
      </div>
    </form>
  );
}

interface ConfirmedProps {
  name: string;
  title: string;
  says: ReactNode;
  onDo: () => Promise<unknown>;
  className?: string;
}

/** A button that does something once it is said again. */
export const Confirmed = ({ name, title, says, onDo, className }: ConfirmedProps) => (
  <Asked name={name} title={title} {...(className && { className })}>
    {(close) => (
      <Answer does={name} close={close} onDo={onDo}>
        <AlertDialog.Description>{says}</AlertDialog.Description>
      </Answer>
    )}
  </Asked>
);
