#!/bin/sh
# Runs once on an empty cluster. Creates the role that owns the database and is not a superuser, so that
# row-level security applies to it, and the extension, which only a superuser can create.
set -eu
psql --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname=postgres \
  --set=password="$(cat /run/secrets/database_password)" <<'SQL'
create role facegate login password :'password' nosuperuser nocreatedb nocreaterole nobypassrls;
create database facegate owner facegate template template0 encoding 'UTF8' locale 'C';
\connect facegate
create extension vector;
revoke all on schema public from public;
grant all on schema public to facegate;
SQL
