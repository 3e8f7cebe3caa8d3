import type { AnsweredBy } from './judge-answerer.ts';

/** What a greeting says of who speaks it, by some of its words. */
export interface WordsFound {
  suggests: AnsweredBy;
  /** From 0 to 1. */
  confidence: number;
  /** Those that tell it. */
  words: string;
}

/** One phrase may be a person's, or misheard; two of the same kind hardly are. */
const ONE = 0.8;
const MORE = 0.93;

type Known = Exclude<AnsweredBy, 'human' | 'unknown' | 'fax'>;

/** Several that count once. */
const oneOf = (...all: readonly RegExp[]): RegExp => new RegExp(all.map(({ source }) => source).join('|'));

/** Phrases of machines, in the languages that most calls are in. Lower case; accents are left out. */
const phrases: Record<Known, readonly RegExp[]> = {
  machine: [
    // Whoever takes a call for somebody else says these too, and often several of them.
    oneOf(
      /(leave|record) (me |us )?(a|your|the) (brief |short |detailed )?(message|name)/,
      /(can ?not|can't|unable to|not able to) (come to|get to|take|answer) (the|your|my|this)? ?(phone|call)/,
      /(not|un) ?available (right now|at the moment|to take)/,
      /(get|call) (back to )?you( back)? as soon as/,
      /(nachricht|anliegen).{0,30}(hinterlass|sprechen)|hinterlass\w+.{0,30}nachricht|nicht erreichbar/,
      /dej[aeo]\w* (su|tu|un) (mensaje|recado)|no puedo atender/,
      /laiss\w+ (moi )?(un|votre|nous un)? ?message/,
      /lasci\w+ un messaggio/,
      /deix\w+ (a sua|uma|sua) mensagem/,
      /spreek .{0,20}(bericht|boodschap) in/,
    ),
    /(after|at) the (tone|beep|signal)/,
    /(voice ?mail|answering (machine|service)|voice messag\w+|mailbox)/,
    /(you have|you've) reached/,
    /nach dem (ton|signal|piepton)/,
    /anrufbeantworter/,
    /despues (de la senal|del tono)/,
    /buzon de voz|contestador/,
    /apres le (bip|signal)/,
    /(boite vocale|messagerie|repondeur)/,
    /dopo il (segnale|bip)/,
    /segreteria telefonica/,
    /apos o (sinal|bip)/,
    /caixa postal/,
    /na de (piep|toon)/,
  ],
  screening: [
    /(record|say|state) your name and (the )?(reason|purpose)/,
    /reason (for|of) (calling|your call)/,
    /(if|whether) (this|the) person is available/,
    /screening service|call (assist|screen)/,
    /(stay|remain) on the line/,
    /warum sie anrufen|grund ihres anrufs/,
    /motivo de (su|la) llamada/,
    /motif de votre appel/,
  ],
  menu: [
    /press (\d|one|two|three|four|five|six|seven|eight|nine|zero|star|pound)/,
    /(dial|enter) (the|your) (extension|account)/,
    /para espanol/,
    /drucken sie|wahlen sie die/,
    /(pulse|marque|oprima) (el )?(\d|uno|dos|tres)/,
    /(tapez|appuyez sur|faites le) (la touche )?(\d|un|deux|trois)?/,
  ],
  not_in_service: [
    /not in service|no longer in service|has been disconnected|been changed/,
    /(can ?not|can't) be completed as dialed/,
    /check the number/,
    /kein anschluss unter|nicht vergeben|ist uns nicht bekannt/,
    /(no existe|no esta en servicio|numero (que|al que).{0,30}no)/,
    /n'est pas (attribue|en service)/,
  ],
};

/** Not in service is said once, in a sentence that nobody else says. */
const extra: Partial<Record<Known, number>> = { not_in_service: 0.1 };

/** @param text what was understood of the callee so far, in any of the known languages @returns nothing if it tells nothing */
export function wordsInGreeting(text: string): WordsFound | undefined {
  const plain = text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll('’', "'")
    .replaceAll(/[^\p{L}\p{N}' ]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .toLowerCase();
  let found: (WordsFound & { count: number }) | undefined;
  for (const [suggests, known] of Object.entries(phrases) as [Known, readonly RegExp[]][]) {
    const hits = known.flatMap((phrase) => phrase.exec(plain)?.[0] ?? []);
    if (hits.length <= (found?.count ?? 0)) continue;
    const confidence = Math.min(MORE, (hits.length > 1 ? MORE : ONE) + (extra[suggests] ?? 0));
    found = { suggests, confidence, words: hits.join(', ').slice(0, 255), count: hits.length };
  }
  return found && { suggests: found.suggests, confidence: found.confidence, words: found.words };
}
