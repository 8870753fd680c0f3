// How many requests a second the rendezvous server answers, beside a bare epoll
// server in the same run. Servers are processes of their own; the load is this
// one. Prints medians of rounds and their ratios.
//
// usage: store [--rounds N] [--clients N] [--ms TIME_OF_A_ROUND]

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/event_loop.h"
#include "base/hex.h"
#include "base/random_bytes.h"
#include "base/socket_address.h"
#include "base/unique_fd.h"
#include "bench/store_echo.h"
#include "bench/store_load.h"
#include "rendezvous/http_head.h"
#include "rendezvous/rendezvous_server.h"
#include "rendezvous/signature.h"

namespace hvd::bench {
namespace {

constexpr std::string_view kKey = "any key does, it only must agree";
// A Gloo address list of 8 ranks: 136 bytes a peer.
std::string Value() { return std::string(std::size_t{136} * 7, 'v'); }

std::string Get() {
  return "GET /global/0 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
         "Content-Length: 0\r\n\r\n";
}
std::string Put() {
  return "PUT /global/0 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: " +
         std::to_string(Value().size()) + "\r\n\r\n" + Value();
}

class Same : public Script {
 public:
  explicit Same(std::string request) : request_(std::move(request)) {}
  std::string_view Next(std::string_view /*answer*/) override {
    return request_;
  }

 private:
  std::string request_;
};

// Opens a session and logs one line after another.
class SignedLog : public Script {
 public:
  std::string_view Next(std::string_view answer) override {
    if (answer.empty()) {
      nonces_.client = RandomBytes(kNonceBytes);
      request_ =
          "GET /v1/session HTTP/1.1\r\nHVD-Nonce: " + ToHex(nonces_.client) +
          "\r\n\r\n";
      return request_;
    }
    if (sequence_ == 0) ReadNonce(answer);
    const RequestToSign request{.method = "POST",
                                .target = "/v1/log",
                                .worker = "a/0",
                                .sequence = ++sequence_,
                                .body_digest = digest_};
    request_ =
        "POST /v1/log HTTP/1.1\r\nContent-Length: 8\r\n"
        "HVD-Worker: a/0\r\nHVD-Sequence: " +
        std::to_string(sequence_) + "\r\nHVD-Body: " + digest_ +
        "\r\nHVD-Signature: " + SignRequest(kKey, nonces_, request) +
        "\r\n\r\nloss 0.5";
    return request_;
  }

 private:
  void ReadNonce(std::string_view answer) {
    const auto parsed = ParseAnswerHead(answer);
    const auto* head = std::get_if<AnswerHead>(&parsed);
    HVD_CHECK(head != nullptr);
    nonces_.server = FromHex(head->nonce).value_or("");
  }

  SessionNonces nonces_;
  std::uint64_t sequence_ = 0;
  const std::string digest_ = BodyDigest("loss 0.5");
  std::string request_;
};

// A server in a process of its own, which ends with this object.
class ServerProcess {
 public:
  // `serve` tells its port through the descriptor it is given.
  explicit ServerProcess(void (*serve)(int tell)) {
    int ends[2];
    HVD_CHECK(::pipe(ends) == 0);
    pid_ = ::fork();
    HVD_CHECK(pid_ >= 0);
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      serve(ends[1]);
      ::_exit(0);
    }
    HVD_CHECK(::read(ends[0], &port_, sizeof port_) == sizeof port_);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~ServerProcess() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  std::uint16_t port() const { return port_; }

