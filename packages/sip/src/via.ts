import { type Parameters, parseParameters, SipSyntaxError, writeParameters } from './syntax.ts';

/** A Via entry (RFC 3261 section 20.42). */
export interface Via {
  /** In upper case: UDP, TCP, TLS. */
  transport: string;
  host: string;
  port?: number;
  parameters: Parameters;
}

const VIA =
  /^SIP\s*\/\s*2\.0\s*\/\s*([A-Za-z0-9-]+)\s+(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)\s*(?::\s*(\d{1,5}))?\s*((?:;.*)?)$/;

/** Every branch of RFC 3261 begins so (section 8.1.1.7). */
export const MAGIC_COOKIE = 'z9hG4bK';

/** Throws a `SipSyntaxError` where the text is no Via entry. */
export function parseVia(text: string): Via {
  const parts = VIA.exec(text);
  if (!parts || Number(parts[3]) > 65_535) throw new SipSyntaxError(`This is no Via: ${text.slice(0, 80)}`);
  const via: Via = {
    transport: parts[1]!.toUpperCase(),
    host: parts[2]!,
    parameters: parseParameters(parts[4]!.slice(1)),
  };
  if (parts[3] !== undefined) via.port = Number(parts[3]);
  return via;
}

export function writeVia({ transport, host, port, parameters }: Via): string {
  return `SIP/2.0/${transport} ${host}${port === undefined ? '' : `:${port}`}${writeParameters(parameters)}`;
}
