#!/bin/sh
# Run once by Patroni, on the machine that makes the cluster: /etc/patroni/make-database.sh, mode 0755. The server's role owns
# its database and is no superuser, or row-level security would not bind it.
set -eu
# There is no standby yet that a commit could wait for.
export PGOPTIONS='-c synchronous_commit=local'
psql -v ON_ERROR_STOP=1 "$1" <<'SQL'
\getenv password TRUNKLINE_PASSWORD
create role trunkline login password :'password';
create database trunkline owner trunkline;
SQL
