import { afterAll, beforeAll, describe } from 'vitest';
import { openS3ObjectStore, type S3ObjectStore } from '../../../src/foundation/objects/s3.ts';
import { s3Witness } from '../../../src/platform/installation/s3-witness.ts';
import { witnessSuite } from '../../platform/installation/witness-suite.ts';
import { objectStoreSuite } from './object-store-suite.ts';
import { s3Source, startS3 } from './s3-server.ts';

describe.skipIf(s3Source === undefined)('S3, which needs moto_server or TEST_S3_ENDPOINT', () => {
  let store: S3ObjectStore;
  let server: Awaited<ReturnType<typeof startS3>>;

  beforeAll(async () => {
    server = await startS3();
    store = await openS3ObjectStore(server);
  });
  afterAll(() => server?.stop());

  witnessSuite('the bucket', () => s3Witness(store, 'installation/witness/a'));

  objectStoreSuite('S3', () => store, s3Source !== 'moto_server');
});
