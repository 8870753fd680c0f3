# Sourced: what a script says about itself, with the seconds since it began.

say() {
  printf '%s %4ds  %s\n' "${0##*/}:" "$SECONDS" "$*"
}

fail() {
  printf '%s: error: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Compilers at once: one a core, and about 1.5 GB each for the heaviest files.
parallel_jobs() {
  local cores memory_mb
  cores=$(nproc)
  memory_mb=$(awk '/^MemAvailable:/ {print int($2 / 1024)}' /proc/meminfo)
  local jobs=$((memory_mb / 1500))
  ((jobs > cores)) && jobs=$cores
  ((jobs < 1)) && jobs=1
  echo "$jobs"
}

# What must stand before every program of a preset: gcc 12's thread sanitizer
# cannot place its shadow memory when the kernel randomises 32 bits of addresses.
preset_prefix() {
  if [[ $1 == tsan ]] && setarch -R true 2>/dev/null; then
    echo "setarch -R"
  fi
}
