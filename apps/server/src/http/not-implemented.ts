import type { OperationId } from './handler.ts';

/**
 * The operations that answer 501 `not_implemented`. What stands neither here nor among the handlers of `compose.ts`
 * doesn't compile. To build one, take its name out and hand its handler over.
 */
export const notImplemented = [] as const satisfies readonly OperationId[];

/** The operations that must have a handler. */
export type BuiltOperationId = Exclude<OperationId, (typeof notImplemented)[number]>;
