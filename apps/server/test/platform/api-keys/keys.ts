import { systemClock } from '../../../src/foundation/values/clock.ts';
import { createKey } from '../../../src/platform/api-keys/first-key.ts';
import type { TestServer } from '../../server.ts';

/** A further key of a test server, of the default workspace or of one of this name, which is made. */
export function keyWith(
  server: TestServer,
  { permissions, workspace = 'Default' }: { permissions: string[]; workspace?: string },
): Promise<string> {
  return createKey(server.database, systemClock, { workspace, name: 'Test', permissions });
}
