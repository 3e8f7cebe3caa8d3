import type { Socket } from 'node:net';
import pg from 'pg';
import { hostsOf } from '../values/postgres-hosts.ts';
import { type Primary, primaryOf } from './primary.ts';

/**
 * `pg`'s client, which connects to the primary where a URL names several hosts, and is cut off when another of them becomes
 * it. Everything that connects to a database of the settings uses it; a pool is given it as `Client`.
 */
export class Client extends pg.Client {
  readonly #primary: Primary | undefined;

  constructor({ connectionString = '', ...config }: pg.ClientConfig = {}) {
    const hosts = hostsOf(connectionString);
    super({ ...config, connectionString: hosts[0]! });
    // Cut off as it has just connected it would end the process: nobody listens yet. Its next query tells who uses it.
    this.on('error', () => {});
    if (hosts.length > 1) this.#primary = primaryOf(connectionString);
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error | null, client: pg.Client) => void): void;
  override connect(callback?: (error: Error | null, client: pg.Client) => void): Promise<pg.Client> | undefined {
    const connecting = this.#primary ? this.#connectTo(this.#primary) : super.connect();
    if (!callback) return connecting;
    connecting.then(
      () => callback(null, this),
      (error) => callback(error, this),
    );
    return undefined;
  }

  async #connectTo(primary: Primary): Promise<pg.Client> {
    const { host, port } = await primary.find();
    // A client that was ended meanwhile would connect all the same, and stay.
    if ((this as unknown as { _ending: boolean })._ending) throw new Error('Connection terminated');
    Object.assign(this, { host, port });
    await super.connect();
    const socket = () => this.connection.stream as Socket;
    const forget = primary.whenLeft({ host, port }, () =>
      socket().destroy(new Error('Connection terminated: another host is the primary now')),
    );
    this.once('end', forget);
    return this;
  }
}
