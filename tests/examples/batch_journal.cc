#include "tests/examples/batch_journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <utility>

namespace hvd::testing {
namespace {

// The value of " key=" in `line`, which begins with a key.
std::string Field(std::string_view line, const std::string& key) {
  const std::string text = ' ' + std::string(line);
  const std::size_t at = text.find(' ' + key + '=');
  if (at == std::string::npos) FAIL("no " << key << " in" << text);
  const std::size_t begin = at + key.size() + 2;
  return text.substr(begin, text.find(' ', begin) - begin);
}

}  // namespace

BatchJournal::BatchJournal(std::string path, std::size_t steps_per_epoch)
    : path_(std::move(path)), steps_per_epoch_(steps_per_epoch) {
  REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
  // Both ends, so that it is open before and after the ranks have it.
  fd_ = UniqueFd(::open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  REQUIRE(fd_.valid());
  constexpr int kSmallest = 4096;  // bytes
  REQUIRE(::fcntl(fd_.get(), F_SETPIPE_SZ, kSmallest) == kSmallest);
}

void BatchJournal::Read() {
  std::array<char, 4096> bytes{};
  for (;;) {
    const ssize_t count = ::read(fd_.get(), bytes.data(), bytes.size());
    if (count <= 0) break;
    unread_.append(bytes.data(), static_cast<std::size_t>(count));
  }
  std::size_t begin = 0;
  for (std::size_t end = unread_.find('\n'); end != std::string::npos;
       end = unread_.find('\n', begin)) {
    lines_.push_back(
        Parse(std::string_view(unread_).substr(begin, end - begin)));
    begin = end + 1;
  }
  unread_.erase(0, begin);
}

bool BatchJournal::Reaches(std::size_t world, std::size_t rank,
                           std::size_t at) {
  Read();
  const auto newest =
      std::find_if(lines_.rbegin(), lines_.rend(),
                   [&](const BatchLine& line) { return line.rank == rank; });
  return newest != lines_.rend() && newest->world > world && newest->at >= at;
}

BatchLine BatchJournal::Parse(std::string_view line) const {
  const auto number = [&](const char* key) {
    return static_cast<std::size_t>(std::stoull(Field(line, key)));
  };
  BatchLine batch{number("world"),
                  number("rank"),
                  static_cast<pid_t>(number("pid")),
                  number("epoch") * steps_per_epoch_ + number("step"),
                  {}};
  const std::string images = Field(line, "images");
  for (std::size_t at = 0; at < images.size();) {
    const std::size_t end = std::min(images.find(',', at), images.size());
    batch.images.push_back(std::stoul(images.substr(at, end - at)));
    at = end + 1;
  }
  return batch;
}

std::map<std::size_t, std::vector<std::size_t>> BatchJournal::Counted() const {
  std::map<std::size_t, std::size_t> first;  // step of a world
  for (const BatchLine& line : lines_) {
    const auto entry = first.emplace(line.world, line.at).first;
    entry->second = std::min(entry->second, line.at);
  }
  std::map<std::size_t, std::vector<std::size_t>> counted;
  for (const BatchLine& line : lines_) {
    const bool undone =
        std::any_of(first.upper_bound(line.world), first.end(),
                    [&](const auto& world) { return world.second <= line.at; });
    std::vector<std::size_t>& images = counted[line.at];
    if (undone) continue;
    images.insert(images.end(), line.images.begin(), line.images.end());
  }
  for (auto& [step, images] : counted) std::sort(images.begin(), images.end());
  return counted;
}

}  // namespace hvd::testing
