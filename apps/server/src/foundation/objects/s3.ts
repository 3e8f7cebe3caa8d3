import { randomUUID } from 'node:crypto';
import { type FileHandle, open, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMost, checkFileName, checkKey, ObjectMissing, type ObjectStore, translatedWrite } from './object-store.ts';

/** Which bucket, and how to reach it. */
export interface S3Options {
  bucket: string;
  region: string;
  /** For stores other than Amazon's; their buckets are addressed by path. */
  endpoint?: string | undefined;
  /** Without them the AWS SDK looks where it always does. */
  credentials?: { accessKeyId: string; secretAccessKey: string } | undefined;
}

/** A store in S3, which can list what it keeps and write over it. */
export interface S3ObjectStore extends ObjectStore {
  /** Writes a small object, over what its key holds. */
  replace(key: string, text: string): Promise<void>;
  /**
   * The objects whose keys begin so, in the order of their keys.
   * @param after only those behind it
   * @param delimiter what has the same key up to the next of these is named once, by that
   */
  list(what: { prefix: string; after?: string; delimiter?: string }): AsyncIterable<{ key: string; storedAt: Date }>;
}

/** Up to here an object is sent from memory, so that the SDK can try again by itself. */
const IN_MEMORY_BYTES = 8 * 1024 * 1024;

const statusOf = (error: unknown): number | undefined =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;

/** 412: the key is taken. 409: another write of it is just ending, which S3 lets win. */
const isTaken = (error: unknown) => statusOf(error) === 412 || statusOf(error) === 409;

/**
 * Opens a store in an S3 bucket. `If-None-Match: *` (signed into upload URLs too) makes the first complete write win.
 * The SDK is heavy, so it is loaded only here.
 */
export async function openS3ObjectStore(options: S3Options): Promise<S3ObjectStore> {
  const [s3, { getSignedUrl }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/s3-request-presigner'),
  ]);
  const client = new s3.S3Client({
    region: options.region,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(options.endpoint && { endpoint: options.endpoint, forcePathStyle: true }),
    ...(options.credentials && { credentials: options.credentials }),
  });
  const at = (key: string) => {
    checkKey(key);
    return { Bucket: options.bucket, Key: key };
  };

  /** S3 must know the length beforehand, so the content is laid down on disk first. */
  async function put(key: string, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<boolean> {
    const place = at(key);
    const temporary = join(tmpdir(), `trunkline-${randomUUID()}`);
    let large: FileHandle | undefined;
    try {
      const file = await open(temporary, 'wx', 0o600);
      await file.writeFile(atMost(content, maxBytes)).finally(() => file.close());
      const { size } = await stat(temporary);
      if (size > IN_MEMORY_BYTES) large = await open(temporary);
      const Body = large?.createReadStream() ?? (await readFile(temporary));
      await client.send(new s3.PutObjectCommand({ ...place, Body, ContentLength: size, IfNoneMatch: '*' }));
      return true;
    } catch (error) {
      if (isTaken(error)) return false;
      throw translatedWrite(error);
    } finally {
      await large?.close();
      await rm(temporary, { force: true });
    }
  }

  return {
    tellsOfUploads: false,
    faults: async () => [],
    put,
    async replace(key, text) {
      await client.send(new s3.PutObjectCommand({ ...at(key), Body: text }));
    },
    async *list({ prefix, after, delimiter }) {
      const where = { Bucket: options.bucket, Prefix: prefix, StartAfter: after, Delimiter: delimiter };
      for (let token: string | undefined, more = true; more; more = token !== undefined) {
        const page = await client.send(new s3.ListObjectsV2Command({ ...where, ContinuationToken: token }));
        for (const found of page.CommonPrefixes ?? []) yield { key: found.Prefix!, storedAt: new Date(0) };
        for (const found of page.Contents ?? []) yield { key: found.Key!, storedAt: found.LastModified! };
        token = page.NextContinuationToken;
      }
    },
    async get(key) {
      try {
        const found = await client.send(new s3.GetObjectCommand(at(key)));
        return found.Body as unknown as AsyncIterable<Uint8Array>;
      } catch (error) {
        if (statusOf(error) === 404) throw new ObjectMissing(key);
        throw error;
      }
    },
    async stat(key) {
      try {
        const found = await client.send(new s3.HeadObjectCommand(at(key)));
        return { sizeBytes: found.ContentLength ?? 0, storedAt: found.LastModified ?? new Date(0) };
      } catch (error) {
        if (statusOf(error) === 404) return undefined;
        throw error;
      }
    },
    async delete(key) {
      await client.send(new s3.DeleteObjectCommand(at(key)));
    },
    async uploadUrl(key, { contentType, expiresInSeconds }) {
      const command = new s3.PutObjectCommand({ ...at(key), ContentType: contentType, IfNoneMatch: '*' });
      const signed = new Set(['content-type', 'if-none-match']);
      const url = await getSignedUrl(client, command, {
        expiresIn: expiresInSeconds,
        signableHeaders: signed,
        unhoistableHeaders: signed,
      });
      return { url, headers: { 'Content-Type': contentType, 'If-None-Match': '*' } };
    },
    async downloadUrl(key, { fileName, contentType, expiresInSeconds }) {
      checkFileName(fileName);
      const command = new s3.GetObjectCommand({
        ...at(key),
        ResponseContentDisposition: `attachment; filename="${fileName}"`,
        ResponseContentType: contentType,
      });
      return getSignedUrl(client, command, { expiresIn: expiresInSeconds });
    },
  };
}
