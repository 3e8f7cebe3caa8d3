import { statfs } from 'node:fs/promises';
import { Gauge, type Registry } from 'prom-client';
import { keptReading } from '../../foundation/values/kept-reading.ts';

/** Puts the room on the disk of DATA_DIR into the metrics. */
export function registerDiskMetrics(registry: Registry, dataDir: string): void {
  const free = keptReading(async () => {
    const { bavail, bsize } = await statfs(dataDir);
    return bavail * bsize;
  });
  new Gauge({
    name: 'trunkline_disk_free_bytes',
    help: 'Room on the disk of DATA_DIR.',
    registers: [registry],
    async collect() {
      this.set((await free()) ?? Number.NaN);
    },
  });
}
