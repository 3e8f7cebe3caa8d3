import { expect, test } from 'vitest';
import { hasChromium } from '../../../../../openapi/test/browser.ts';
import { GUIDES, OF_REDOC, REFERENCE, startLooking } from './docs-pages.ts';

test.skipIf(!hasChromium)(
  'every guide, and the reference, can be read by all, wide and narrow, light and dark (needs chromium)',
  {
    timeout: 600_000,
  },
  async () => {
    const docs = await startLooking();
    try {
      expect(await docs.faultsOf(GUIDES, { inColour: true, leftOut: [] })).toEqual([]);
      expect(await docs.faultsOf(REFERENCE, { inColour: true, leftOut: OF_REDOC })).toEqual([]);
    } finally {
      await docs.stop();
    }
  },
);
