import type { Command } from 'commander';
import { askSecret } from '../ask.ts';
import type { First, Second } from '../client-types.ts';
import { Fault } from '../faults.ts';
import type { Options } from '../flags.ts';
import { type Client, type Context, group } from '../group.ts';
import type { Io } from '../io.ts';

const EXAMPLE = 'trk_…';
const PASSWORD_FLAG = ['--password-stdin', 'ask for the password, or read it from standard input'] as const;

const flags = {
  terminationUrl: ['text', 'where calls go, such as sip.carrier.com'],
  transport: ['text', 'auto, udp, tcp or tls'],
  username: ['text', 'who we are there'],
  register: ['switch', 'register there'],
  maxChannels: ['number', 'calls at once'],
  callsPerSecond: ['number', 'new calls a second'],
  numberFormat: ['text', 'e164_plus, e164, national or international_prefix'],
  country: ['text', 'for national numbers, such as US'],
  mediaEncryption: ['text', 'none, preferred or required'],
  keysInClear: ['switch', 'send its keys without TLS'],
} as const;

/** A password is never on the command line, where other users of the machine could read it. */
async function withPassword(body: Options, { io, options }: Context): Promise<Options> {
  if (!options['passwordStdin']) return body;
  return { ...body, password: await askSecret(io, 'Password of the trunk') };
}

export function addTrunks(program: Command, io: Io): void {
  const trunks = group(program, io, 'trunks', 'SIP trunks of a carrier or a PBX', EXAMPLE);
  trunks.list(
    (client: Client) => client.trunks.list,
    [
      ['id', 'id'],
      ['status', 'status'],
      ['host', 'terminationUrl'],
      ['live', 'liveCalls'],
      ['numbers', 'phoneNumberCount'],
      ['reason', 'reason'],
    ],
    { searchText: ['text', 'part of the host'] },
  );
  trunks.one('show <id>', 'Show a trunk', (client, id = '') => client.trunks.get(id));
  const create = { usage: 'create', says: 'Make a trunk', example: 'create --termination-url sip.carrier.com' };
  trunks
    .send(create, flags, (client, body: First<'trunks', 'create'>) => client.trunks.create(body), withPassword)
    .option(...PASSWORD_FLAG);
  const update = { usage: 'update <id>', says: 'Change a trunk', example: `update ${EXAMPLE} --max-channels 30` };
  trunks
    .send(
      update,
      flags,
      (client, body: Second<'trunks', 'update'>, id = '') => client.trunks.update(id, body),
      withPassword,
    )
    .option(...PASSWORD_FLAG);
  trunks.one('delete <id>', 'Delete a trunk', (client, id = '') => client.trunks.delete(id));
  const check = { usage: 'check <id>', says: 'Whether it answers, and takes us', example: `check ${EXAMPLE}` };
  trunks.add(check, async ({ client, screen }, id = '') => {
    const { trunk: _, ...found } = await client.trunks.validate(id);
    screen.record(found);
    if (!found.valid) throw new Fault(found.message ?? 'The trunk is not as it must be.');
  });
  trunks.one('pause <id>', 'Call over it no more', (client, id = '') => client.trunks.pause(id));
  trunks.one('resume <id>', 'Call over it again', (client, id = '') => client.trunks.resume(id));
}
