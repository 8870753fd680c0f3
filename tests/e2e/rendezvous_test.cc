// hvdrun's server while a job runs: several jobs, strangers, wrong keys.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "base/random_bytes.h"
#include "rendezvous/worker_env.h"
#include "tests/e2e/hvdrun.h"
#include "tests/support/raw_connection.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

// Two ranks that step until somebody closes their stdin; the port is known.
class RunningJob {
 public:
  RunningJob()
      : program_(HvdrunCommand({"-np", "2", "-H", "localhost:1,127.0.0.2:1",
                                "sh", "-c",
                                R"(echo "port=$HOROVOD_GLOO_RENDEZVOUS_PORT"
                         exec "$0" --steps 40 --rate 20)",
                                Bin("ring")}),
                 Marked(mark_)) {
    REQUIRE(program_.WaitForOutput("step=1 "));
    const std::string tag = "[0]<stdout>:port=";
    port_ = static_cast<std::uint16_t>(
        std::stoi(LinesOf(program_.out(), tag).at(0)));
  }

  std::uint16_t port() const { return port_; }
  Program& program() { return program_; }
  const std::string& mark() const { return mark_.text(); }

  ProgramResult CheckSuccess() {
    ProgramResult result = program_.Wait();
    INFO(result.err);
    CHECK(result.status.ToShell() == 0);
    CHECK(Count(result.out, "step=40 sum=120 ") == 2);
    return result;
  }

 private:
  ScopedMark mark_;
  Program program_;
  std::uint16_t port_ = 0;
};

std::string Ask(std::uint16_t port, const std::string& request) {
  const RawConnection connection(port);
  CHECK(connection.Send(request));
  return connection.ReceiveHead(2s);
}

std::set<std::string> SocketsOf(pid_t pid) {
  std::set<std::string> inodes;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator(
           "/proc/" + std::to_string(pid) + "/fd", gone)) {
    const std::string link =
        std::filesystem::read_symlink(entry.path(), gone).string();
    if (link.rfind("socket:[", 0) == 0) {
      inodes.insert(link.substr(8, link.size() - 9));
    }
  }
  return inodes;
}

// Local addresses, in the kernel's hexadecimal, of the TCP sockets on which
// processes with this mark listen.
std::vector<std::string> ListeningAddresses(const std::string& mark) {
  std::set<std::string> ours;
  for (const pid_t pid : ProcessesWith(mark)) ours.merge(SocketsOf(pid));
  std::vector<std::string> addresses;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    while (std::getline(file, line)) {
      std::istringstream fields(line);
      std::string slot, local, remote, state, skipped, inode;
      fields >> slot >> local >> remote >> state;
      for (int i = 0; i < 5; ++i) fields >> skipped;
      fields >> inode;
      if (state == "0A" && ours.contains(inode)) {
        addresses.push_back(local.substr(0, local.find(':')));
      }
    }
  }
  return addresses;
}

}  // namespace

TEST_CASE("twenty jobs at once do not meet each other", "[e2e]") {
  // Horovod #3930.
  std::vector<std::unique_ptr<Program>> jobs;
  for (int i = 0; i < 20; ++i) {
    jobs.push_back(std::make_unique<Program>(
        HvdrunCommand({"-np", "2", "-H", "localhost:2", Bin("ring"), "--steps",
                       "5", "--rate", "0"})));
  }
  for (const auto& job : jobs) {
    const ProgramResult result = job->Wait();
    INFO(result.out << result.err);
    CHECK(result.status.ToShell() == 0);
    CHECK(Lines(result.out).size() == 10);
    CHECK(Count(result.out, "size=2 step=5 sum=15 ") == 2);
  }
}

TEST_CASE("hvdrun serves the store to 128 workers at once", "[e2e]") {
  // Horovod #2746.
  const ProgramResult result =
      Hvdrun({"-np", "128", "-H", "localhost:128", StoreClient()}, {}, 30s);
  INFO(result.err);
  CHECK(result.status.ToShell() == 0);
}

