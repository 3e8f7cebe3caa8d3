const undos: (() => Promise<unknown>)[] = [];

/** Has something undone at the measurement's end, also when it fails or is cut off. What came last goes first. */
export function atEnd(undo: () => Promise<unknown>): void {
  undos.push(undo);
}

let ending: Promise<void> = Promise.resolve();

/** Undoes everything, one after another, also where several ask for it at once. */
export function end(): Promise<void> {
  ending = ending.then(async () => {
    for (let undo = undos.pop(); undo; undo = undos.pop()) await undo().catch(console.error);
  });
  return ending;
}

/** On Ctrl-C and the like this process undoes everything and ends; what the measurement makes of it doesn't count. */
export function endOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      process.on('uncaughtException', () => {});
      void end().finally(() => process.exit(1));
    });
  }
}
