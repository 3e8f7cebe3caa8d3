import { Gauge, type Registry } from 'prom-client';

/** Slots as they stand: how many there are, are taken, and are waited for where this process knows. */
export interface Measured {
  total: number;
  underWay(): number;
  waiting?(): number;
}

const measured = new WeakMap<Registry, Map<string, Measured>>();

/** Puts the slots of a resource into the metrics, by its name alone: workspaces may be any number. */
export function measureSlots(registry: Registry, resource: string, slots: Measured): void {
  const known = measured.get(registry) ?? register(registry);
  known.set(resource, slots);
}

function register(registry: Registry): Map<string, Measured> {
  const known = new Map<string, Measured>();
  measured.set(registry, known);
  const gauge = (name: string, help: string, read: (slots: Measured) => number | undefined) =>
    new Gauge({
      name,
      help,
      labelNames: ['resource'],
      registers: [registry],
      collect() {
        for (const [resource, slots] of known) {
          const value = read(slots);
          if (value !== undefined) this.set({ resource }, value);
        }
      },
    });
  gauge('trunkline_slots', 'Slots that this server has of a resource which workspaces share.', ({ total }) => total);
  gauge('trunkline_slots_under_way', 'Slots of a resource that are taken.', (slots) => slots.underWay());
  gauge('trunkline_slots_waiting', 'What waits for a slot of a resource.', (slots) => slots.waiting?.());
  return known;
}
