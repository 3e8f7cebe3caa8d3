import { expect, test } from 'vitest';
import { hasChromium } from '../../../../../openapi/test/browser.ts';
import { GUIDES, startLooking } from './docs-pages.ts';

test.skipIf(!hasChromium)(
  'every guide can be read by all, wide and narrow, light and dark (needs chromium)',
  {
    timeout: 600_000,
  },
  async () => {
    const docs = await startLooking();
    try {
      expect(await docs.faultsOf(GUIDES, { inColour: true, leftOut: [] })).toEqual([]);
    } finally {
      await docs.stop();
    }
  },
);
