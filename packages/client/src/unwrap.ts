import { errorOf } from './errors.ts';

/** A body without the `{success, data}` that some families of operations put around it. */
export type Unwrapped<Body> = Body extends { success: boolean; data: infer Data } ? Data : Body;

type Result = { data?: unknown; error?: unknown; response: Response };
type DataOf<R extends Result> = Unwrapped<Extract<R, { error?: never }>['data']>;

/**
 * Waits for an operation and returns what it answered, without the `{success, data}` around it.
 * Throws `TrunklineError` where the service refused.
 *
 *     const campaign = await unwrap(client.GET('/v1/calls/campaigns/{id}', { params: { path: { id } } }));
 */
export async function unwrap<R extends Result>(request: Promise<R>): Promise<DataOf<R>> {
  const { data, error, response } = await request;
  if (!response.ok) throw errorOf(response, error);
  const body = data as { success?: boolean; data?: unknown } | undefined;
  return (body?.success !== undefined && body.data !== undefined ? body.data : data) as DataOf<R>;
}
