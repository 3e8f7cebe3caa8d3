import type { Config } from '../../config.ts';

/** What whoever runs the server lets every workspace do at most; no key raises it (docs/operations.md, "Toll fraud"). */
export interface OperatorLimits {
  /** ISO 3166-1 countries that may be called; undefined is all. */
  allowedCountries: readonly string[] | undefined;
  /** Outbound calls of a workspace in a UTC day; undefined is any number. */
  maxCallsPerDay: number | undefined;
  /** Whether a workspace may allow premium-rate numbers, and those that cost as much. */
  premiumRate: boolean;
}

/** Where whoever runs the server leaves all to the workspaces. */
export const noOperatorLimits: OperatorLimits = {
  allowedCountries: undefined,
  maxCallsPerDay: undefined,
  premiumRate: true,
};

/** Those of the settings. */
export const operatorLimits = (
  config: Pick<Config, 'operatorAllowedCountries' | 'operatorMaxCallsPerDay' | 'operatorPremiumRate'>,
): OperatorLimits => ({
  allowedCountries: config.operatorAllowedCountries,
  maxCallsPerDay: config.operatorMaxCallsPerDay,
  premiumRate: config.operatorPremiumRate === 'allow',
});
