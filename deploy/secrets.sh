#!/bin/sh
# Makes the secrets of compose.yaml; nothing that is there already is touched. Run it as root, or as
# the user 1000 that the containers run as.
set -eu
cd "$(dirname "$0")"
me="$(id -u)"
[ "$me" = 0 ] || [ "$me" = 1000 ] || { echo 'run it as root, or as the user 1000' >&2; exit 1; }
umask 077
# Containers read the passwords as several users. On this machine the folder keeps others out.
mkdir -p secrets secrets/keys deletions
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
make() { [ -e "$1" ] || { printf '%s' "$2" >"$1"; chmod 444 "$1"; }; }
make secrets/database-owner-password "$(random)"
make secrets/database-password "$(random)"
make secrets/database-url "postgres://facegate:$(cat secrets/database-password)@database:5432/facegate"
# The master key is for its owner alone, and the service looks whether it is.
key=secrets/keys/master.key
[ -e "$key" ] || printf '%s %s\n' \
  "$(cat /proc/sys/kernel/random/uuid)" "$(head -c 32 /dev/urandom | base64 | tr -d '\n')" >"$key"
[ "$me" != 0 ] || chown -R 1000:1000 secrets/keys deletions
echo 'the secrets are in deploy/secrets; keep a copy of secrets/keys/master.key elsewhere'
