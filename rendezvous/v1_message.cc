#include "rendezvous/v1_message.h"

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace hvd {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kEpochQuery = "?epoch=";
constexpr std::string_view kHeardQuery = "&heard=";
constexpr std::string_view kOperationsQuery = "&operations=";

// Bytes that are not UTF-8 become U+FFFD: dump() would throw on them.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A JSON object, or a discarded value.
Json ParseObject(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Json(Json::value_t::discarded);
  return json;
}

bool Read(const Json& object, const char* name, std::string& out) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return false;
  out = found->get_ref<const std::string&>();
  return true;
}

template <class Number>
bool Read(const Json& object, const char* name, Number& out) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned()) return false;
  const auto value = found->get<std::uint64_t>();
  if (value > static_cast<std::uint64_t>(std::numeric_limits<Number>::max())) {
    return false;
  }
  out = static_cast<Number>(value);
  return true;
}

bool IsTrue(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

Json ToJson(const Endpoint& endpoint) {
  return {{"address", endpoint.address},
          {"port", endpoint.port},
          {"local_name", endpoint.local_name},
          {"host_key", endpoint.host_key}};
}

bool ReadEndpoint(const Json& object, Endpoint& out) {
  return Read(object, "address", out.address) &&
         Read(object, "port", out.port) &&
         Read(object, "local_name", out.local_name) &&
         Read(object, "host_key", out.host_key);
}

// The number behind `name` at the end of `target`, which loses both; what is no
// number stays.
std::optional<std::uint64_t> CutField(std::string_view& target,
                                      std::string_view name) {
  const std::size_t at = target.rfind(name);
  if (at == std::string_view::npos) return std::nullopt;
  const auto number = ParseNumber(target.substr(at + name.size()));
  if (number) target = target.substr(0, at);
  return number;
}

std::uint64_t Number(Epoch epoch) { return static_cast<std::uint64_t>(epoch); }

}  // namespace

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, ec] = std::from_chars(text.data(), end, value);
  if (ec != std::errc{} || at != end) return std::nullopt;
  return value;
}

std::optional<WorkerId> ParseWorkerId(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos || slash == 0) return std::nullopt;
  const auto slot = ParseNumber(text.substr(slash + 1));
  if (!slot || *slot > std::numeric_limits<int>::max()) return std::nullopt;
  return WorkerId{std::string(text.substr(0, slash)), static_cast<int>(*slot)};
}

std::string FormatCaller(const Caller& caller) {
  std::string text = ToString(caller.worker);
  if (caller.launch == LaunchId{}) return text;
  return text + '#' + std::to_string(static_cast<int>(caller.launch));
}

std::optional<Caller> ParseCaller(std::string_view text) {
  const std::size_t slash = std::min(text.rfind('/'), text.size());
  const std::size_t mark = std::min(text.find('#', slash), text.size());
  const auto worker = ParseWorkerId(text.substr(0, mark));
  if (!worker) return std::nullopt;
  if (mark == text.size()) return Caller{*worker, {}};
  const auto launch = ParseNumber(text.substr(mark + 1));
  if (!launch || *launch > std::numeric_limits<int>::max()) {
    return std::nullopt;
  }
  return Caller{*worker, static_cast<LaunchId>(*launch)};
}

std::string FormatWorldRequest(const WorldRequest& request) {
  return Dump({{"after", Number(request.after)},
               {"endpoint", ToJson(request.endpoint)}});
}

std::optional<WorldRequest> ParseWorldRequest(std::string_view body) {
  const Json json = ParseObject(body);
  WorldRequest request;
  std::uint64_t after = 0;
  if (json.is_discarded() || !Read(json, "after", after)) return std::nullopt;
  const auto endpoint = json.find("endpoint");
  if (endpoint == json.end() || !endpoint->is_object() ||
      !ReadEndpoint(*endpoint, request.endpoint)) {
    return std::nullopt;
  }
  request.after = Epoch{after};
  return request;
}

