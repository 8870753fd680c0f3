// output: what hvdrun's output costs, beside a bare split-and-tag loop.
//
// usage: output [HVDRUN]           measures both ways of writing, both programs
//        output worker RANK HOW N  one worker: N lines, HOW is block or line
//        output bare HOW N         the bare loop with its four workers
//
// Workers and reader are the same for both; the reader checks the number and
// the checksum of every line. Medians and ratios of one run.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "base/unique_fd.h"
#include "bench/output_bare.h"
#include "bench/output_line.h"

namespace hvd::bench {
namespace {

constexpr int kWorkers = 4;
constexpr int kRuns = 5;
constexpr std::size_t kBlock = 64U << 10U;
constexpr std::string_view kTagEnd = "]<stdout>:";

void WriteAll(const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(1, data, size);
    if (n <= 0) std::exit(1);  // NOLINT(concurrency-mt-unsafe): one thread
    data += n;
    size -= static_cast<std::size_t>(n);
  }
}

int RunWorker(int worker, std::string_view how, std::uint32_t lines) {
  const std::size_t lines_a_write = how == "block" ? kBlock / kLineSize : 1;
  std::vector<char> buffer(lines_a_write * kLineSize);
  for (std::uint32_t next = 0; next < lines;) {
    std::size_t count = 0;
    for (; count < lines_a_write && next < lines; ++count) {
      WriteLine(buffer.data() + count * kLineSize, worker, next++);
    }
    WriteAll(buffer.data(), count * kLineSize);
  }
  return 0;
}

// Checks tagged lines as they come.
class Verifier {
 public:
  void Feed(std::string_view bytes) {
    if (!rest_.empty()) {
      const std::size_t end = bytes.find('\n');
      if (end == std::string_view::npos) {
        rest_.append(bytes);
        return;
      }
      rest_.append(bytes.substr(0, end));
      Check(rest_);
      rest_.clear();
      bytes.remove_prefix(end + 1);
    }
    for (;;) {
      const std::size_t end = bytes.find('\n');
      if (end == std::string_view::npos) break;
      Check(bytes.substr(0, end));
      bytes.remove_prefix(end + 1);
    }
    rest_.assign(bytes);
  }
  bool Complete(std::uint32_t lines) const {
    return good_ && rest_.empty() &&
           std::all_of(next_.begin(), next_.end(),
                       [&](std::uint32_t next) { return next == lines; });
  }

 private:
  void Check(std::string_view line) {
    const std::size_t tag = line.find(kTagEnd);
    if (tag != 2 || line[0] != '[') {
      good_ = false;
      return;
    }
    const ParsedLine parsed = ParseLine(line.substr(tag + kTagEnd.size()));
    good_ = good_ && parsed.valid && parsed.worker < kWorkers &&
            line[1] == '0' + parsed.worker &&
            parsed.number == next_[static_cast<std::size_t>(parsed.worker)]++;
  }

  std::string rest_;
  std::array<std::uint32_t, kWorkers> next_{};
  bool good_ = true;
};

// Seconds from start to end of file; exits if a line is missing or wrong.
double Measure(const std::vector<std::string>& argv, std::uint32_t lines) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const auto begin = std::chrono::steady_clock::now();
  const Result<pid_t> pid = Spawn({.program = argv.front(),
                                   .argv = argv,
                                   .env = CurrentEnvironment(),
                                   .cwd = "",
                                   .stdout_fd = writer.get()});
  if (!pid.ok()) {
    std::fprintf(stderr, "%s\n", pid.error().message().c_str());
    std::exit(1);  // NOLINT(concurrency-mt-unsafe): one thread
  }
  writer.Reset();
  Verifier verifier;
  std::vector<char> buffer(256U << 10U);
  for (;;) {
    const ssize_t n = ::read(reader.get(), buffer.data(), buffer.size());
    if (n <= 0) break;
    verifier.Feed({buffer.data(), static_cast<std::size_t>(n)});
  }
  const auto end = std::chrono::steady_clock::now();
  int status = 0;
  ::waitpid(pid.value(), &status, 0);
  if (status != 0 || !verifier.Complete(lines)) {
    std::fprintf(stderr, "%s: lines are missing or wrong, status %d\n",
                 argv.front().c_str(), status);
    std::exit(1);  // NOLINT(concurrency-mt-unsafe): one thread
  }
  return std::chrono::duration<double>(end - begin).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Compare(const std::string& self, const std::string& hvdrun,
             const std::string& how, std::uint32_t lines, double must) {
  const std::string count = std::to_string(lines);
  // The shell only fills in the rank.
  const std::vector<std::string> ours{
      hvdrun, "-np", std::to_string(kWorkers),
      "sh",   "-c",  "exec \"$0\" worker \"$HVD_RANK\" " + how + ' ' + count,
      self};
  const std::vector<std::string> bare{self, "bare", how, count};
  std::vector<double> our_times;
  std::vector<double> bare_times;
  for (int run = 0; run < kRuns; ++run) {
    bare_times.push_back(Measure(bare, lines));
    our_times.push_back(Measure(ours, lines));
  }
  const double megabytes = 1e-6 * kWorkers * kLineSize * lines;
  const double bare_rate = megabytes / Median(bare_times);
  const double our_rate = megabytes / Median(our_times);
  std::printf("%-22s %9.0f %9.0f %7.2f %9.2f\n",
              how == "block" ? "64 kB writes" : "one write a line", bare_rate,
              our_rate, our_rate / bare_rate, must);
}

int Main(const std::vector<std::string>& args) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const auto number = [&](std::size_t i) {
    return static_cast<std::uint32_t>(std::stoul(args.at(i)));
  };
  if (args.size() == 5 && args[1] == "worker") {
    return RunWorker(static_cast<int>(number(2)), args[3], number(4));
  }
  if (args.size() == 4 && args[1] == "bare") {
    return RunBareLoop(self, kWorkers, args[2], args[3]);
  }
  const std::string hvdrun =
      args.size() > 1
          ? args[1]
          : (std::filesystem::path(self).parent_path() / "../bin/hvdrun")
                .lexically_normal()
                .string();
  std::printf("%-22s %9s %9s %7s %9s\n", "4 workers, 100-B lines", "bare MB/s",
              "hvdrun", "ratio", "must be");
  Compare(self, hvdrun, "block", 400'000, 0.4);
  Compare(self, hvdrun, "line", 100'000, 0.8);
  return 0;
}

}  // namespace
}  // namespace hvd::bench

int main(int argc, char** argv) {
  return hvd::bench::Main(std::vector<std::string>(argv, argv + argc));
}
