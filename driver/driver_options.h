// DriverOptions: the limits of a job, one for each flag. Plain data.
#pragma once

#include <optional>

#include "base/clock.h"
#include "driver/slot_ledger.h"

namespace hvd {

// How workers go on in a new world. kKeep: survivors keep their process and ask
// for it. kRestart: all are stopped and started again. kByContact: kRestart,
// until one of them has asked.
enum class ElasticMode { kByContact, kKeep, kRestart };

struct DriverOptions {
  int workers = 1;                 // -np; a static job has exactly as many
  Duration start_timeout{30'000};  // Horovod: HOROVOD_START_TIMEOUT, 30 s
  std::optional<Duration> job_timeout = std::nullopt;  // --timeout
  Duration stop_grace{10'000};                         // --stop-grace-secs

  // All below concerns elastic jobs only.
  bool elastic = false;
  ElasticMode mode = ElasticMode::kByContact;     // --elastic-mode
  int min_workers = 1;                            // --min-np
  std::optional<int> max_workers = std::nullopt;  // --max-np; else all slots
  int min_hosts = 1;                              // --min-hosts
  bool hosts_may_change = true;       // a script, a file or a push says so
  Duration elastic_timeout{600'000};  // Horovod: HOROVOD_ELASTIC_TIMEOUT
  std::optional<Duration> worker_timeout = Duration{30'000};  // nullopt: off
  std::optional<int> reset_limit = std::nullopt;
  std::optional<int> max_restarts = std::nullopt;  // else 10 + 2 * workers
  LedgerOptions ledger = {};
};

}  // namespace hvd