TEST_CASE("a worker with a wrong key is told of authentication", "[e2e]") {
  // Horovod #1969.
  std::string script;
  for (const std::string& name : SecretVariables()) {
    script += "export " + name + "=" + std::string(64, '0') + "; ";
  }
  const ProgramResult result = Hvdrun(
      {"-np", "2", "sh", "-c", script + "exec \"$0\" --steps 3", Bin("ring")});
  INFO(result.err);
  CHECK(result.status.ToShell() == 1);
  CHECK(result.took < 10s);
  const std::string said = Contains(result.err, "[0]<stderr>") ? "0" : "1";
  bool named = false;
  for (const std::string& line :
       LinesOf(result.err, "[" + said + "]<stderr>:")) {
    named = named || Contains(line, "authentication");
  }
  CHECK(named);
  CHECK(result.out.empty());
}

TEST_CASE("every listener of a local job is on loopback", "[e2e]") {
  RunningJob job;
  const auto addresses = ListeningAddresses(job.mark());
  CHECK(addresses.size() >= 2);  // hvdrun's and the ring's
  for (const std::string& address : addresses) {
    INFO(address);
    const bool v4 = address.size() == 8 && address.substr(6) == "7F";
    CHECK((v4 || address == "00000000000000000000000001000000"));
  }
  job.CheckSuccess();
}

TEST_CASE("strangers at its port do not disturb a job", "[e2e]") {
  // Ray #720.
  RunningJob job;
  const std::size_t memory_before = PeakMemoryKb(job.program().pid());

  CHECK(Contains(Ask(job.port(),
                     "PUT /v1/result HTTP/1.1\r\nHost: x\r\n"
                     "Content-Length: 4\r\n\r\nevil"),
                 " 401 "));
  CHECK(Contains(Ask(job.port(),
                     "POST /v1/world HTTP/1.1\r\nHost: x\r\n"
                     "Content-Length: 2\r\n\r\n{}"),
                 " 401 "));
  const std::string passwd =
      Ask(job.port(), "GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK((Contains(passwd, " 400 ") || Contains(passwd, " 404 ")));
  CHECK_FALSE(Contains(passwd, "root:"));
  CHECK(Contains(Ask(job.port(),
                     "PUT /scope/key HTTP/1.1\r\nHost: x\r\n"
                     "Content-Length: 1073741824\r\n\r\n"),
                 " 413 "));

  const RawConnection noise(job.port());
  noise.Send(RandomBytes(1 << 20));
  std::vector<std::unique_ptr<RawConnection>> idle;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(std::make_unique<RawConnection>(job.port()));
  }
  const RawConnection slow(job.port());
  for (const char byte : std::string("GET /scope/key HT")) {
    slow.Send(std::string(1, byte));
    job.program().WaitUntil([] { return false; }, 40ms);
  }
  CHECK(PeakMemoryKb(job.program().pid()) < memory_before + 20'000);
  const ProgramResult result = job.CheckSuccess();
  CHECK(Contains(result.err, "authentication"));
}

TEST_CASE("the store is not served to another user", "[e2e]") {
  if (::geteuid() != 0) {
    WARN("needs root: another user");
    return;
  }
  RunningJob job;
  const std::string script =
      R"(exec 3<>"/dev/tcp/127.0.0.1/$0"
         printf 'PUT /rank/0 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n' >&3
         printf 'Content-Length: 4\r\n\r\nevil' >&3
         cat <&3)";
  ProgramOptions nobody;
  nobody.uid = 65534;
  const std::string port = std::to_string(job.port());
  CHECK(
      Contains(RunProgram({"bash", "-c", script, port}, nobody).out, " 403 "));
  CHECK(Contains(RunProgram({"bash", "-c", script, port}).out, " 200 "));
  const ProgramResult result = job.CheckSuccess();
  CHECK(Contains(result.err, "65534"));
}

}  // namespace hvd::testing
