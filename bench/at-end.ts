const undos: (() => Promise<unknown>)[] = [];

/** Has something undone at the measurement's end, also when it fails or is cut off. What came last goes first. */
export function atEnd(undo: () => Promise<unknown>): void {
  undos.push(undo);
}

/** Undoes everything. */
export async function end(): Promise<void> {
  for (let undo = undos.pop(); undo; undo = undos.pop()) await undo();
}

/** On Ctrl-C and the like this process undoes everything and ends. */
export function endOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void end().finally(() => process.exit(1)));
  }
}
