/** An event's data, or the milliseconds to wait before coming back. */
export type Frame = { data: string; retry?: never } | { retry: number; data?: never };

/**
 * Reads the text of an event stream, piece by piece as it comes (WHATWG HTML, section 9.2.6). Each call answers what its
 * piece has completed. `id` and `event` are passed over: they stand in the data too.
 */
export function createEventParser(): (piece: string) => Frame[] {
  let rest = '';
  let data: string[] = [];

  const readLine = (line: string): Frame | undefined => {
    if (line === '') {
      const frame = data.length > 0 ? { data: data.join('\n') } : undefined;
      data = [];
      return frame;
    }
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'data') data.push(value);
    return field === 'retry' && /^\d+$/.test(value) ? { retry: Number(value) } : undefined;
  };

  return (piece) => {
    rest += piece;
    // A \r at the end may be the first half of \r\n.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    return lines.map(readLine).filter((frame) => frame !== undefined);
  };
}
