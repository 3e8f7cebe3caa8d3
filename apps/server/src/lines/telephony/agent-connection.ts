import type { RealtimeAsk } from '../media/realtime/model-session.ts';
import type { ScriptStep } from '../media/script/script.ts';

/** Who speaks on an agent's calls, as the contract's `AgentConnection` with its secrets. `type` says which shape it has. */
export type AgentConnection = StreamConnection | RealtimeConnection | ScriptConnection;

/** A process of one's own, which calls reach over a WebSocket. */
export interface StreamConnection {
  type: 'stream';
  /** `wss://`; or `https://`, which is asked where each call's stream goes. Plain ones to addresses that the settings allow. */
  url: string;
  headers: Record<string, string>;
  /** Signs the connection; absent where a directory gives none. */
  secret?: string;
  connectAt: 'answered' | 'ringing';
  connectTimeoutSeconds: number;
  /** Whether a connection that drops in a call is made once more. */
  reconnect: boolean;
  /** Without a sound of it for so long, since the answer or the callee's last words, the call is over; 30 without it. */
  silenceSeconds?: number;
}

/** A speech model, and what it is to do; its texts have templates still. */
export interface RealtimeConnection extends Omit<RealtimeAsk, 'silenceMs' | 'accountSid' | 'isFollowed'> {
  type: 'realtime';
  silenceSeconds: number;
  /** How tools of its owner's are reached, and what signs their requests: nothing for the thread that speaks. */
  http: { secret: string; tools: readonly HttpTool[] };
}

/** A tool of a customer's, whose arguments are sent by HTTP. */
export interface HttpTool {
  name: string;
  url: string;
  headers: Record<string, string>;
  timeoutMs: number;
}

/** A script that this server itself goes through; its texts have templates still. */
export interface ScriptConnection {
  type: 'script';
  language: string;
  voice?: string;
  steps: readonly ScriptStep[];
}
