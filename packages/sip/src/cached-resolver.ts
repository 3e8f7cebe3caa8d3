import type { Clock } from './clock.ts';
import type { DnsAnswer, Resolver } from './resolver.ts';
import { TransportError } from './transport.ts';

/**
 * Lets a question to the DNS begin, at once or later, such as when who asks has a share of them free.
 * @param asker on whose behalf it is asked; '' where nobody was named
 * @param ask resolves when the question is over, and never rejects
 */
export type Turns = (asker: string, ask: () => Promise<void>) => Promise<unknown>;

/** What is pushed out is asked for anew, in a turn of who needs it: names of one asker keep no other's from being found. */
const MAX_ENTRIES = 10_000;
const SHORTEST_MS = 1000;
const LONGEST_MS = 3600_000;
/** What is missing may come soon, and a name server that is silent may answer again. */
const LONGEST_ABSENT_MS = 30_000;
const REFUSED_MS = 5000;
/** How long a turn is waited for. */
const TURN_MS = 4000;

type Answer = Promise<DnsAnswer<unknown>>;

/**
 * Keeps answers for as long as they hold, an hour at most, and asks once where many want to know. Refusals are kept shortly.
 * @returns a resolver for each asker; it rejects with a TransportError where its turn doesn't come in time
 */
export function cachedResolver(
  resolver: Resolver,
  clock: Clock,
  turns: Turns = (_asker, ask) => ask(),
): (asker: string) => Resolver {
  const known = new Map<string, { until: number; answer: Answer }>();
  /** By asker and question: an asker who waits for a turn keeps no other waiting who has one for the same question. */
  const waiting = new Map<string, Answer>();

  const current = (question: string): Answer | undefined => {
    const entry = known.get(question);
    return entry && entry.until > clock.now() ? entry.answer : undefined;
  };
  const keep = (question: string, answer: Answer): Answer => {
    if (known.size >= MAX_ENTRIES) known.delete(known.keys().next().value!);
    const entry = { until: Number.POSITIVE_INFINITY, answer };
    known.delete(question);
    known.set(question, entry);
    answer.then(
      ({ records, ttlSeconds }) => {
        const longest = records.length > 0 ? LONGEST_MS : LONGEST_ABSENT_MS;
        entry.until = clock.now() + Math.min(Math.max(ttlSeconds * 1000, SHORTEST_MS), longest);
      },
      () => {
        entry.until = clock.now() + REFUSED_MS;
      },
    );
    return answer;
  };
  const inTurn = (asker: string, question: string, ask: () => Answer): Answer =>
    new Promise((resolve, reject) => {
      let isGivenUp = false;
      const timer = clock.setTimeout(() => {
        isGivenUp = true;
        reject(new TransportError('dns', 'Too many other names are being looked up.'));
      }, TURN_MS);
      const begin = async () => {
        if (isGivenUp) return;
        clock.clearTimeout(timer);
        const answer = current(question) ?? keep(question, ask());
        resolve(answer);
        await answer.catch(() => {});
      };
      turns(asker, begin).catch(reject);
    });
  const answered = <Entry>(asker: string, question: string, ask: () => Promise<DnsAnswer<Entry>>) => {
    const place = `${asker} ${question}`;
    let answer = current(question) ?? waiting.get(place);
    if (!answer) {
      answer = inTurn(asker, question, ask);
      waiting.set(place, answer);
      const over = () => waiting.delete(place);
      answer.then(over, over);
    }
    return answer as Promise<DnsAnswer<Entry>>;
  };
  return (asker) => ({
    srv: (name) => answered(asker, `srv ${name}`, () => resolver.srv(name)),
    addresses: (name, family) => answered(asker, `${family} ${name}`, () => resolver.addresses(name, family)),
  });
}
