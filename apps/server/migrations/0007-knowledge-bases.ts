import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

const tenantTables = ['knowledge_bases', 'knowledge_base_documents', 'knowledge_base_erasures'];

const tables = `
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
create index knowledge_base_documents_base on knowledge_base_documents (workspace_id, knowledge_base_id, created_at, id);

-- What is to be erased of documents that are gone, or that never came to be: file and passages.
create table knowledge_base_erasures (
  workspace_id uuid not null references workspaces,
  document_id uuid not null,
  due_at timestamptz not null,
  primary key (workspace_id, document_id)
);
create index knowledge_base_erasures_due_at on knowledge_base_erasures (due_at);

-- Under row-level security the index on words could not be used: "@@" is not leakproof. So all goes through the view
-- below, which is the wall. Among the words stands one for the knowledge base, so that one index narrows by both.
create table knowledge_base_passages_all (
  workspace_id uuid not null,
  document_id uuid not null,
  position integer not null,
  knowledge_base_id uuid not null,
  text text not null,
  words tsvector not null,
  primary key (workspace_id, document_id, position)
);
-- A list of pending entries would be read through by every search.
create index knowledge_base_passages_words on knowledge_base_passages_all using gin (words) with (fastupdate = off);
create view knowledge_base_passages as
  select * from knowledge_base_passages_all
  where workspace_id = nullif(current_setting('trunkline.workspace', true), '')::uuid
  with check option;
`;

/** Knowledge bases, their documents, and the passages that are searched. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
  for (const table of tenantTables) await sql.raw(tenancy(table)).execute(db);
}
