import { useSyncExternalStore } from 'react';

/** A file on its way to where the server wants it. */
export interface Sending {
  sentBytes: number;
  totalBytes: number;
  /** Why it does not go on, in words. */
  fault?: string;
}

/** How long an address takes a file. */
const LAST_MS = 15 * 60_000;
const AGAIN_MS = 1000;
const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** By the ID of the upload. They outlive the screen: who looks elsewhere meanwhile comes back to them. */
const sendings = new Map<string, Sending>();
const listeners = new Set<() => void>();
const tell = (uploadId: string, sending: Sending) => {
  sendings.set(uploadId, sending);
  for (const listener of listeners) listener();
};
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** The file of an upload, if this page sends or has sent it. */
export const useSending = (uploadId: string | undefined): Sending | undefined =>
  useSyncExternalStore(subscribe, () => (uploadId === undefined ? undefined : sendings.get(uploadId)));

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** A name of this machine stands for the others: the page may have been opened by another one than the server's own. */
function reachable(address: string): URL {
  const url = new URL(address);
  const isSame = url.port === location.port && LOOPBACK.test(url.hostname) && LOOPBACK.test(location.hostname);
  if (isSame) url.hostname = location.hostname;
  return url;
}

interface Place {
  uploadUrl: string;
  uploadHeaders: Record<string, string>;
}

/** Sends a file, and goes on by itself once a server that was away is back. */
export async function sendFile(uploadId: string, { uploadUrl, uploadHeaders }: Place, file: File): Promise<void> {
  if (sendings.has(uploadId)) return;
  const [url, until] = [reachable(uploadUrl), Date.now() + LAST_MS];
  const at = (sentBytes: number, fault?: string) =>
    tell(uploadId, { sentBytes, totalBytes: file.size, ...(fault !== undefined && { fault }) });
  at(0);
  for (;;) {
    const { status, said } = await put(url, uploadHeaders, file, at);
    const isThere = (status >= 200 && status < 300) || status === 409 || status === 412;
    if (isThere) return at(file.size);
    const passes = status === 0 || status === 429 || status >= 500;
    if (!passes || Date.now() > until) return at(0, said || 'The file could not be sent.');
    await sleep(AGAIN_MS);
  }
}

/** One try. The status is 0 where there was no answer. A 409, or a 412 of S3, says that the file has come before. */
const put = (url: URL, headers: Record<string, string>, file: File, onSent: (bytes: number) => void) =>
  new Promise<{ status: number; said: string }>((resolve) => {
    // Fetch doesn't tell how much it has sent.
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => onSent(loaded);
    request.onloadend = () => resolve({ status: request.status, said: saidIn(request.responseText) });
    request.send(file);
  });

/** The server's words in its answer; nothing where another has answered. */
function saidIn(answer: string): string {
  try {
    return (JSON.parse(answer) as { error?: string }).error ?? '';
  } catch {
    return '';
  }
}
