// WatchedFile: the hosts of a hostfile that is read again when it changes.
//
// It is read when a writer has closed it or a whole file was moved to its name;
// an editor's half-written file is not seen. If it is a symbolic link, the name
// it leads to is watched as well. Nothing is polled, so what other hosts change
// on a shared file system is not seen.
//
// Loop thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/event_loop.h"
#include "discovery/attempt_news.h"
#include "discovery/host_discovery.h"
#include "discovery/name_watch.h"

namespace hvd {

class WatchedFile : public HostDiscovery {
 public:
  struct Options {
    std::string path;
    int slots_per_host = 1;  // of a line that names no slots
    // How long the file may be away before that is worth a warning: editors
    // move it away and write it anew.
    Duration gone_grace{200};
  };

  WatchedFile(EventLoop& loop, Options options);
  void Start(DiscoveryHandlers handlers) override;

 private:
  void Begin();
  void OnChange(NameChange change);
  void OnTargetChange(NameChange change);
  void LookLater();
  void LookAgain();
  void Read();
  void WatchTarget();
  std::string Name() const { return "hostfile " + options_.path; }

  EventLoop& loop_;
  Options options_;
  std::optional<AttemptNews> news_;
  std::unique_ptr<NameWatch> watch_;
  std::unique_ptr<NameWatch> target_watch_;  // of a symbolic link
  std::string target_;
  std::unique_ptr<Timer> timer_;
};

}  // namespace hvd
