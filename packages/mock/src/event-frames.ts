import type { StreamFrame, StreamSource } from '@trunkline/server/foundation/http/handler';

/** Between two events, so that who reads them sees that they come one by one. */
const BETWEEN_MS = 50;

/** The events that an example of a stream shows; comments are left out. */
export function framesOf(example: string): StreamFrame[] {
  return example
    .split(/\n\n+/)
    .map((text) => new Map(text.split('\n').map((line) => splitField(line))))
    .filter((fields) => fields.has('data'))
    .map((fields) => ({ id: fields.get('id')!, event: fields.get('event')!, data: JSON.parse(fields.get('data')!) }));
}

const splitField = (line: string): [string, string] => {
  const at = line.indexOf(': ');
  return [line.slice(0, at), line.slice(at + 2)];
};

/**
 * The events that come after one: the rest of its example, or else the next example, which goes on where that ended.
 * None where it was the very last; from the start where it isn't known.
 */
export function framesAfter(examples: readonly StreamFrame[][], lastEventId: string | undefined): StreamFrame[] {
  const index = examples.findIndex((frames) => frames.some(({ id }) => id === lastEventId));
  if (index === -1) return examples[0]!;
  const rest = examples[index]!.slice(examples[index]!.findIndex(({ id }) => id === lastEventId) + 1);
  return rest.length > 0 ? rest : (examples[index + 1] ?? []);
}

/** Tells events one by one, as long as somebody listens. */
export const play =
  (frames: readonly StreamFrame[]): StreamSource =>
  (stream) => {
    let told = 0;
    const tell = () => {
      const frame = frames[told];
      told += 1;
      if (frame) stream.send(frame);
      else stream.end();
    };
    const timer = setInterval(tell, BETWEEN_MS);
    return { onRoom: () => undefined, onEnd: () => clearInterval(timer) };
  };
