#include "tests/support/listeners.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/socket_address.h"

namespace hvd::testing {
namespace {

constexpr const char* kListening = "0A";

// The numbers in "socket:[4711]" behind its descriptors.
std::set<std::string> SocketsOf(pid_t pid) {
  std::set<std::string> sockets;
  std::error_code gone;
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(folder, gone)) {
    const std::string link =
        std::filesystem::read_symlink(entry.path(), gone).string();
    if (link.starts_with("socket:[")) {
      sockets.insert(link.substr(8, link.size() - 9));
    }
  }
  return sockets;
}

// "0100007F": words of four bytes, each as this machine keeps it.
std::string AddressFromHex(const std::string& hex) {
  unsigned char bytes[16] = {};
  for (std::size_t i = 0; i + 8 <= hex.size() && i < 32; i += 8) {
    const auto word =
        static_cast<std::uint32_t>(std::stoul(hex.substr(i, 8), nullptr, 16));
    std::memcpy(bytes + i / 2, &word, sizeof word);
  }
  sockaddr_storage storage{};
  if (hex.size() == 8) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    std::memcpy(&v4.sin_addr, bytes, sizeof v4.sin_addr);
    std::memcpy(&storage, &v4, sizeof v4);
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    std::memcpy(&v6.sin6_addr, bytes, sizeof v6.sin6_addr);
    std::memcpy(&storage, &v6, sizeof v6);
  }
  return AddressOf(storage);
}

}  // namespace

std::vector<Listener> ListenersOf(pid_t pid) {
  const std::set<std::string> sockets = SocketsOf(pid);
  std::vector<Listener> listeners;
  for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream table(path);
    std::string line;
    std::getline(table, line);  // the names of the columns
    while (std::getline(table, line)) {
      std::istringstream words(line);
      std::string number, local, remote, state, skipped, inode;
      words >> number >> local >> remote >> state;
      for (int i = 0; i < 5; ++i) words >> skipped;
      words >> inode;
      if (state != kListening || !sockets.contains(inode)) continue;
      const std::size_t colon = local.find(':');
      listeners.push_back({AddressFromHex(local.substr(0, colon)),
                           static_cast<std::uint16_t>(std::stoul(
                               local.substr(colon + 1), nullptr, 16))});
    }
  }
  return listeners;
}

bool ListensAt(pid_t pid, const std::string& address) {
  const std::vector<Listener> all = ListenersOf(pid);
  return std::any_of(all.begin(), all.end(), [&](const Listener& listener) {
    return listener.address == address;
  });
}

}  // namespace hvd::testing
