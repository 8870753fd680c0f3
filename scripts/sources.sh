# Sourced: our_sources PATTERN... prints the files of this tree whose names
# match, whether or not git knows them yet.
our_sources() {
  local names=() pattern
  for pattern in "$@"; do
    names+=(-o -name "$pattern")
  done
  find . -mindepth 1 \( -path ./build -o -name '.*' \) -prune -o \
    -type f \( "${names[@]:1}" \) -print | sort
}
