import { afterAll, beforeAll, describe, it } from 'vitest';
import type { ObjectStore } from '../../src/objects/object-store.ts';
import { openS3ObjectStore } from '../../src/objects/s3.ts';
import { objectStoreSuite } from './object-store-suite.ts';
import { s3Source, startS3 } from './s3-server.ts';

if (s3Source === undefined) {
  describe('object store: S3', () => {
    it.skip('left out: no S3-compatible server here (install moto_server, or set TEST_S3_ENDPOINT)', () => {});
  });
} else {
  let store: ObjectStore;
  let server: Awaited<ReturnType<typeof startS3>>;

  beforeAll(async () => {
    server = await startS3();
    store = await openS3ObjectStore(server);
  }, 60_000);
  afterAll(() => server?.stop());

  objectStoreSuite(`S3 (${s3Source})`, () => store, s3Source !== 'moto_server');
}
