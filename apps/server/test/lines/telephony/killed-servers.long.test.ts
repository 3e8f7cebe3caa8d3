import { test } from 'vitest';
import { killServers } from './killed-servers.ts';

test(
  '50 calls that are up, and more that ring and are being placed, outlive no killed server by themselves',
  {
    timeout: 180_000,
  },
  () => killServers({ talking: 50, ringing: 10, placing: 40, rtpPort: 42_000 }),
);
