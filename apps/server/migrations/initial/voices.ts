/** Voices: knowledge bases and agents. */
export const voices = `
create table knowledge_bases (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  name text not null,
  description text,
  revision bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id)
);
create index knowledge_bases_created_at on knowledge_bases (workspace_id, created_at, id);

create table knowledge_base_documents (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  knowledge_base_id uuid not null,
  file_name text not null,
  file_size_bytes bigint not null,
  file_type text check (file_type in ('pdf', 'docx', 'txt', 'md', 'html', 'csv', 'json')),
  extracted_text_size_bytes bigint,
  status text not null check (status in ('pending', 'processing', 'ready', 'failed')),
  error_message text,
  -- The text search configuration that its passages are indexed by.
  language text,
  -- Counts how often its reading was begun: a reading that was thought dead finds that it is not the last one.
  reading integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, knowledge_base_id) references knowledge_bases
);
create index knowledge_base_documents_base on knowledge_base_documents (workspace_id, knowledge_base_id, created_at,
  id);

-- What is to be erased of documents that are gone, or that never came to be: file and passages.
create table knowledge_base_erasures (
  workspace_id uuid not null references workspaces,
  document_id uuid not null,
  due_at timestamptz not null,
  primary key (workspace_id, document_id)
);
create index knowledge_base_erasures_due_at on knowledge_base_erasures (due_at);

-- Among the words stands one for the knowledge base, so that one index narrows by both.
create table knowledge_base_passages (
  workspace_id uuid not null,
  document_id uuid not null,
  position integer not null,
  knowledge_base_id uuid not null,
  text text not null,
  words tsvector not null,
  primary key (workspace_id, document_id, position)
);
-- A list of pending entries would be read through by every search.
create index knowledge_base_passages_words on knowledge_base_passages using gin (words) with (fastupdate = off);

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

-- How many calls at once agents take that are known elsewhere, where their directory says it.
create table agent_limits (
  workspace_id uuid not null,
  agent_id text not null,
  -- What their calls count for.
  id uuid not null,
  max_concurrent_calls integer not null,
  primary key (workspace_id, agent_id)
);
`;
