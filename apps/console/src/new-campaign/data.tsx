import { useQuery, useQueryClient } from '@tanstack/react-query';
import { TrunklineError } from '@trunkline/client';
import { useEffect } from 'react';
import { useLink } from '../link.ts';
import { type ContactList, isMoving, type Upload } from '../rules/files.ts';
import type { Campaign } from '../rules/words.ts';
import { client } from '../session.ts';

const REOPEN_MS = 1000;
const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export const listKey = (id: string) => ['contact-list', id];

/** The list that the campaign is to call, with its latest upload. */
export const useContactList = (id: string | undefined) =>
  useQuery({
    queryKey: listKey(id ?? ''),
    enabled: id !== undefined,
    queryFn: () => client.contactLists.get(id!),
  });

/** Puts in an upload as the server has just told it. */
export function useTellUpload(listId: string): (upload: Upload) => void {
  const cache = useQueryClient();
  return (uploadDetails) =>
    cache.setQueryData(listKey(listId), (old: ContactList | undefined) => old && { ...old, uploadDetails });
}

/** Puts in the list as an import has left it. */
export function useListChanged(): (list: ContactList) => void {
  const cache = useQueryClient();
  return (list) => {
    cache.setQueryData(listKey(list.id), list);
    cache.invalidateQueries({ queryKey: ['list-entries', list.id] });
  };
}

/** How the beginning of an uploaded file is read; while it is read anew, as it was read before. */
export const usePreview = (listId: string, { id, status, validatedAt }: Upload) =>
  useQuery({
    queryKey: ['upload-preview', id, validatedAt],
    enabled: !['pending', 'uploaded', 'validating', 'expired'].includes(status),
    placeholderData: (before) => before,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => client.contactLists.previewUpload(listId, id),
  });

/** The campaigns that call a list: the draft that is made here, and how many there are. */
export const useCampaignsOf = (listId: string | undefined) =>
  useQuery({
    queryKey: ['campaigns-of', listId],
    enabled: listId !== undefined,
    queryFn: async () => {
      const { items, totalCount } = await client.campaigns.list({ listId: listId!, perPage: 100 });
      const calling = items.filter(({ lists }) => lists.some(({ id, role }) => id === listId && role === 'contacts'));
      // A redial, or a draft that calls other lists too, is not what is made here.
      const draft = calling.find(
        ({ status, redialOf, lists }) =>
          status === 'draft' && !redialOf && lists.filter(({ role }) => role === 'contacts').length === 1,
      );
      return { draft, others: calling.filter((campaign) => campaign !== draft), count: totalCount };
    },
  });

/** The draft as it is now, which its hours change. */
export function useDraft(found: Campaign | undefined): Campaign | undefined {
  const { data = found } = useQuery({
    queryKey: ['campaign', found?.id],
    enabled: found !== undefined,
    placeholderData: found,
    queryFn: () => client.campaigns.get(found!.id),
  });
  return data?.id === found?.id ? data : found;
}

/** What could not be read while the server was away is read once it is back. */
export function useReadAgain(): void {
  const { returns } = useLink();
  const cache = useQueryClient();
  useEffect(() => {
    if (returns > 0) cache.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
  }, [returns, cache]);
}

/** Follows an upload while something happens to it, and begins anew when the server is back. */
export function FollowUpload({ listId, upload }: { listId: string; upload: Upload }) {
  const { returns } = useLink();
  return isMoving(upload) ? <Stream key={`${upload.id} ${returns}`} listId={listId} uploadId={upload.id} /> : null;
}

function Stream({ listId, uploadId }: { listId: string; uploadId: string }) {
  const cache = useQueryClient();
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const follow = async () => {
      while (!signal.aborted) {
        try {
          for await (const { data } of client.contactLists.streamUploadEvents(listId, uploadId, { signal })) {
            if (isMoving(data))
              cache.setQueryData(
                listKey(listId),
                (old: ContactList | undefined) => old && { ...old, uploadDetails: data },
              );
          }
          // The list has changed with it, and addresses of reports are told by a reading alone.
          await cache.invalidateQueries({ queryKey: listKey(listId) });
          return await cache.invalidateQueries({ queryKey: ['upload-preview', uploadId] });
        } catch (error) {
          if (signal.aborted || (error instanceof TrunklineError && error.status < 500)) return;
          await sleep(REOPEN_MS);
        }
      }
    };
    follow();
    return () => controller.abort();
  }, [listId, uploadId, cache]);
  return null;
}
