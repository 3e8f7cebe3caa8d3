import { openBucket } from '../../compose-adapters.ts';
import type { Config } from '../../config.ts';
import { type Finding, mend, ok, whyOf } from './finding.ts';

/** Asks the bucket for an object, whichever. */
export async function checkBucket(config: Config): Promise<Finding[]> {
  if (config.s3Bucket === undefined) return [];
  try {
    const bucket = await openBucket(config);
    await bucket?.stat('installation/witness.json');
    return [ok('files', `The bucket ${config.s3Bucket} answers.`)];
  } catch (error) {
    const advice =
      'Look at S3_BUCKET, S3_ENDPOINT, S3_REGION and the access key, which has to read, write, delete and list.';
    return [mend('files', `The bucket ${config.s3Bucket} can not be used (${whyOf(error)}). ${advice}`)];
  }
}
