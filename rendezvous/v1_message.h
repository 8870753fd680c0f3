// The bodies and targets of /v1, as text and back. What the network says is
// data: whatever does not fit is nullopt, never an exception.
//
// Pure. The format is in docs/design/rendezvous_protocol.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/membership.h"
#include "rendezvous/notice_board.h"

namespace hvd {

inline constexpr std::string_view kSessionTarget = "/v1/session";
inline constexpr std::string_view kWorldTarget = "/v1/world";
inline constexpr std::string_view kNoticeTarget = "/v1/notice";
inline constexpr std::string_view kBlameTarget = "/v1/blame";
inline constexpr std::string_view kLogTarget = "/v1/log";
inline constexpr std::string_view kResultTarget = "/v1/result";

// How long the server keeps a request before it says "ask again". A client
// that hears nothing for longer has lost the server.
inline constexpr Duration kLongPoll{30'000};

// "a/0", ToString(WorkerId) read back.
std::optional<WorkerId> ParseWorkerId(std::string_view text);
// Who asks, in a request's HVD-Worker: "a/0#7" is the seventh launch of the
// job, "a/0" one that nobody has numbered.
struct Caller {
  WorkerId worker;
  LaunchId launch{};
  bool operator==(const Caller&) const = default;
};
std::string FormatCaller(const Caller& caller);
std::optional<Caller> ParseCaller(std::string_view text);
// "1234", nothing before or after.
std::optional<std::uint64_t> ParseNumber(std::string_view text);

// POST /v1/world
struct WorldRequest {
  Epoch after{};
  Endpoint endpoint;
};
std::string FormatWorldRequest(const WorldRequest& request);
std::optional<WorldRequest> ParseWorldRequest(std::string_view body);

// Its answer, the same for every member.
struct WorldAnswer {
  World world;
  std::vector<Endpoint> endpoints;
};
std::string FormatWorldAnswer(const World& world,
                              const std::vector<Endpoint>& endpoints);
std::optional<WorldAnswer> ParseWorldAnswer(std::string_view body);

// Its other answer: status 421, to a worker whose ring is wanted elsewhere.
inline constexpr int kWrongAddressStatus = 421;
std::string FormatRingAddress(const std::string& address);
std::optional<std::string> ParseRingAddress(std::string_view body);

// GET /v1/notice?epoch=3&heard=1&operations=17; heard is the number of a
// NoticeKind. What is 0 is left out.
std::string FormatNoticeTarget(const NoticeBoard::Question& question);
std::optional<NoticeBoard::Question> ParseNoticeTarget(std::string_view target);

// POST /v1/blame
struct Blame {
  Epoch epoch{};
  int rank = 0;

  bool operator==(const Blame&) const = default;
};
std::string FormatBlame(const Blame& blame);
std::optional<Blame> ParseBlame(std::string_view body);

std::string FormatNotice(const WorldNotice& notice);
std::optional<WorldNotice> ParseNotice(std::string_view body);

}  // namespace hvd
