#!/bin/sh
# Creates the secrets of compose.yaml. Existing files are kept. Run it as root, or as the user 1000 of
# the containers.
set -eu
cd "$(dirname "$0")"
uid="$(id -u)"
[ "$uid" = 0 ] || [ "$uid" = 1000 ] || { echo 'run it as root, or as the user 1000' >&2; exit 1; }
umask 077
# Containers read the passwords as different users. The folder mode protects them on this machine.
mkdir -p secrets secrets/keys deletions
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
create() { [ -e "$1" ] || { printf '%s' "$2" >"$1"; chmod 444 "$1"; }; }
create secrets/database-owner-password "$(random)"
create secrets/database-password "$(random)"
create secrets/database-url "postgres://facegate:$(cat secrets/database-password)@database:5432/facegate"
# Only the owner may read the master key. The service verifies this.
key=secrets/keys/master.key
[ -e "$key" ] || printf '%s %s\n' \
  "$(cat /proc/sys/kernel/random/uuid)" "$(head -c 32 /dev/urandom | base64 | tr -d '\n')" >"$key"
[ "$uid" != 0 ] || chown -R 1000:1000 secrets/keys deletions
echo 'the secrets are in deploy/secrets; keep a copy of secrets/keys/master.key elsewhere'
