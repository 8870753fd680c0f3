// The load of the store benchmark: clients in a closed loop, each with one
// request under way, all driven by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace hvd::bench {

// What one client says.
class Script {
 public:
  virtual ~Script() = default;
  // The next request; `answer` is the last one's, empty on a new connection.
  virtual std::string_view Next(std::string_view answer) = 0;
};

enum class Connections { kKept, kOneEach };

struct Load {
  std::uint16_t port = 0;
  int clients = 16;
  Connections connections = Connections::kKept;
  Duration time{1'000};
  std::function<std::unique_ptr<Script>(int client)> script;
};

// Answers a second. Each answer must be a whole one with status 200: anything
// else ends the program.
double RunLoad(const Load& load);

}  // namespace hvd::bench
