import { type Act, newSid, Refused, type TwilioDouble } from './double.ts';

const missing = () => new Refused(404, 20404, 'The requested resource was not found');

/** What the double does with trunks: names of domains are unique, passwords are as Twilio wants them, all is found again. */
export function trunkActs(double: TwilioDouble): Record<string, Act> {
  const lists = '/2010-04-01/Accounts/{AccountSid}/SIP/CredentialLists';
  const credentials = `${lists}/{CredentialListSid}/Credentials`;
  const trunkOf = (sid?: string) => {
    const found = double.trunks.find((each) => each.sid === sid);
    if (!found) throw missing();
    return found;
  };
  const listOf = (sid?: string) => {
    const found = double.credentialLists.find((each) => each.sid === sid);
    if (!found) throw missing();
    return found;
  };
  const checked = (password = '') => {
    if (password.length < 12 || !/[a-z]/.test(password) || !/[A-Z]/.test(password) || !/\d/.test(password))
      throw new Refused(400, 21230, 'Password must be at least 12 characters, with mixed case and a digit');
    return password;
  };
  const listed = (key: string, items: object[]) => ({ status: 200, body: { [key]: items, meta: { key } } });
  const paged = (key: string, items: object[]) => ({ status: 200, body: { [key]: items, uri: '/' } });
  const shownTrunk = ({ sid, name, domain }: (typeof double.trunks)[number]) => ({
    sid,
    friendly_name: name,
    domain_name: domain,
    secure: false,
  });
  return {
    'get /v1/Trunks': () => listed('trunks', double.trunks.map(shownTrunk)),
    'post /v1/Trunks': (_values, { FriendlyName = '', DomainName = '' }) => {
      if (!/^[a-z0-9-]{1,63}\.pstn\.twilio\.com$/.test(DomainName))
        throw new Refused(400, 21245, 'Invalid domain name');
      if (FriendlyName.length > 64) throw new Refused(400, 20001, 'FriendlyName is too long');
      if (double.trunks.some(({ domain }) => domain === DomainName))
        throw new Refused(400, 21248, 'Domain name is taken');
      const trunk = { sid: newSid('TK'), name: FriendlyName, domain: DomainName, origins: [], credentialLists: [] };
      double.trunks.push(trunk);
      return { status: 201, body: shownTrunk(trunk) };
    },
    'get /v1/Trunks/{TrunkSid}/OriginationUrls': ([sid]) =>
      listed(
        'origination_urls',
        trunkOf(sid).origins.map((sip_url) => ({ sid: newSid('OU'), sip_url })),
      ),
    'post /v1/Trunks/{TrunkSid}/OriginationUrls': ([sid], { SipUrl = '' }) => {
      if (!SipUrl.startsWith('sip:')) throw new Refused(400, 21246, 'Invalid SIP URL');
      trunkOf(sid).origins.push(SipUrl);
      return { status: 201, body: { sid: newSid('OU'), sip_url: SipUrl } };
    },
    'get /v1/Trunks/{TrunkSid}/CredentialLists': ([sid]) =>
      listed(
        'credential_lists',
        trunkOf(sid).credentialLists.map((each) => ({ sid: each })),
      ),
    'post /v1/Trunks/{TrunkSid}/CredentialLists': ([sid], { CredentialListSid = '' }) => {
      trunkOf(sid).credentialLists.push(listOf(CredentialListSid).sid);
      return { status: 201, body: { sid: CredentialListSid } };
    },
    'post /v1/Trunks/{TrunkSid}/PhoneNumbers': ([sid], { PhoneNumberSid = '' }) => {
      const number = double.numbers.get(PhoneNumberSid);
      if (!number) throw missing();
      number.trunk_sid = trunkOf(sid).sid;
      return { status: 201, body: { sid: number.sid, phone_number: number.phone_number, trunk_sid: number.trunk_sid } };
    },
    [`get ${lists}.json`]: () =>
      paged(
        'credential_lists',
        double.credentialLists.map(({ sid, name }) => ({ sid, friendly_name: name })),
      ),
    [`post ${lists}.json`]: (_values, { FriendlyName = '' }) => {
      const list = { sid: newSid('CL'), name: FriendlyName, passwords: new Map() };
      double.credentialLists.push(list);
      return { status: 201, body: { sid: list.sid, friendly_name: FriendlyName } };
    },
    [`get ${credentials}.json`]: ([, sid]) =>
      paged(
        'credentials',
        [...listOf(sid).passwords].map(([username, each]) => ({ sid: each.sid, username })),
      ),
    [`post ${credentials}.json`]: ([, list], { Username = '', Password }) => {
      if (listOf(list).passwords.has(Username)) throw new Refused(400, 21231, 'Username is taken');
      const sid = newSid('CR');
      listOf(list).passwords.set(Username, { sid, password: checked(Password) });
      return { status: 201, body: { sid, username: Username } };
    },
    [`post ${credentials}/{Sid}.json`]: ([, list, sid = ''], { Password }) => {
      for (const each of listOf(list).passwords.values()) if (each.sid === sid) each.password = checked(Password);
      return { status: 200, body: { sid } };
    },
  };
}
