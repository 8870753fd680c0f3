# Sourced: the Debian packages that a stage needs, and how they get here.
#
# install_packages WHAT PACKAGE... installs those that are missing and says so.
# Asks for nothing when none is missing, so a second run needs no network.

# To build everything, tests included.
build_packages=(g++ cmake ninja-build ccache pkg-config python3
  libboost-dev nlohmann-json3-dev libcli11-dev catch2 libssl-dev
  libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc)
# The sanitizers are clang's: they compile in half of gcc's time.
sanitizer_packages=(clang libclang-rt-dev llvm)
# What the tests start beside our own programs.
test_packages=(curl procps util-linux strace iproute2 openssh-client openssh-server
  tcsh fish)

missing_packages() {
  local package
  for package in "$@"; do
    case "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" in
      installed) ;;
      *) printf '%s ' "$package" ;;
    esac
  done
}

# as_root COMMAND...: with sudo where that is needed.
as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  else
    sudo "$@"
  fi
}

# A mirror that fails now often works in a moment.
apt_with_retries() {
  local attempt
  for attempt in 1 2 3; do
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q \
      -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "$@" && return
    say "apt-get $1 failed (attempt $attempt of 3)"
    sleep $((attempt * 5))
  done
  return 1
}

install_packages() {
  local what=$1
  shift
  if ! command -v dpkg-query >/dev/null; then
    say "no Debian packages here: $what needs the equivalents of $*"
    return
  fi
  local missing
  missing=$(missing_packages "$@")
  if [[ -z $missing ]]; then
    say "packages to $what: all here"
    return
  fi
  if [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
    fail "packages to $what are missing and there is no sudo; as root: apt-get install $missing"
  fi
  say "packages to $what: installing $missing"
  # One broken third-party list fails `update`, and often does not matter.
  apt_with_retries update || say "apt-get update failed, going on with the lists that are here"
  # shellcheck disable=SC2086  # one word a package
  apt_with_retries install -y --no-install-recommends $missing ||
    fail "packages to $what could not be installed: $missing"
}
