#include "bench/store_load.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "base/check.h"
#include "base/socket_address.h"
#include "base/unique_fd.h"
#include "rendezvous/http_head.h"

namespace hvd::bench {
namespace {

struct Client {
  UniqueFd fd;
  std::unique_ptr<Script> script;
  std::string in;
};

// The size of the answer at the front of `in`; 0 while it is not all there.
// The same few answers come again and again, so parsing is not worth it.
std::size_t AnswerSize(const std::string& in) {
  constexpr std::string_view kField = "Content-Length: ";
  const auto head = HeadSize(in, 0);
  if (!head) return 0;
  HVD_CHECK(in.starts_with("HTTP/1.1 200 "));
  const std::size_t at = in.find(kField);
  HVD_CHECK(at < *head);
  const std::size_t size =
      *head + std::strtoul(in.c_str() + at + kField.size(), nullptr, 10);
  return in.size() < size ? 0 : size;
}

class Loader {
 public:
  explicit Loader(const Load& load)
      : load_(load),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        clients_(static_cast<std::size_t>(load.clients)) {
    for (std::size_t i = 0; i < clients_.size(); ++i) Connect(i);
  }

  std::uint64_t RunUntil(Instant end) {
    std::uint64_t answers = 0;
    std::array<epoll_event, 64> events{};
    while (SteadyClock().Now() < end) {
      const int n = ::epoll_wait(epoll_.get(), events.data(),
                                 static_cast<int>(events.size()), 1000);
      HVD_CHECK(n != 0);  // a second without an answer
      for (int i = 0; i < n; ++i) {
        answers += Read(events[static_cast<std::size_t>(i)].data.u64);
      }
    }
    return answers;
  }

  // Takes the answers still under way: a server must not see its peers vanish.
  void Finish() {
    for (Client& client : clients_) {
      while (AnswerSize(client.in) == 0) Receive(client, 0);
    }
  }

 private:
  void Connect(std::size_t index) {
    Client& client = clients_[index];
    const auto to = ParseSocketAddress("127.0.0.1", load_.port);
    client.fd.Reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(client.fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    // Closing resets: thousands of connections a second would otherwise use up
    // the ports in TIME_WAIT.
    const linger reset{1, 0};
    ::setsockopt(client.fd.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    HVD_CHECK(::connect(client.fd.get(), to->get(), to->size) == 0);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = index;
    HVD_CHECK(
        ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, client.fd.get(), &event) == 0);
    if (!client.script || load_.connections == Connections::kKept) {
      client.script = load_.script(static_cast<int>(index));
    }
    Say(client, "");
  }

  void Say(Client& client, std::string_view answer) {
    const std::string_view request = client.script->Next(answer);
    HVD_CHECK(::send(client.fd.get(), request.data(), request.size(),
                     MSG_NOSIGNAL) == static_cast<ssize_t>(request.size()));
  }

  static void Receive(Client& client, int flags) {
    std::array<char, 16384> chunk{};
    const ssize_t n =
        ::recv(client.fd.get(), chunk.data(), chunk.size(), flags);
    HVD_CHECK(n > 0);
    client.in.append(chunk.data(), static_cast<std::size_t>(n));
  }

  // How many answers that completed.
  std::uint64_t Read(std::size_t index) {
    Client& client = clients_[index];
    Receive(client, MSG_DONTWAIT);
    const std::size_t size = AnswerSize(client.in);
    if (size == 0) return 0;
    if (load_.connections == Connections::kOneEach) {
      client.in.clear();
      Connect(index);
      return 1;
    }
    Say(client, std::string_view(client.in).substr(0, size));
    client.in.erase(0, size);
    return 1;
  }

  const Load& load_;
  UniqueFd epoll_;
  std::vector<Client> clients_;
};

}  // namespace

double RunLoad(const Load& load) {
  Loader loader(load);
  const Instant start = SteadyClock().Now();
  const std::uint64_t answers = loader.RunUntil(start + load.time);
  const std::chrono::duration<double> took = SteadyClock().Now() - start;
  loader.Finish();
  return static_cast<double>(answers) / took.count();
}

}  // namespace hvd::bench
