import { callSpanId, partOf, type Tracer, tracer } from '../../foundation/observe/tracing.ts';
import { toId } from '../../foundation/values/ids.ts';
import type { EndedCall, HeldCall, OwnedCall } from './call.ts';

/** What a call's trace begins with: its batch or campaign, or else its owner. */
export const traceOfCall = ({ campaignId, owner }: OwnedCall): string => campaignId ?? owner.id;

/** Records calls that have ended, from their start on. */
export function traceEnds(tracer: Tracer, held: readonly HeldCall[], ended: readonly EndedCall[]): void {
  const holding = new Map(held.map((call) => [call.roomId, call]));
  for (const call of ended) {
    const { startAt, provider = '', attempt = 1 } = holding.get(call.roomId) ?? {};
    const to = call.endedAt.getTime();
    tracer.record(
      partOf(traceOfCall(call), {
        ...({ name: 'call', kind: 'internal', spanId: callSpanId(call.roomId) } as const),
        ...{ from: startAt?.getTime() ?? to, to },
        attributes: {
          'trunkline.room_id': toId('room', call.roomId),
          ...{ 'trunkline.outcome': call.outcome, 'trunkline.provider': provider, 'trunkline.attempt': attempt },
        },
        hasFailed: ['trunk_error', 'agent_error', 'unknown'].includes(call.outcome),
      }),
    );
  }
}

/** Records that a call was offered to its provider, as a part of the call. */
export function tracePlacement(tracer: Tracer, call: HeldCall, from: number, status: string): void {
  tracer.record(
    partOf(traceOfCall(call), {
      ...({ name: 'place', kind: 'client', parent: callSpanId(call.roomId), from, to: Date.now() } as const),
      attributes: { 'trunkline.provider': call.provider, 'trunkline.result': status },
      hasFailed: status !== 'accepted',
    }),
  );
}

/** Records that calls were claimed, while tracing is on. @param uuid of what they belong to @param began as `performance.now()` read */
export function traceClaim(uuid: string, began: number, calls: number): void {
  if (!tracer || calls === 0) return;
  const to = Date.now();
  const from = to - (performance.now() - began);
  tracer.record(partOf(uuid, { name: 'claim', kind: 'internal', from, to, attributes: { 'trunkline.calls': calls } }));
}
