#include "launcher/measure_codec.h"

#include <chrono>

namespace hvd {
namespace {

// A day; measurements take seconds.
constexpr std::int64_t kLongestUs = 86'400'000'000;
// The year 9999. However wrong a clock is, two can be compared.
constexpr std::int64_t kLastUnixUs = 253'402'300'799'000'000;

std::chrono::microseconds Time(std::int64_t us, WireReader& read) {
  read.Check(us >= 0 && us <= kLongestUs, "time");
  return std::chrono::microseconds(us);
}

}  // namespace

void Fill(const AgentMeasure& from, agent::Measure& to) {
  to.set_number(from.number);
  to.mutable_target()->set_address(from.target.address);
  to.mutable_target()->set_port(from.target.port);
  to.mutable_target()->set_identity(from.target.identity);
}

AgentMeasure ReadMeasure(const agent::Measure& from, WireReader& read) {
  const agent::ProbeTarget& target = from.target();
  return {from.number(),
          {read.Text(target.address()), read.Port(target.port()),
           read.Text(target.identity())}};
}

void Fill(const AgentTime& from, agent::Time& to) {
  to.set_number(from.number);
  to.set_unix_us(from.unix_us);
}

AgentTime ReadTime(const agent::Time& from, WireReader& read) {
  read.Check(from.unix_us() >= 0 && from.unix_us() <= kLastUnixUs, "clock");
  return {from.number(), from.unix_us()};
}

void Fill(const AgentMeasured& from, agent::Measured& to) {
  to.set_number(from.number);
  to.set_least_round_trip_us(from.result.least_round_trip.count());
  to.set_median_round_trip_us(from.result.median_round_trip.count());
  to.set_load_bytes(from.result.load_bytes);
  to.set_load_time_us(from.result.load_time.count());
  to.set_failure(from.result.failure);
}

AgentMeasured ReadMeasured(const agent::Measured& from, WireReader& read) {
  return {from.number(),
          {.least_round_trip = Time(from.least_round_trip_us(), read),
           .median_round_trip = Time(from.median_round_trip_us(), read),
           .load_bytes = from.load_bytes(),
           .load_time = Time(from.load_time_us(), read),
           .failure = read.Text(from.failure())}};
}

}  // namespace hvd
