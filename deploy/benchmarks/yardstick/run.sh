#!/usr/bin/env bash
# Measures the yardstick of this machine: how many generic purchases PostgreSQL alone commits in a second. fsync is on, and 4
# clients work in batches of 500. It makes a cluster of its own, removes it, and prints one line of JSON.
# Usage: run.sh [PURCHASES]   (default 30000)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
total=${1:-30000} clients=4 size=500
pgbench=$(compgen -G '/usr/lib/postgresql/*/bin/pgbench' | sort -V | tail -n 1 || command -v pgbench) || true
[[ -n $pgbench ]] || { echo "yardstick: PostgreSQL's server programs are not installed" >&2; exit 69; }
bin=$(dirname "$(readlink -f "$pgbench")")
work=$(mktemp -d) user=postgres
chmod 755 "$work"
as() { if [[ $(id -u) == 0 ]]; then runuser -u "$user" -- "$@"; else "$@"; fi; }
[[ $(id -u) != 0 ]] || chown "$user" "$work"
trap 'as "$bin/pg_ctl" -D "$work/data" -m immediate -s stop >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
cp "$here/schema.sql" "$here/purchases.pgbench" "$work/"
as "$bin/initdb" -D "$work/data" -U peer -A trust >/dev/null
# `make bench` uses these two settings as well.
as "$bin/pg_ctl" -D "$work/data" -s -w -l "$work/log" \
    -o "-c listen_addresses= -c unix_socket_directories=$work -c wal_init_zero=off -c track_commit_timestamp=on" start
psql=("$bin/psql" -h "$work" -U peer -d postgres -qAt -v ON_ERROR_STOP=1)
"${psql[@]}" -f "$work/schema.sql"
bench() {
    "$bin/pgbench" -n -M prepared -f "$work/purchases.pgbench" -c $clients -j 2 -t "$1" -D ready=0 -D clients=$clients \
        -h "$work" -U peer postgres 2>&1
}
bench 1 >/dev/null
"${psql[@]}" -c CHECKPOINT
each=$((total / size / clients)); ((each > 0)) || each=1
out=$(bench $each)
grep -q 'failed transactions: 0 ' <<<"$out" || { echo "$out" >&2; exit 1; }
tps=$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' <<<"$out")
finished=$("${psql[@]}" -c 'SELECT count(*) FROM fulfillment.finished')
want=$(((each + 1) * clients * size))
[[ $finished == "$want" ]] || { echo "yardstick: $finished purchases are in the tables, $want were made" >&2; exit 1; }
awk -v t="$tps" -v s=$size -v n=$((each * clients * size)) 'BEGIN { printf "{\"yardstick_purchases_per_second\": %.0f, \"purchases\": %d}\n", t * s, n }'
