/** What stands before the hosts of a URL, the hosts, and what stands behind. */
export function partsOf(connectionString: string): [before: string, hosts: string, behind: string] {
  const [, before = '', hosts = '', behind = ''] =
    /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(connectionString) ?? [];
  return [before, hosts, behind];
}

/** A URL for each host that the URL of a database names. */
export function hostsOf(connectionString: string): string[] {
  const [before, hosts, behind] = partsOf(connectionString);
  return hosts.split(',').map((host) => `${before}${host}${behind}`);
}

/** What is wrong with the hosts of a URL that names several; nothing if all is right. No part of it is shown. */
export function faultOfHosts(connectionString: string): string | undefined {
  const urls = hostsOf(connectionString);
  if (urls.length === 1) return undefined;
  for (const [at, url] of urls.entries()) {
    const which = `host ${at + 1} of ${urls.length}`;
    const [, host] = partsOf(url);
    if (host === '') return `${which} is empty`;
    if (!URL.canParse(url) || new URL(url).hostname === '') return `${which} is no host or host:port`;
    if (urls.indexOf(url) < at) return `${which} is named twice`;
    if (new URL(url).searchParams.has('host')) return 'hosts are named before the database and by ?host= as well';
  }
  return undefined;
}
