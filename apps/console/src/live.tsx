import { useQuery, useQueryClient } from '@tanstack/react-query';
import { TrunklineError } from '@trunkline/client';
import { useEffect, useState } from 'react';
import { useLink } from './link.ts';
import { client } from './session.ts';

/** How often the workspace is asked for: soon enough to notice within five seconds that the server is away. */
const LOOK_MS = 2500;
/** Reasons and contacts are counted and listed anew so often at most, while something happens. */
const COUNT_MS = 2500;
const REOPEN_MS = 1000;

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The workspace, and with it whether dialing is on and whether the server answers. */
export const useWorkspace = () =>
  useQuery({
    queryKey: ['workspace'],
    queryFn: () => client.workspace.get({ timeoutMs: 2000, maxRetries: 0 }),
    refetchInterval: LOOK_MS,
  });

/** Why dialing is held by the server itself, in its words; asked only while dialing is stopped. */
export const useHeld = (isStopped: boolean) =>
  useQuery({
    queryKey: ['held'],
    enabled: isStopped,
    refetchInterval: 10_000,
    queryFn: async () => {
      const text = await (await fetch('/readyz')).text();
      return /^dialing is held: .*$/m.exec(text)?.[0] ?? null;
    },
  }).data ?? undefined;

/** The time, by the second or so. */
export function useNow(everyMs = 1000): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

export const useCampaign = (id: string) =>
  useQuery({ queryKey: ['campaign', id], queryFn: () => client.campaigns.get(id) });

/** The figures, with why contacts are not called, which the stream doesn't tell. */
export const useStats = (id: string) =>
  useQuery({ queryKey: ['stats', id], queryFn: () => client.campaigns.getStats(id) });

/** Follows a campaign, and begins anew when the server is back. */
export function Follow({ campaignId }: { campaignId: string }) {
  const { returns } = useLink();
  return <Stream key={returns} id={campaignId} />;
}

/** The state and figures of a campaign come as they change, and what hangs on them is asked for anew. */
function Stream({ id }: { id: string }) {
  const queries = useQueryClient();
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const counted = throttle(COUNT_MS, signal, () => {
      for (const key of ['stats', 'contacts', 'campaign-calls']) queries.invalidateQueries({ queryKey: [key, id] });
    });
    const follow = async () => {
      while (!signal.aborted) {
        try {
          for await (const { data } of client.campaigns.streamEvents(id, { signal })) {
            queries.setQueryData(['campaign', id], data.campaign);
            queries.setQueryData(['stats', id], (old: object | undefined) => ({ ...old, ...data.stats }));
            counted();
          }
          return;
        } catch (error) {
          if (signal.aborted || (error instanceof TrunklineError && error.status < 500)) return;
          await sleep(REOPEN_MS);
        }
      }
    };
    follow();
    return () => controller.abort();
  }, [id, queries]);
  return null;
}

/** A work that is done at once, and then no more often than this; the last call is never lost. */
function throttle(milliseconds: number, signal: AbortSignal, work: () => void): () => void {
  let isWaiting = false;
  let next = 0;
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    const wait = Math.max(0, next - Date.now());
    setTimeout(() => {
      isWaiting = false;
      next = Date.now() + milliseconds;
      if (!signal.aborted) work();
    }, wait);
  };
}

/** At which hours of their day those who are left could ring: a dry run, made anew each minute. */
export const useLocalHours = (id: string, isOn: boolean) =>
  useQuery({
    queryKey: ['preview', id],
    enabled: isOn,
    refetchInterval: 60_000,
    staleTime: 30_000,
    queryFn: () => client.campaigns.preview(id, { sampleSize: 1 }),
  }).data;
