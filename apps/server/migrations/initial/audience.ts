/** The audience: contact lists, their files and entries. */
export const audience = `
create table contact_lists (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  name text not null,
  type text not null check (type in ('contacts', 'dnd', 'batch')),
  status text not null check (status in ('draft', 'ready', 'archived')),
  default_country text,
  -- The variables of all its files. Only ever appended to, so that "values" of entries and contacts stay aligned.
  columns text[] not null default '{}',
  total_entries integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id)
);

create table contact_list_uploads (
  workspace_id uuid not null,
  id uuid not null,
  list_id uuid not null,
  file_name text not null,
  storage_key text not null unique,
  status text not null check (status in ('pending', 'uploaded', 'validating', 'validated', 'processing', 'processed',
    'failed', 'expired')),
  url_expires_at timestamptz not null,
  uploaded_at timestamptz,
  validated_at timestamptz,
  processed_at timestamptz,
  rows_read integer not null default 0,
  bytes_read bigint not null default 0,
  bytes_total bigint not null default 0,
  total_rows integer not null default 0,
  valid_rows integer not null default 0,
  invalid_rows integer not null default 0,
  duplicate_rows integer not null default 0,
  imported_rows integer not null default 0,
  error_rows integer[] not null default '{}',
  error_report_key text,
  failure_code text,
  failure_message text,
  revision bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  phone_column text,
  format jsonb,
  -- Entries that come as JSON stand in an upload of their own, which no client sees.
  by_json boolean not null default false,
  file_erased_at timestamptz,
  -- What its rows say of the person's own word: who is not to be called is counted, the first of them by their numbers.
  -- "has_do_not_call" is whether any entry of it may bear the word now.
  do_not_call_columns text[],
  has_do_not_call boolean not null default false,
  do_not_call_rows integer not null default 0,
  do_not_call_row_numbers integer[] not null default '{}',
  consent_rows integer not null default 0,
  primary key (workspace_id, id),
  foreign key (workspace_id, list_id) references contact_lists
) with (fillfactor = 50);
create index contact_list_uploads_list on contact_list_uploads (workspace_id, list_id, id);
create index contact_list_uploads_open on contact_list_uploads (status)
  where status in ('pending', 'uploaded', 'validating', 'validated', 'processing');
create index contact_list_uploads_file_to_erase on contact_list_uploads (updated_at)
  where status in ('failed', 'expired') and file_erased_at is null;

-- An entry counts as soon as its upload is 'processed': confirming a first file is a change of state, not a copy.
-- COPY refuses tables with row-level security. Its one partition has none, and only the import writes there.
create table contact_list_entries (
  workspace_id uuid not null,
  upload_id uuid not null,
  phone_number bigint not null,
  row_number integer not null,
  name text,
  timezone text,
  "values" text[] not null,
  -- When an entry that came as JSON was added; others came with their upload.
  created_at timestamptz,
  -- The person's own word: not to be called (true or null), and what was agreed to.
  do_not_call boolean,
  consent jsonb
) partition by list (workspace_id);
create table contact_list_entries_all partition of contact_list_entries default;
create unique index contact_list_entries_number on contact_list_entries (workspace_id, upload_id, phone_number);
create index contact_list_entries_row on contact_list_entries (workspace_id, upload_id, row_number);
create index contact_list_entries_word on contact_list_entries (workspace_id, upload_id, phone_number)
  where do_not_call;
`;
