import { expect, test } from 'vitest';
import { eraseUploads } from './erase-uploads.ts';

test('a file that can not be deleted keeps no other from it, and has the job tried again', async () => {
  const deleted: string[] = [];
  const objects = {
    delete: async (key: string) => {
      if (key === 'refused') throw new Error('refused');
      deleted.push(key);
    },
  };
  const job = { workspaceId: '', uploadIds: [], files: ['refused', 'a', 'b'] };
  const erasing = eraseUploads({ objects } as never, job, new AbortController().signal);
  await expect(erasing).rejects.toThrow('refused');
  expect(deleted).toEqual(['a', 'b']);
});
