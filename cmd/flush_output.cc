#include "cmd/flush_output.h"

#include <memory>
#include <string>

namespace hvd {
namespace {

constexpr Duration kPatience{2'000};
constexpr Duration kLastWords{500};
constexpr Duration kNoteAfter{5'000};
constexpr Duration kSlice{60'000};

}  // namespace

bool FlushOutput(EventLoop& loop, OutputMux& output, Reader reader,
                 const std::function<bool()>& interrupted) {
  // Shared: the callback may come after this function gave up.
  const auto flushed = std::make_shared<bool>(false);
  output.Flush([flushed] { *flushed = true; });
  const auto done = [&] { return *flushed || interrupted(); };
  switch (reader) {
    case Reader::kInTheWay:
      loop.RunUntil(done, kPatience);
      break;
    case Reader::kGivenUp:
      loop.RunUntil([&] { return *flushed; }, kLastWords);
      break;
    case Reader::kWaitedFor:
      if (loop.RunUntil(done, kNoteAfter)) break;
      output.PrintLine("hvdrun: waiting for whoever reads our output: " +
                       std::to_string(output.QueuedBytes()) +
                       " bytes are not read yet; Ctrl-C drops them");
      while (!loop.RunUntil(done, kSlice)) {
      }
      break;
  }
  if (!*flushed) output.Abandon();
  return *flushed;
}

}  // namespace hvd
