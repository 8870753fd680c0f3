// StartTree: who starts whom, when there are more hosts than one machine
// should log in to.
//
// hvdrun starts the first `fan_out` hosts itself, and each of those, once its
// agent is there, as many more. A start goes to hvdrun while it has room, then
// to whoever has started the fewest. While nobody has room one waits for an
// agent that is on its way; if none is, hvdrun starts the host whatever its
// number. A host that turned out to be unable to start others is asked no more,
// and hvdrun starts as many in its place.
//
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hvd {

class StartTree {
 public:
  // hvdrun among the hosts, none of which has this name.
  static constexpr const char* kHvdrun = "";

  struct Limits {
    int fan_out = 32;  // of each: hosts that it has started
    int at_once = 32;  // and whose agents are on their way
  };

  explicit StartTree(Limits limits) : limits_(limits), starters_{{kHvdrun}} {}

  // Its agent is there.
  void Add(const std::string& host);
  // It is lost, and with it what is known of those it has started.
  void Remove(const std::string& host);
  // It cannot start others, or can after all.
  void Spoil(const std::string& host) { SetAble(host, false); }
  void Absolve(const std::string& host) { SetAble(host, true); }

  // Who may start one more host now; nullopt: ask again after any other call.
  std::optional<std::string> Choose() const;
  // The same for a host that nobody else could start, whatever its number.
  std::optional<std::string> ChooseHvdrun() const;

  // `starter` starts one more, whose agent is on its way from now on,
  void Begin(const std::string& starter);
  // is there,
  void Arrive(const std::string& starter);
  // and is gone; or it has come to nothing on its way.
  void End(const std::string& starter, bool arrived);

 private:
  struct Starter {
    std::string host;
    int started = 0;  // and not gone
    int on_its_way = 0;
    bool able = true;
  };

  Starter* Find(const std::string& host);
  void SetAble(const std::string& host, bool able);
  bool HasRoom(const Starter& starter) const;
  bool AnyOnItsWay() const;

  Limits limits_;
  std::vector<Starter> starters_;  // hvdrun, then in the order of Add()
};

}  // namespace hvd
