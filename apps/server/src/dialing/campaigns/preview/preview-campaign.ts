import type { WorkspaceTx } from '../../../foundation/database/database.ts';
import type { components } from '../../../foundation/values/generated/contract.ts';
import type { CampaignRow } from '../shape-campaign.ts';
import type { SituationTerms } from '../situation.ts';
import { countMissing, variablePlaces } from './missing-variables.ts';
import { countWhoIsLeft } from './preview-counts.ts';
import { previewSample } from './preview-sample.ts';
import { previewScope } from './preview-scope.ts';

type CampaignPreview = components['schemas']['CampaignPreview'];

/**
 * Whom a campaign would call, from which number and when, and whom not and why, as it is at this moment. It changes
 * nothing. Counts are by SQL, and only `sampleSize` contacts are read, so that it stays fast with a million.
 * @param terms also the variables that its agent needs
 */
export async function previewCampaign(
  tx: WorkspaceTx,
  campaign: CampaignRow,
  sampleSize: number,
  { needed = [], ...terms }: SituationTerms & { now: Date; needed?: readonly string[] },
): Promise<CampaignPreview> {
  const scope = await previewScope(tx, campaign, sampleSize, terms);
  const left = await countWhoIsLeft(tx, scope);
  const variables = await variablePlaces(tx, scope, needed);
  return {
    callable: left.callable,
    leftOut: left.leftOut,
    sharedHours: left.sharedHours,
    localHours: left.localHours,
    ...(scope.situation.defaultQuietHours && { defaultQuietHours: scope.situation.defaultQuietHours }),
    ...(needed.length > 0 && { missingVariables: await countMissing(tx, scope, variables) }),
    sample: await previewSample(tx, scope, sampleSize, left.examples, variables),
  };
}
