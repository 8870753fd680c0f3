// store_client: writes and reads the key-value store as a Horovod worker does,
// fifty times, a connection each.
//
// Rank R puts /e2e/R and then reads its right neighbour's, waiting as long as
// that is not there (404).
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr)
    throw std::runtime_error(std::string(name) + " is unset");
  return value;
}

// The whole answer.
std::string Exchange(const std::string& request) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(
      std::stoi(Variable("HOROVOD_GLOO_RENDEZVOUS_PORT"))));
  if (::inet_pton(AF_INET, Variable("HOROVOD_GLOO_RENDEZVOUS_ADDR").c_str(),
                  &address.sin_addr) != 1 ||
      ::connect(fd, reinterpret_cast<const sockaddr*>(&address),
                sizeof address) != 0 ||
      ::send(fd, request.data(), request.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(request.size())) {
    throw std::runtime_error("the store cannot be reached");
  }
  std::string answer;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = ::recv(fd, buffer.data(), buffer.size(), 0)) > 0;) {
    answer.append(buffer.data(), static_cast<std::size_t>(n));
  }
  ::close(fd);
  return answer;
}

std::string Request(const std::string& method, int rank,
                    const std::string& body) {
  return method + " /e2e/" + std::to_string(rank) +
         " HTTP/1.1\r\nHost: hvdrun\r\nConnection: close\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

// As Horovod's client does: asks again until the key is there, but not for
// ever.
std::string AwaitValue(int rank) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::string got = Exchange(Request("GET", rank, ""));
  while (got.find(" 404 ") != std::string::npos) {
    if (std::chrono::steady_clock::now() >= end) {
      throw std::runtime_error("rank " + std::to_string(rank) +
                               " stored nothing within 60 s");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    got = Exchange(Request("GET", rank, ""));
  }
  return got;
}

void Run() {
  const int rank = std::stoi(Variable("HOROVOD_RANK"));
  const int size = std::stoi(Variable("HOROVOD_SIZE"));
  const int neighbour = (rank + 1) % size;
  const std::string expected = "\r\n\r\nvalue of " + std::to_string(neighbour);
  constexpr int kRounds = 50;
  for (int round = 0; round < kRounds; ++round) {
    const std::string put =
        Exchange(Request("PUT", rank, "value of " + std::to_string(rank)));
    if (put.find(" 200 ") == std::string::npos) throw std::runtime_error(put);
    const std::string got = AwaitValue(neighbour);
    if (got.size() < expected.size() ||
        got.substr(got.size() - expected.size()) != expected) {
      throw std::runtime_error(got);
    }
  }
}

}  // namespace

int main() {
  try {
    Run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "store_client: %s\n", error.what());
    return 1;
  }
  return 0;
}
