import type { Config } from '../../config.ts';
import { type Finding, note, ok, whyOf } from './finding.ts';

const TIMEOUT_MS = 5000;

/** Whether the collector of the settings takes traces: it is sent none. No call fails where it doesn't. */
export async function checkTraces({ otlpEndpoint, otlpHeaders }: Config): Promise<Finding[]> {
  if (otlpEndpoint === undefined) return [];
  const { host } = new URL(otlpEndpoint);
  const lost = (why: string) => [note('traces', `${host} does not take traces: ${why}. Calls go on without them.`)];
  try {
    const { ok: isTaken, status } = await fetch(`${otlpEndpoint}/v1/traces`, {
      method: 'POST',
      headers: { ...otlpHeaders, 'Content-Type': 'application/json' },
      body: '{"resourceSpans":[]}',
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (isTaken) return [ok('traces', `${host} takes traces.`)];
    return lost(`it answers ${status}; look at OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS`);
  } catch (error) {
    return lost(whyOf(error));
  }
}
