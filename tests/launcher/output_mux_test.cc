// What OutputMux prints: tags, unfinished lines, modes.
#include "launcher/output_mux.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <regex>
#include <string>
#include <vector>

#include "tests/launcher/mux_host.h"
#include "tests/support/lines.h"

using namespace std::chrono_literals;

namespace hvd {

using testing::MuxHost;

TEST_CASE("OutputMux tags each line with rank and stream", "[launcher]") {
  MuxHost host;
  auto& first = host.AddWorker(0, 0);
  auto& second = host.AddWorker(11, 1);
  MuxHost::Write(first.out, "hello\n\nworld\n");
  REQUIRE(
      host.WaitForOut("[0]<stdout>:hello\n[0]<stdout>:\n"
                      "[0]<stdout>:world\n"));
  MuxHost::Write(second.err, "oops\n");
  REQUIRE(host.WaitForErr("[11]<stderr>:oops\n"));
}

TEST_CASE("OutputMux never decodes: NUL and invalid UTF-8 pass", "[launcher]") {
  MuxHost host;
  auto& worker = host.AddWorker(0, 0);
  // A character cut in two, with a pause in which its first half is shown.
  const std::string begin = std::string(998, 'a') + '\xe2';
  const std::string end =
      std::string("\x96\x88\n\x8a\xff bad\n") + '\0' + "nul\n";
  MuxHost::Write(worker.out, begin);
  REQUIRE(host.WaitForOut("[0]<stdout>:" + begin));
  MuxHost::Write(worker.out, end);
  CHECK(host.WaitForOut("[0]<stdout>:" + begin + "\x96\x88\n" +
                        "[0]<stdout>:\x8a\xff bad\n" + "[0]<stdout>:" + '\0' +
                        "nul\n"));
}

TEST_CASE("OutputMux shows an unfinished line after 200 ms", "[launcher]") {
  MuxHost host;
  auto& worker = host.AddWorker(0, 0);
  const Instant begin = host.loop.Now();
  MuxHost::Write(worker.out, "name? ");
  REQUIRE(host.WaitForOut("[0]<stdout>:name? "));
  CHECK(host.loop.Now() - begin >= 200ms);
  CHECK(host.loop.Now() - begin < 2s);
  // The rest of that line needs no second tag.
  MuxHost::Write(worker.out, "Ann\nbye\n");
  CHECK(host.WaitForOut("[0]<stdout>:name? Ann\n[0]<stdout>:bye\n"));
}

TEST_CASE("OutputMux shows a line that grows dot by dot", "[launcher]") {
  MuxHost host;
  auto& worker = host.AddWorker(0, 0);
  const Instant begin = host.loop.Now();
  while (host.out.text().empty()) {
    MuxHost::Write(worker.out, ".");
    host.RunFor(20ms);
    REQUIRE(host.loop.Now() - begin < 10s);
  }
  CHECK(host.out.text().starts_with("[0]<stdout>:..."));
}

TEST_CASE("OutputMux closes an unfinished line before another rank prints",
          "[launcher]") {
  MuxHost host;
  auto& first = host.AddWorker(0, 0);
  auto& second = host.AddWorker(1, 1);
  MuxHost::Write(first.out, "loading");
  REQUIRE(host.WaitForOut("[0]<stdout>:loading"));
  MuxHost::Write(second.out, "hi\n");
  REQUIRE(host.WaitForOut("[0]<stdout>:loading\n[1]<stdout>:hi\n"));
  MuxHost::Write(first.out, " done\n");
  CHECK(
      host.WaitForOut("[0]<stdout>:loading\n[1]<stdout>:hi\n"
                      "[0]<stdout>: done\n"));
}

TEST_CASE("OutputMux shows each step of a progress bar in time", "[launcher]") {
  MuxHost host;
  auto& worker = host.AddWorker(0, 0);
  std::string expected = "[0]<stdout>:\r";
  for (const std::string step : {"1%", "2%", "3%"}) {
    const Instant begin = host.loop.Now();
    MuxHost::Write(worker.out, "\r" + step);
    expected += "[0]<stdout>:" + step;
    REQUIRE(host.WaitForOut(expected));
    CHECK(host.loop.Now() - begin < 500ms);
    expected += '\r';
  }
}

TEST_CASE("OutputMux keeps \\r\\n together and tags after a lone \\r",
          "[launcher]") {
  MuxHost host;
  auto& worker = host.AddWorker(0, 0);
  MuxHost::Write(worker.out, "dos\r\n10%\r20%\r");
  REQUIRE(
      host.WaitForOut("[0]<stdout>:dos\r\n[0]<stdout>:10%\r"
                      "[0]<stdout>:20%\r"));
  MuxHost::Write(worker.out, "30%\n");
  CHECK(
      host.WaitForOut("[0]<stdout>:dos\r\n[0]<stdout>:10%\r"
                      "[0]<stdout>:20%\r[0]<stdout>:30%\n"));
}

TEST_CASE("OutputMux shows every line of a worker that writes one by one",
          "[launcher]") {
  MuxHost host;
  auto& worker = host.AddWorker(0, 0);
  std::string expected;
  for (int i = 0; i < 300; ++i) {
    MuxHost::Write(worker.out, "x\n");
    expected += "[0]<stdout>:x\n";
    host.RunFor(0ms);
  }
  CHECK(host.WaitForOut(expected));
}

TEST_CASE("OutputMux names the epoch from the second on", "[launcher]") {
  MuxHost host;
  auto& worker = host.AddWorker(3, 0, Epoch{1});
  MuxHost::Write(worker.out, "one\n");
  REQUIRE(host.WaitForOut("[3]<stdout>:one\n"));
  // The survivor of a reset has a new rank.
  host.mux().Relabel(LaunchId{0}, 2, Epoch{5});
  MuxHost::Write(worker.out, "two\n");
  CHECK(host.WaitForOut("[3]<stdout>:one\n[2.e5]<stdout>:two\n"));
}

TEST_CASE("OutputMux puts the time in front of the tag when asked to",
          "[launcher]") {
  MuxHost host({.timestamps = true});
  auto& worker = host.AddWorker(0, 0);
  MuxHost::Write(worker.out, "a\nb\n");
  const std::regex form(
      R"((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4}\[0\]<stdout>:[ab]\n){2})");
  CHECK(
      host.WaitUntil([&] { return std::regex_match(host.out.text(), form); }));
}

TEST_CASE("OutputMux in raw mode changes no byte", "[launcher]") {
  MuxHost host({.mode = OutputMode::kRaw});
  auto& worker = host.AddWorker(0, 0);
  const std::string bytes = std::string("\r1%\r2%") + '\0' + "\xff\n\r\ntail";
  MuxHost::Write(worker.out, bytes);
  CHECK(host.WaitForOut(bytes));
  // Whole lines of several ranks stay whole.
  auto& second = host.AddWorker(1, 1);
  MuxHost::Write(second.out, "{\"a\":");
  MuxHost::Write(worker.out, "\nx\n");
  REQUIRE(host.WaitForOut(bytes + "\nx\n"));
  MuxHost::Write(second.out, "1}\n");
  CHECK(host.WaitForOut(bytes + "\nx\n{\"a\":1}\n"));
}

TEST_CASE("OutputMux in mode none prints nothing but hvdrun's own words",
          "[launcher]") {
  MuxHost host({.mode = OutputMode::kNone});
  auto& worker = host.AddWorker(0, 0);
  MuxHost::Write(worker.out, "hello\n");
  MuxHost::Write(worker.err, "last words\n");
  host.mux().Drain(LaunchId{0});
  host.mux().PrintLine("hvdrun: done");
  REQUIRE(host.Flush());
  CHECK(host.out.text().empty());
  CHECK(host.err.text() == "hvdrun: done\n");
  CHECK(host.mux().LastStderr(LaunchId{0}) ==
        std::vector<std::string>{"last words"});
}

TEST_CASE("OutputMux starts hvdrun's own line on a line of its own",
          "[launcher]") {
  MuxHost host;
  auto& worker = host.AddWorker(0, 0);
  MuxHost::Write(worker.err, "unfinished");
  REQUIRE(host.WaitForErr("[0]<stderr>:unfinished"));
  host.mux().PrintLine("hvdrun: hello");
  MuxHost::Write(worker.err, " business\n10%\r");
  REQUIRE(
      host.WaitForErr("[0]<stderr>:unfinished\nhvdrun: hello\n"
                      "[0]<stderr>: business\n[0]<stderr>:10%\r"));
  host.mux().PrintLine("hvdrun: bye");
  CHECK(
      host.WaitForErr("[0]<stderr>:unfinished\nhvdrun: hello\n"
                      "[0]<stderr>: business\n[0]<stderr>:10%\r\n"
                      "hvdrun: bye\n"));
}

TEST_CASE("OutputMux keeps the order of stdout and stderr in one file",
          "[launcher]") {
  // As after 2>&1: two descriptors of one pipe.
  testing::Screen screen;
  const UniqueFd copy(::fcntl(screen.fd(), F_DUPFD_CLOEXEC, 3));
  EventLoop loop;
  auto mux = OutputMux::Start(
      loop, {.stdout_fd = screen.fd(), .stderr_fd = copy.get()}, {});
  REQUIRE(mux.ok());
  OutputPipe out = std::move(MakeOutputPipe()).value();
  OutputPipe err = std::move(MakeOutputPipe()).value();
  mux.value()->AddWorker(LaunchId{0}, 0, Epoch{1}, std::move(out.read_end),
                         std::move(err.read_end));
  MuxHost::Write(out.write_end, "open");
  std::string expected = "[0]<stdout>:open";
  const auto shown = [&] {
    screen.Read();
    return screen.text() == expected;
  };
  const auto wait = [&] {
    for (int i = 0; i < 2000 && !shown(); ++i) loop.RunUntil(shown, 10ms);
    return screen.text();
  };
  REQUIRE(wait() == expected);
  MuxHost::Write(err.write_end, "warning\n");
  expected += "\n[0]<stderr>:warning\n";
  REQUIRE(wait() == expected);
  mux.value()->PrintLine("hvdrun: line");
  expected += "hvdrun: line\n";
  CHECK(wait() == expected);
}

TEST_CASE("OutputMux passes lines of any length in pieces", "[launcher]") {
  MuxHost host;
  auto& worker = host.AddWorker(0, 0);
  const std::string line = std::string(3U << 20U, 'x') + '\n';
  std::size_t written = 0;
  ::fcntl(worker.out.get(), F_SETFL, O_NONBLOCK);
  REQUIRE(host.WaitUntil([&] {
    const ssize_t n =
        ::write(worker.out.get(), line.data() + written, line.size() - written);
    if (n > 0) written += static_cast<std::size_t>(n);
    return written == line.size();
  }));
  const std::string expected = "[0]<stdout>:" + line;
  REQUIRE(host.WaitUntil(
      [&] { return host.out.text().size() >= expected.size(); }));
  CHECK((host.out.text() == expected));
}

TEST_CASE("OutputMux can leave the workers out and show what they send",
          "[launcher]") {
  MuxHost host;
  auto& worker = host.AddWorker(0, 0);
  host.mux().ShowWorkers(false);
  MuxHost::Write(worker.out, "chatter\n");
  MuxHost::Write(worker.err, "oops\n");
  host.mux().PrintWorkerLog(3, Epoch{1}, "epoch 1\nloss 0.5\n");
  host.mux().PrintWorkerLog(0, Epoch{2}, "end");
  host.mux().Drain(LaunchId{0});
  REQUIRE(host.Flush());
  CHECK(host.out.text() ==
        "[3]<log>:epoch 1\n[3]<log>:loss 0.5\n[0.e2]<log>:end\n");
  CHECK(host.err.text().empty());
  CHECK(host.mux().LastStderr(LaunchId{0}) == std::vector<std::string>{"oops"});
}

TEST_CASE("OutputMux keeps the last lines of a worker that ended",
          "[launcher]") {
  MuxHost host;
  auto& worker = host.AddWorker(0, 0);
  for (int i = 0; i < 100; ++i) {
    MuxHost::Write(worker.err, "line " + std::to_string(i) + '\n');
  }
  host.mux().Drain(LaunchId{0});
  const auto lines = host.mux().LastStderr(LaunchId{0});
  REQUIRE(lines.size() == 20);
  CHECK(lines.back() == "line 99");
  CHECK(host.mux().LastStderr(LaunchId{7}).empty());
}

TEST_CASE("OutputMux forgets workers that ended long ago", "[launcher]") {
  MuxHost host;
  for (int life = 0; life < 400; ++life) {
    auto& worker = host.AddWorker(0, life);
    MuxHost::Write(worker.err, "x");
    worker.out.Reset();
    worker.err.Reset();
    host.mux().Drain(LaunchId{life});
  }
  CHECK(host.mux().LastStderr(LaunchId{0}).empty());
  CHECK(host.mux().LastStderr(LaunchId{399}).size() == 1);
  REQUIRE(host.Flush());
  // Each unfinished line was closed by the next.
  CHECK(testing::Lines(host.err.text()) ==
        std::vector<std::string>(400, "[0]<stderr>:x"));
}

}  // namespace hvd
