/**
 * The SQL that walls a table off by workspace (architecture.md, "Tenancy"); the engine's loops see all of it. Released
 * migrations rest on this text: another wall is a new migration with a text of its own.
 */
export const tenancy = (table: string): string => `
alter table ${table} enable row level security;
alter table ${table} force row level security;
create policy tenant on ${table} using (
  workspace_id = (select nullif(current_setting('trunkline.workspace', true), '')::uuid)
  or (select current_setting('trunkline.engine', true)) = 'on'
);
`;
