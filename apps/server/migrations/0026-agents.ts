import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

const tables = `
create table agents (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  name text not null,
  connection_url text not null,
  -- JSON of name and value, encrypted; null where there is none.
  connection_headers text,
  header_names text[] not null,
  secret text not null,
  connect_at text not null check (connect_at in ('answered', 'ringing')),
  connect_timeout_seconds smallint not null,
  reconnect boolean not null,
  max_concurrent_calls integer,
  max_call_seconds integer,
  recording boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id)
);
create index agents_created_at on agents (workspace_id, created_at, id);

create table agent_knowledge_bases (
  workspace_id uuid not null,
  agent_id uuid not null,
  knowledge_base_id uuid not null,
  position smallint not null,
  primary key (workspace_id, agent_id, knowledge_base_id),
  foreign key (workspace_id, agent_id) references agents on delete cascade,
  foreign key (workspace_id, knowledge_base_id) references knowledge_bases on delete cascade
);
create index agent_knowledge_bases_base on agent_knowledge_bases (workspace_id, knowledge_base_id);

${tenancy('agents')}
${tenancy('agent_knowledge_bases')}
`;

/** Agents that the server keeps itself. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
}
