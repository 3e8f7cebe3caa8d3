#!/bin/sh
# Run once by the PostgreSQL image, when compose.yaml's database is made. The server's role owns its database and is no
# superuser, or row-level security would not bind it. Nobody needs a password: only a socket that both containers share
# leads in, the server's role through it to its own database, and the superuser by the user `postgres` of this container.
set -eu
psql -v ON_ERROR_STOP=1 --username postgres --dbname postgres <<'SQL'
create role trunkline login;
create database trunkline owner trunkline;
SQL
cat >"$PGDATA/pg_hba.conf" <<'HBA'
local trunkline trunkline trust
local all       postgres  peer
HBA