std::string FormatWorldAnswer(const World& world,
                              const std::vector<Endpoint>& endpoints) {
  Json members = Json::array();
  for (std::size_t rank = 0; rank < world.workers.size(); ++rank) {
    Json member = ToJson(endpoints[rank]);
    member["host"] = world.workers[rank].host;
    member["slot"] = world.workers[rank].slot;
    members.push_back(std::move(member));
  }
  return Dump(
      {{"epoch", Number(world.epoch)}, {"members", std::move(members)}});
}

std::optional<WorldAnswer> ParseWorldAnswer(std::string_view body) {
  const Json json = ParseObject(body);
  WorldAnswer answer;
  std::uint64_t epoch = 0;
  if (json.is_discarded() || !Read(json, "epoch", epoch)) return std::nullopt;
  answer.world.epoch = Epoch{epoch};
  const auto members = json.find("members");
  if (members == json.end() || !members->is_array()) return std::nullopt;
  for (const Json& member : *members) {
    WorkerId worker;
    Endpoint endpoint;
    if (!member.is_object() || !Read(member, "host", worker.host) ||
        !Read(member, "slot", worker.slot) || !ReadEndpoint(member, endpoint)) {
      return std::nullopt;
    }
    answer.world.workers.push_back(std::move(worker));
    answer.endpoints.push_back(std::move(endpoint));
  }
  return answer;
}

std::string FormatRingAddress(const std::string& address) {
  return Dump({{"ring_address", address}});
}

std::optional<std::string> ParseRingAddress(std::string_view body) {
  const Json json = ParseObject(body);
  std::string address;
  if (json.is_discarded() || !Read(json, "ring_address", address)) {
    return std::nullopt;
  }
  return address;
}

std::string FormatNoticeTarget(const NoticeBoard::Question& question) {
  std::string target(kNoticeTarget);
  target.append(kEpochQuery).append(std::to_string(Number(question.epoch)));
  if (question.heard != NoticeKind::kNone) {
    target.append(kHeardQuery)
        .append(std::to_string(static_cast<int>(question.heard)));
  }
  if (question.operations != 0) {
    target.append(kOperationsQuery).append(std::to_string(question.operations));
  }
  return target;
}

std::optional<NoticeBoard::Question> ParseNoticeTarget(
    std::string_view target) {
  const std::optional<std::uint64_t> operations =
      CutField(target, kOperationsQuery);
  const std::optional<std::uint64_t> heard = CutField(target, kHeardQuery);
  const std::optional<std::uint64_t> epoch = CutField(target, kEpochQuery);
  constexpr auto kWorst = static_cast<std::uint64_t>(NoticeKind::kRankLost);
  if (target != kNoticeTarget || !epoch || heard.value_or(0) > kWorst) {
    return std::nullopt;
  }
  return NoticeBoard::Question{Epoch{*epoch},
                               static_cast<NoticeKind>(heard.value_or(0)),
                               operations.value_or(0)};
}

std::string FormatBlame(const Blame& blame) {
  return Dump({{"epoch", Number(blame.epoch)}, {"rank", blame.rank}});
}

std::optional<Blame> ParseBlame(std::string_view body) {
  const Json json = ParseObject(body);
  std::uint64_t epoch = 0;
  Blame blame;
  if (json.is_discarded() || !Read(json, "epoch", epoch) ||
      !Read(json, "rank", blame.rank)) {
    return std::nullopt;
  }
  blame.epoch = Epoch{epoch};
  return blame;
}

std::string FormatNotice(const WorldNotice& notice) {
  Json json = {{"text", notice.text}};
  if (notice.lost_rank) json["lost_rank"] = *notice.lost_rank;
  if (notice.replaced) json["replaced"] = true;
  if (notice.silent) json["silent"] = true;
  return Dump(json);
}

std::optional<WorldNotice> ParseNotice(std::string_view body) {
  const Json json = ParseObject(body);
  WorldNotice notice;
  if (json.is_discarded() || !Read(json, "text", notice.text)) {
    return std::nullopt;
  }
  int rank = 0;
  if (Read(json, "lost_rank", rank)) notice.lost_rank = rank;
  notice.replaced = IsTrue(json, "replaced");
  notice.silent = IsTrue(json, "silent");
  return notice;
}

}  // namespace hvd
