#!/bin/sh
# Proves that hvdrun works in this CI: no terminal, stdin closed, no HOME, one
# core. Two workers take five steps in under two seconds; a failing job gives
# its own exit code; both leave a report.
#
# usage: ci-smoke.sh [DIRECTORY that holds hvdrun and ring; else from PATH]
set -eu

if [ $# -gt 0 ]; then
  PATH=$1:$PATH
  export PATH
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset HOME
# The first core that this process may use.
core=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')

fail() {
  echo "ci-smoke: $1" >&2
  cat "$scratch/out" "$scratch/err" >&2
  exit 1
}

# run WANTED-EXIT-CODE HVDRUN-WORD...
run() {
  wanted=$1
  shift
  code=0
  setsid -w taskset -c "$core" hvdrun --report "$scratch/report" "$@" \
    <&- >"$scratch/out" 2>"$scratch/err" || code=$?
  [ "$code" -eq "$wanted" ] || fail "hvdrun ended with $code, not $wanted"
  grep -q "\"exit_code\": *$wanted\b" "$scratch/report" ||
    fail "the report does not say exit code $wanted: $(cat "$scratch/report")"
}

begin=$(date +%s%N)
run 0 -np 2 ring --steps 5 --rate 0
took=$((($(date +%s%N) - begin) / 1000000))
[ "$took" -lt 2000 ] || fail "took $took ms, must be under 2000"
[ "$(grep -c 'rank=[01] size=2 step=[1-5] sum=' "$scratch/out")" -eq 10 ] ||
  fail "two workers and five steps make ten lines"

run 3 -np 2 sh -c 'exit 3'

echo "ci-smoke: 2 workers, 5 steps, $took ms"
