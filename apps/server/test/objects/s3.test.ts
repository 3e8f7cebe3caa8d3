import { afterAll, beforeAll, describe } from 'vitest';
import type { ObjectStore } from '../../src/objects/object-store.ts';
import { openS3ObjectStore } from '../../src/objects/s3.ts';
import { objectStoreSuite } from './object-store-suite.ts';
import { s3Source, startS3 } from './s3-server.ts';

describe.skipIf(s3Source === undefined)('S3, which needs moto_server or TEST_S3_ENDPOINT', () => {
  let store: ObjectStore;
  let server: Awaited<ReturnType<typeof startS3>>;

  beforeAll(async () => {
    server = await startS3();
    store = await openS3ObjectStore(server);
  }, 60_000);
  afterAll(() => server?.stop());

  objectStoreSuite('S3', () => store, s3Source !== 'moto_server');
});
