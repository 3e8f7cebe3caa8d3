import { expect, test } from 'vitest';
import { hasChromium } from '../../../../../openapi/test/browser.ts';
import { GUIDES, REFERENCE, startLooking } from './docs-pages.ts';

test.skipIf(!hasChromium)(
  'every guide, and the reference, can be read by all, wide and narrow, light and dark (needs chromium)',
  {
    timeout: 600_000,
  },
  async () => {
    const docs = await startLooking();
    try {
      expect(await docs.faultsOf([...GUIDES, ...REFERENCE])).toEqual([]);
    } finally {
      await docs.stop();
    }
  },
);
