import { NumberError, type WantedTrunk } from '../number-market.ts';
import type { Ask, Question } from './ask.ts';

/** The addresses of Twilio's signalling, to be compared with its page before they are relied on (twilio.com/docs/sip-trunking/ip-addresses). */
export const signallingNetworks = [
  '54.172.60.0/30',
  '54.244.51.0/30',
  '54.171.127.192/30',
  '35.156.191.128/30',
  '54.65.63.192/30',
  '54.169.127.128/30',
  '54.252.254.64/30',
  '177.71.206.192/30',
];

/** The host of a trunk's termination. Names of all accounts are one's own: ours has the workspace's ID in it. */
export const domainOf = (name: string) => `${name}.pstn.twilio.com`;

/** What lists answer, as far as it matters here. */
interface Listed {
  sid?: string;
  friendly_name?: string;
  domain_name?: string;
  username?: string;
  sip_url?: string;
}

/** Finds by name what a trunk consists of, and makes what is missing. Answers the trunk's SID. Throws `NumberError`. */
export async function ensureTrunk(
  ask: Ask,
  root: string,
  { name, originUris, username, password }: WantedTrunk,
): Promise<string> {
  const DomainName = domainOf(name);
  const trunk = await findOrMake(
    ask,
    { api: 'trunking', path: '/v1/Trunks', list: 'trunks' },
    (each) => each.domain_name === DomainName,
    {
      FriendlyName: name,
      DomainName,
    },
  );
  const lists = { api: 'api' as const, path: `${root}/SIP/CredentialLists.json`, list: 'credential_lists' };
  const list = await findOrMake(ask, lists, (each) => each.friendly_name === name, { FriendlyName: name });
  const credentials = `${root}/SIP/CredentialLists/${list}/Credentials`;
  const form = { Username: username, Password: password };
  const ofList = { api: 'api' as const, path: `${credentials}.json`, list: 'credentials' };
  let isNew = false;
  const credential = await findOrMake(
    ask,
    ofList,
    (each) => each.username === username,
    form,
    () => {
      isNew = true;
    },
  );
  // What was there may have another password.
  if (!isNew)
    await ask({ method: 'POST', api: 'api', path: `${credentials}/${credential}.json`, form: { Password: password } });
  const own = `/v1/Trunks/${trunk}`;
  const ofTrunk = { api: 'trunking' as const, path: `${own}/CredentialLists`, list: 'credential_lists' };
  await findOrMake(ask, ofTrunk, (each) => each.sid === list, { CredentialListSid: list });
  for (const uri of originUris) {
    const form = { Weight: '10', Priority: '10', Enabled: 'true', FriendlyName: name, SipUrl: uri };
    const origins = { api: 'trunking' as const, path: `${own}/OriginationUrls`, list: 'origination_urls' };
    await findOrMake(ask, origins, (each) => each.sip_url === uri, form);
  }
  return trunk;
}

/** The SID of what a list has, or of what is made in it. */
async function findOrMake(
  ask: Ask,
  { api, path, list }: Pick<Question, 'api' | 'path'> & { list: string },
  isIt: (each: Listed) => boolean,
  form: Record<string, string>,
  onMade = () => {},
): Promise<string> {
  const answer = await ask({ method: 'GET', api, path, query: { PageSize: '1000' } });
  const listed = (answer as Record<string, Listed[] | undefined> | undefined)?.[list];
  if (!Array.isArray(listed)) throw new NumberError('temporary', `Twilio answered no list of ${path}`);
  const found = listed.find(isIt);
  const { sid } = found ?? ((await ask({ method: 'POST', api, path, form })) as Listed);
  if (!sid) throw new NumberError('unknown', `Twilio answered nothing that was made in ${path}`);
  if (!found) onMade();
  return sid;
}
