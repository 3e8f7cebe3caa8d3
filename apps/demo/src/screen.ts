import { styleText } from 'node:util';
import cliProgress from 'cli-progress';

/** A phase that takes a while. */
export interface Progress {
  update(done: number, total: number, text: string): void;
  /** Shows the last of it, and goes on below. */
  end(done: number, total: number, text: string): void;
}

/** What a person sees: bars that move on a terminal, plain lines elsewhere. */
export interface Screen {
  line(label: string, text: string): void;
  /** Says on a terminal what is waited for, until the next line takes its place. */
  waiting(label: string, text: string): void;
  text(text: string): void;
  /** How many characters stand in a line. */
  columns: number;
  progress(label: string): Progress;
  bold(text: string): string;
  dim(text: string): string;
  /** Ends a bar that still moves. Nothing is shown after it but by `text`. */
  close(): void;
}

const LABEL_WIDTH = 12;
const WIDEST_BAR = 24;
/** What stands beside a bar: its label, and the longest text. */
const BESIDE_BAR = 54;
/** Between two plain lines of the same phase. */
const PLAIN_MS = 2_000;

export const count = (value: number): string => value.toLocaleString('en-US');

/** A text in lines of at most so many characters, where its words allow it. */
export function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

const label = (text: string) => text.padEnd(LABEL_WIDTH);

export function createScreen(stream: NodeJS.WriteStream): Screen {
  const onTerminal = stream.isTTY === true && process.env['TERM'] !== 'dumb';
  const columns = (onTerminal && stream.columns) || 80;
  const write = (text: string) => void stream.write(`${text}\n`);
  const style = (format: 'bold' | 'dim', text: string) =>
    onTerminal ? styleText(format, text, { stream, validateStream: true }) : text;
  let stopBar = () => {};
  let closed = false;

  return {
    bold: (text) => style('bold', text),
    dim: (text) => style('dim', text),
    text: write,
    columns,
    line(name, text) {
      if (onTerminal) stream.clearLine(0);
      write(`  ${style('dim', label(name))}${text}`);
    },
    waiting(name, text) {
      if (onTerminal) stream.write(`  ${style('dim', label(name))}${text}\r`);
    },
    progress(name) {
      const bar = onTerminal ? movingBar(stream, style('dim', label(name)), columns) : plainBar(write, label(name));
      stopBar = bar.stop;
      return {
        update: (...state) => closed || bar.update(...state),
        end(...state) {
          if (closed) return;
          bar.end(...state);
          stopBar = () => {};
        },
      };
    },
    close() {
      closed = true;
      stopBar();
    },
  };
}

function movingBar(stream: NodeJS.WriteStream, styledLabel: string, columns: number) {
  const bar = new cliProgress.SingleBar({
    stream,
    format: `  ${styledLabel}{bar}  {text}`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: Math.max(5, Math.min(WIDEST_BAR, columns - BESIDE_BAR)),
    hideCursor: true,
    fps: 10,
    gracefulExit: false,
  });
  bar.start(1, 0, { text: '' });
  const update = (done: number, total: number, text: string) => {
    bar.setTotal(Math.max(total, 1));
    bar.update(done, { text });
  };
  return {
    update,
    end(done: number, total: number, text: string) {
      update(done, total, text);
      bar.stop();
    },
    stop: () => bar.stop(),
  };
}

function plainBar(write: (text: string) => void, paddedLabel: string) {
  let last = performance.now();
  const show = (text: string) => write(`  ${paddedLabel}${text}`);
  return {
    update(done: number, total: number, text: string) {
      if (performance.now() - last < PLAIN_MS || done >= total) return;
      last = performance.now();
      show(text);
    },
    end: (_done: number, _total: number, text: string) => show(text),
    stop: () => {},
  };
}
