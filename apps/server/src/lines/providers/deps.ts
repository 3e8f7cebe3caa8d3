import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { AccountProvider, NumberMarket } from '../telephony/number-market.ts';

/** What providers of numbers need. */
export interface ProviderDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  secrets: Secrets;
  /** Where numbers are bought by anybody, by the name of the provider. */
  markets: ReadonlyMap<string, NumberMarket>;
  /** Where providers send calls to numbers of this server, as a SIP URI; nothing if they can't. */
  originUri?: string;
  /** Where they are bought with an account, by the name of the provider. */
  accountProviders: ReadonlyMap<string, AccountProvider>;
}
