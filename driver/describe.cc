// What the driver remembers, for whoever compares two states of it.
#include <string>

#include "driver/elastic_driver.h"
#include "driver/texts.h"

namespace hvd {
namespace {

std::string Relative(const std::optional<Instant>& then, Instant now) {
  return then ? std::to_string((*then - now).count()) : "-";
}

std::string Text(const Worker& worker, Epoch epoch,
                 std::optional<Instant> silent_from, Instant now) {
  const auto behind = static_cast<std::uint64_t>(epoch) -
                      static_cast<std::uint64_t>(worker.held);
  std::string text = ' ' + ToString(worker.end.worker) + ':';
  text += worker.member ? 'm' : 'n';
  text += worker.HasEnded() ? 'e' : worker.end.pid ? 'r' : 's';
  if (worker.HasDeparted()) text += 'd';
  if (worker.asks) text += 'a';
  if (worker.leaving) text += 'l';
  if (worker.condemned) text += 'c';
  if (worker.end.told_to_stop) text += 't';
  if (worker.blames) text += 'b' + std::to_string(*worker.blames);
  text += worker.held == Epoch{} ? "0" : "-" + std::to_string(behind);
  if (silent_from) text += '?' + Relative(silent_from, now);
  return text + (worker.leave_by ? Relative(worker.leave_by, now) : "");
}

}  // namespace

std::string ElasticDriver::Describe() const {
  std::string text = std::to_string(static_cast<int>(state_)) + '/' +
                     std::to_string(static_cast<int>(wait_));
  for (const bool flag :
       {epoch_ == Epoch{}, epoch_ == Epoch{1}, formed_, proven_, Keeps(),
        why_.has_value(), why_ && why_->failure, last_failure_.has_value()}) {
    text += flag ? '1' : '0';
  }
  for (const auto& time : {wait_deadline_, next_note_, job_deadline_,
                           first_joiner_, first_broken_}) {
    text += ',' + Relative(time, now_);
  }
  if (!Keeps() && now_ < started_ + options_.start_timeout) {
    text += ",young" + Relative({started_ + options_.start_timeout}, now_);
  }
  text += " failures=" + std::to_string(failures_.size());
  for (const HostSlots& host : hosts_) {
    text += ' ' + ToString(host);
    for (int slot = 0; slot < host.slots; ++slot) {
      const Instant from = ledger_.UsableFrom({host.host, slot});
      if (from > now_) text += from == Instant::max() ? '!' : '~';
      if (from > now_ && from != Instant::max()) text += Relative(from, now_);
    }
  }
  for (const Worker* member : registry_.members()) {
    text += Text(*member, epoch_, SilentFrom(*member), now_);
  }
  for (const auto& worker : registry_.workers()) {
    if (!worker->member) text += Text(*worker, epoch_, {}, now_);
  }
  return text;
}

}  // namespace hvd
