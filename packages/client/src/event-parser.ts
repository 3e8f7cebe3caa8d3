/** An event's data and ID, an ID alone, or the milliseconds to wait before coming back. */
export interface Frame {
  data?: string | undefined;
  id?: string | undefined;
  retry?: number;
}

/**
 * Reads the text of an event stream, piece by piece as it comes (WHATWG HTML, section 9.2.6). Each call answers what its
 * piece has completed. `event` is passed over: it stands in the data too.
 */
export function createEventParser(): (piece: string) => Frame[] {
  let rest = '';
  let data: string[] = [];
  let id: string | undefined;

  const readLine = (line: string): Frame | undefined => {
    if (line === '') {
      const told = data.length > 0 ? data.join('\n') : undefined;
      const frame = (told ?? id) ? { data: told, id } : undefined;
      data = [];
      id = undefined;
      return frame;
    }
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'data') data.push(value);
    if (field === 'id') id = value;
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
