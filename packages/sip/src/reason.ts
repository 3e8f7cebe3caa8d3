import { parseParameters, quote, splitOutside } from './syntax.ts';

/** Why a call ended, as a peer says (RFC 3326). */
export interface Reason {
  /** In upper case: SIP, Q.850. */
  protocol: string;
  cause?: number;
  text?: string;
}

/** The reasons of a message's Reason headers; what can't be read is left out. */
export function parseReasons(values: string[]): Reason[] {
  return values
    .flatMap((value) => splitOutside(value, ','))
    .flatMap((entry) => {
      const semicolon = entry.indexOf(';');
      const protocol = (semicolon < 0 ? entry : entry.slice(0, semicolon)).trim().toUpperCase();
      try {
        const parameters = parseParameters(semicolon < 0 ? '' : entry.slice(semicolon + 1));
        const cause = parameters.get('cause');
        const text = parameters.get('text');
        return [
          {
            protocol,
            ...(cause !== undefined && /^\d{1,3}$/.test(cause) && { cause: Number(cause) }),
            ...(text && { text }),
          },
        ];
      } catch {
        return [];
      }
    });
}

export function writeReason({ protocol, cause, text }: Reason): string {
  return `${protocol}${cause === undefined ? '' : `;cause=${cause}`}${text === undefined ? '' : `;text=${quote(text)}`}`;
}

/** The Q.850 cause among some reasons (RFC 3398 section 7.2.4.1). */
export const q850CauseOf = (reasons: Reason[]): number | undefined =>
  reasons.find(({ protocol }) => protocol === 'Q.850')?.cause;