 private:
  pid_t pid_ = -1;
  std::uint16_t port_ = 0;
};

void TellPort(int tell, std::uint16_t port) {
  HVD_CHECK(::write(tell, &port, sizeof port) == sizeof port);
}

// Answers as long as the store's to a GET of Value(), or to a PUT.
template <bool kWithValue>
void ServeYardstick(int tell) {
  const auto address = ParseSocketAddress("127.0.0.1", 0);
  const int fd =
      ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  HVD_CHECK(::bind(fd, address->get(), address->size) == 0);
  HVD_CHECK(::listen(fd, SOMAXCONN) == 0);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size);
  TellPort(tell, PortOf(bound));
  const std::string body = kWithValue ? Value() : "";
  ServeEcho(fd, "HTTP/1.1 200 OK\r\nContent-Length: " +
                    std::to_string(body.size()) + "\r\n\r\n" + body);
}

void ServeOurs(int tell) {
  EventLoop loop;
  RendezvousOptions options;
  options.job_key = kKey;
  const auto server = RendezvousServer::Listen(
      loop, options,
      {.on_ready = [](const auto&, Epoch) {},
       .on_heard = [](const auto&, Epoch, std::uint64_t) {},
       .on_blame = [](const auto&, Epoch, int) {},
       .on_log = [](const auto&, const auto&) {},
       .on_result = [](const auto&, const auto&) {},
       .on_refused =
           [](const std::string& line) {
             std::fprintf(stderr, "%s\n", line.c_str());
           }});
  HVD_CHECK(server.ok());
  TellPort(tell, server.value()->port());
  loop.Run();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Settings {
  int rounds = 5;
  int clients = 16;
  Duration time{1'000};
};

struct Case {
  const char* name;
  const ServerProcess* yardstick;
  Connections connections;
  std::string request;
};

void Run(const Case& c, const ServerProcess& ours, const Settings& settings) {
  Load load{.clients = settings.clients,
            .connections = c.connections,
            .time = settings.time,
            .script = [&](int) { return std::make_unique<Same>(c.request); }};
  std::vector<double> rates;
  std::vector<double> floors;
  std::vector<double> ratios;
  for (int i = 0; i < settings.rounds; ++i) {
    load.port = c.yardstick->port();
    floors.push_back(RunLoad(load));
    load.port = ours.port();
    rates.push_back(RunLoad(load));
    ratios.push_back(rates.back() / floors.back());
  }
  std::printf("%-24s %10.0f %10.0f %8.2f\n", c.name, Median(rates),
              Median(floors), Median(ratios));
}

void RunSigned(const ServerProcess& ours, const Settings& settings) {
  std::vector<double> rates;
  for (int i = 0; i < settings.rounds; ++i) {
    rates.push_back(
        RunLoad({.port = ours.port(),
                 .clients = settings.clients,
                 .connections = Connections::kKept,
                 .time = settings.time,
                 .script = [](int) { return std::make_unique<SignedLog>(); }}));
  }
  std::printf("%-24s %10.0f %10s %8s\n", "POST /v1/log, signed", Median(rates),
              "-", "-");
}

bool ParseArguments(int argc, char** argv, Settings& settings) {
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    const int value = i + 1 < argc ? std::atoi(argv[i + 1]) : 0;
    if (value <= 0) return false;
    if (flag == "--rounds") {
      settings.rounds = value;
    } else if (flag == "--clients") {
      settings.clients = value;
    } else if (flag == "--ms") {
      settings.time = Duration(value);
    } else {
      return false;
    }
  }
  return true;
}

int Main(int argc, char** argv) {
  Settings settings;
  if (!ParseArguments(argc, argv, settings)) {
    std::fprintf(stderr, "usage: store [--rounds N] [--clients N] [--ms N]\n");
    return 2;
  }
  const ServerProcess with_value(&ServeYardstick<true>);
  const ServerProcess without_value(&ServeYardstick<false>);
  const ServerProcess ours(&ServeOurs);
  // The value that the GETs read.
  RunLoad({.port = ours.port(),
           .clients = 1,
           .connections = Connections::kKept,
           .time = Duration(10),
           .script = [](int) { return std::make_unique<Same>(Put()); }});
  std::printf("medians of %d rounds of %lld ms, %d clients\n", settings.rounds,
              static_cast<long long>(settings.time.count()), settings.clients);
  std::printf("%-24s %10s %10s %8s\n", "", "op/s", "bare epoll", "ratio");
  for (const Case& c : std::vector<Case>{
           {"GET, keep-alive", &with_value, Connections::kKept, Get()},
           {"PUT, keep-alive", &without_value, Connections::kKept, Put()},
           {"GET, connection each", &with_value, Connections::kOneEach, Get()},
           {"PUT, connection each", &without_value, Connections::kOneEach,
            Put()}}) {
    Run(c, ours, settings);
    std::fflush(stdout);
  }
  RunSigned(ours, settings);
  return 0;
}

}  // namespace
}  // namespace hvd::bench

int main(int argc, char** argv) { return hvd::bench::Main(argc, argv); }
