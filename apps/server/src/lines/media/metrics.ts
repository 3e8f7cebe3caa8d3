import type { MediaStats } from '@trunkline/media';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Media } from './media.ts';

/** Puts the media of calls into the metrics; each gauge is read when they are. */
export function registerMediaMetrics(registry: Registry, media: Pick<Media, 'load'>): void {
  const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set(await read());
      },
    });
  gauge('trunkline_media_calls', 'Calls whose sound this server carries.', () => media.load().calls);
  gauge('trunkline_media_threads', 'Threads for sound that run, of MEDIA_WORKERS.', () => media.load().threads);
  gauge(
    'trunkline_media_worst_late_seconds',
    'How late the latest turn of a thread for sound was in the last ten seconds or more. From 0.02 on speech is torn.',
    async () => (await media.load().worstLateMs()) / 1000,
  );
}

/** Counts the packets of calls whose media have ended. */
export function countPackets(registry: Registry): (stats: MediaStats) => void {
  const packets = new Counter({
    name: 'trunkline_media_packets_total',
    help: 'RTP packets of calls that have ended: received, lost on the way to us, sent, refused since their source may not speak, or malformed.',
    labelNames: ['kind'],
    registers: [registry],
  });
  return (stats) => {
    packets.inc({ kind: 'received' }, stats.packetsReceived);
    packets.inc({ kind: 'lost' }, Math.max(0, stats.packetsLost));
    packets.inc({ kind: 'sent' }, stats.packetsSent);
    packets.inc({ kind: 'refused' }, stats.packetsRefused);
    packets.inc({ kind: 'malformed' }, stats.malformedPackets);
  };
}
