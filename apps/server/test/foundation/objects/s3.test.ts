import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openS3ObjectStore, type S3ObjectStore } from '../../../src/foundation/objects/s3.ts';
import { s3Witness } from '../../../src/platform/installation/s3-witness.ts';
import { objectStoreSuite } from './object-store-suite.ts';
import { s3Source, startS3 } from './s3-server.ts';

describe.skipIf(s3Source === undefined)('S3, which needs moto_server or TEST_S3_ENDPOINT', () => {
  let store: S3ObjectStore;
  let server: Awaited<ReturnType<typeof startS3>>;

  beforeAll(async () => {
    server = await startS3();
    store = await openS3ObjectStore(server);
  }, 60_000);
  afterAll(() => server?.stop());

  it('keeps how far the database has come', async () => {
    const witness = s3Witness(store);
    expect(await witness.read()).toBeUndefined();
    await witness.write({ id: 'a', watermark: 1 });
    await witness.write({ id: 'a', watermark: 2 });
    expect(await witness.read()).toEqual({ id: 'a', watermark: 2 });
  });

  objectStoreSuite('S3', () => store, s3Source !== 'moto_server');
});
