import { type RawBuilder, sql } from 'kysely';
import type { CallingArea } from '../../lines/phone-numbers/may-call.ts';
import { dialRefusal, type Refusal } from '../calls/may-dial.ts';

/** Why a contact of a campaign is not called, whatever the hour. */
export type ContactRefusal = Refusal | 'no_consent' | undefined;

/** What decides it: `phone_number` is E.164 without the plus, `consented` is true where nobody asks for a consent. */
interface JudgedContact {
  phone_number: number;
  do_not_call: boolean;
  consented: boolean;
}

/** Why a contact is not called, the first reason of it. */
export const contactRefusal = (contact: JudgedContact, area: CallingArea): ContactRefusal =>
  contact.do_not_call || contact.consented
    ? dialRefusal(contact.phone_number, contact.do_not_call, area)
    : 'no_consent';

/** SQL for whether some entries `said` of one number, of several lists, come to a consent: one says yes, and none says no. */
export const consentOfEntries = sql<boolean>`coalesce(bool_and((said.consent ->> 'given')::boolean), false)`;

/** SQL for whether the contact lists of a campaign say that somebody has agreed to be called, as they are now. */
export const hasConsent = (
  number: RawBuilder<unknown>,
  workspaceId: RawBuilder<unknown>,
  campaignId: RawBuilder<unknown>,
) => sql<boolean>`
  (select ${consentOfEntries} from campaign_lists cl
    join contact_list_uploads u on u.workspace_id = cl.workspace_id and u.list_id = cl.list_id and u.status = 'processed'
    join contact_list_entries said on said.workspace_id = ${workspaceId} and said.upload_id = u.id
      and said.phone_number = ${number}
    where cl.workspace_id = ${workspaceId} and cl.campaign_id = ${campaignId} and cl.role = 'contacts')`;
