import { networkInterfaces } from 'node:os';
import type { Registry } from 'prom-client';
import type { Config } from '../../config.ts';
import { measureSlots } from '../observe/slot-metrics.ts';
import { createAddressGuard } from './address-guard.ts';
import { createNames } from './names.ts';

/** What judges the addresses that customers give: of requests and agents, and of trunks. */
export function openGuards(config: Config, registry: Registry, nameServers: readonly string[] | undefined) {
  const none = { networks: [], hosts: [] };
  const names = createNames(nameServers);
  measureSlots(registry, 'name_lookups', names.questions);
  return {
    guard: createAddressGuard(config.outboundAllowedAddresses ?? none, names.resolve),
    trunkGuard: createAddressGuard(
      config.sipAllowedAddresses ?? none,
      names.resolve,
      undefined,
      addressesOfSelf(config),
    ),
  };
}

/** A trunk that leads to the server itself would have it call itself without end. */
function addressesOfSelf({ publicUrl, sipPublicAddress }: Config): string[] {
  const ofMachine = Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));
  const ofUrl = publicUrl === undefined ? [] : [new URL(publicUrl).hostname.replace(/^\[|\]$/g, '')];
  return [...ofMachine, ...ofUrl, ...(sipPublicAddress === undefined ? [] : [sipPublicAddress])];
}
