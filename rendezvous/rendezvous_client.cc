#include "rendezvous/rendezvous_client.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/hex.h"
#include "base/hmac_sha256.h"
#include "base/random_bytes.h"
#include "base/unique_fd.h"
#include "rendezvous/blocking_http.h"
#include "rendezvous/signature.h"
#include "rendezvous/v1_message.h"

namespace hvd {
namespace {

constexpr Duration kFirstPause{10};
constexpr Duration kLongestPause{500};
// A server that is alive says something within kLongPoll.
constexpr Duration kSilence = kLongPoll + Duration(15'000);

constexpr std::string_view kCutMark = " [cut: over 4000 bytes]";

struct Request {
  std::string_view method;
  std::string target;
  std::string_view body;
};

// How long a request goes on.
struct Limits {
  Instant deadline;
  // Without any answer for this long, hvdrun is gone.
  std::optional<Duration> silence{};
};

// Whole UTF-8 characters of `text`, kMaxLogBytes at most, and a mark if some
// are missing.
std::string CutLog(std::string_view text) {
  if (text.size() <= RendezvousClient::kMaxLogBytes) return std::string(text);
  std::size_t size = RendezvousClient::kMaxLogBytes;
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  // A character has at most three bytes that continue it; more is not UTF-8.
  for (int i = 0; i < 3 && continues(size); ++i) --size;
  if (continues(size)) size = RendezvousClient::kMaxLogBytes;
  return std::string(text.substr(0, size)).append(kCutMark);
}

bool FitsHeaderField(std::string_view text) {
  return !text.empty() && text.size() < 1024 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c > ' ' && c != 0x7F; });
}

Error NotAuthentic(std::string_view why) {
  return {ErrorCode::kInvalidArgument, "authentication: " + std::string(why)};
}

std::string WithoutNewline(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// What the server says when it has neither a 200 nor a 204.
Error FromStatus(int status, const std::string& body) {
  const ErrorCode code =
      status == 410 ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
  return {code, body + " (status " + std::to_string(status) + ")"};
}

}  // namespace

struct RendezvousClient::Impl {
  Impl(RendezvousAddress address, std::string key, const Caller& caller)
      : server(std::move(address)),
        job_key(std::move(key)),
        worker(caller.worker),
        worker_text(FormatCaller(caller)),
        cancel(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        http(cancel.get()) {}

  // Asks until there is a signed answer, 200 or 204, or no time.
  Result<BlockingHttp::Answer> Exchange(const Request& request,
                                        const Limits& limits);
  // One try. kUnavailable: worth another one.
  Result<BlockingHttp::Answer> Try(const Request& request, Instant deadline);
  Status OpenSession(Instant deadline);
  Status Pause(Duration pause, Instant deadline) const;
  // Exchanges until the answer is not "ask again".
  Result<std::string> LongPoll(const Request& request, const Limits& limits);
  // The text of the next world's answer.
  Result<std::string> AskForWorld(Epoch after, Endpoint mine,
                                  const Limits& limits);
  Result<Membership> WaitWorld(Epoch after, const Endpoint& mine,
                               const Limits& limits);

  const RendezvousAddress server;
  const std::string job_key;
  const WorkerId worker;
  const std::string worker_text;
  const UniqueFd cancel;
  MoveRing move;
  BlockingHttp http;
  SessionNonces session;
  std::uint64_t sequence = 0;
};

Result<BlockingHttp::Answer> RendezvousClient::Impl::Exchange(
    const Request& request, const Limits& limits) {
  if (!FitsHeaderField(worker.host)) {
    return Error(ErrorCode::kInvalidArgument,
                 "host name \"" + worker.host + "\" cannot stand in a request");
  }
  Duration pause = kFirstPause;
  std::optional<Instant> failing_since;
  for (;;) {
    Result<BlockingHttp::Answer> answer = Try(request, limits.deadline);
    if (answer.ok() || answer.error().code() != ErrorCode::kUnavailable) {
      return answer;
    }
    const Instant now = SteadyClock().Now();
    if (!failing_since) failing_since = now;
    if (limits.silence && now - *failing_since >= *limits.silence) {
      return answer;
    }
    const Status rested = Pause(pause, limits.deadline);
    if (!rested.ok() && rested.error().code() == ErrorCode::kTimeout) {
      return answer;  // why it never worked, rather than that time is up
    }
    if (!rested.ok()) return rested.error();
    pause = std::min(2 * pause, kLongestPause);
  }
}

Result<BlockingHttp::Answer> RendezvousClient::Impl::Try(const Request& request,
                                                         Instant deadline) {
  const std::string where =
      "hvdrun at " + server.address + ":" + std::to_string(server.port);
  const Instant silent = SteadyClock().Now() + kSilence;
  const auto fail = [&](Error error) {
    if (error.code() == ErrorCode::kTimeout && silent < deadline) {
      return Error(ErrorCode::kUnavailable, error.message()).Wrap(where);
    }
    return std::move(error).Wrap(where);
  };
  if (!http.IsOpen()) {
    Status open = OpenSession(std::min(deadline, silent));
    if (!open.ok()) return fail(std::move(open).error());
  }
  const std::string digest = BodyDigest(request.body);
  const std::string signature = SignRequest(job_key, session,
                                            {.method = request.method,
                                             .target = request.target,
                                             .worker = worker_text,
                                             .sequence = ++sequence,
                                             .body_digest = digest});
  std::string head;
  head.append(request.method).append(" ").append(request.target);
  head.append(" HTTP/1.1\r\nHost: hvdrun\r\nContent-Length: ");
  head.append(std::to_string(request.body.size()));
  head.append("\r\nHVD-Worker: ").append(worker_text);
  head.append("\r\nHVD-Sequence: ").append(std::to_string(sequence));
  head.append("\r\nHVD-Body: ").append(digest);
  head.append("\r\nHVD-Signature: ").append(signature).append("\r\n\r\n");

  Result<BlockingHttp::Answer> answer =
      http.Ask(head, request.body, std::min(deadline, silent));
  if (!answer.ok()) return fail(std::move(answer).error());
  BlockingHttp::Answer& got = answer.value();
  if (got.status == 401) {
    http.Close();
    return NotAuthentic(
        where + " refused this worker: " + WithoutNewline(std::move(got.body)));
  }
  const std::string expected =
      SignAnswer(job_key, signature, got.status, BodyDigest(got.body));
  if (!EqualInConstantTime(expected, got.signature)) {
    http.Close();
    return NotAuthentic("the answer of " + where +
                        " is not signed with this job's key");
  }
  return answer;
}

Status RendezvousClient::Impl::OpenSession(Instant deadline) {
  Status connected = http.Connect(server.address, server.port, deadline);
  if (!connected.ok()) return connected;
  session.client = RandomBytes(kNonceBytes);
  sequence = 0;
  const std::string head =
      "GET " + std::string(kSessionTarget) +
      " HTTP/1.1\r\nHost: hvdrun\r\nHVD-Nonce: " + ToHex(session.client) +
      "\r\n\r\n";
  const Result<BlockingHttp::Answer> answer = http.Ask(head, "", deadline);
  if (!answer.ok()) return answer.error();
  const auto nonce = FromHex(answer.value().nonce);
  if (answer.value().status != 200 || !nonce || nonce->size() != kNonceBytes) {
    http.Close();
    return Error(ErrorCode::kUnavailable,
                 "no session: not a rendezvous server");
  }
  session.server = *nonce;
  return Done{};
}

Status RendezvousClient::Impl::Pause(Duration pause, Instant deadline) const {
  const Instant now = SteadyClock().Now();
  if (now + pause >= deadline)
    return Error(ErrorCode::kTimeout, "no time left");
  pollfd fd{};
  fd.fd = cancel.get();
  fd.events = POLLIN;
  if (::poll(&fd, 1, static_cast<int>(pause.count())) > 0) {
    return Error(ErrorCode::kCancelled, "cancelled");
  }
  return Done{};
}

Result<std::string> RendezvousClient::Impl::LongPoll(const Request& request,
                                                     const Limits& limits) {
  for (;;) {
    Result<BlockingHttp::Answer> answer = Exchange(request, limits);
    if (!answer.ok()) return std::move(answer).error();
    BlockingHttp::Answer& got = answer.value();
    if (got.status == 200) return std::move(got.body);
    if (got.status != 204) return FromStatus(got.status, got.body);
  }
}

RendezvousClient::RendezvousClient(RendezvousAddress server,
                                   std::string job_key, const WorkerId& worker,
                                   LaunchId launch)
    : impl_(std::make_unique<Impl>(std::move(server), std::move(job_key),
                                   Caller{worker, launch})) {}

RendezvousClient::~RendezvousClient() = default;

void RendezvousClient::OnMove(MoveRing move) { impl_->move = std::move(move); }

Result<Membership> RendezvousClient::WaitWorld(Epoch after,
                                               const Endpoint& mine,
                                               Instant deadline) {
  return impl_->WaitWorld(after, mine, {deadline});
}

Result<Membership> RendezvousClient::WaitWorldWhileAnswered(
    Epoch after, const Endpoint& mine, Duration silence) {
  return impl_->WaitWorld(after, mine, {Instant::max(), silence});
}

Result<std::string> RendezvousClient::Impl::AskForWorld(Epoch after,
                                                        Endpoint mine,
                                                        const Limits& limits) {
  for (;;) {
    const std::string body = FormatWorldRequest({after, mine});
    Result<BlockingHttp::Answer> answer =
        Exchange({"POST", std::string(kWorldTarget), body}, limits);
    if (!answer.ok()) return std::move(answer).error();
    BlockingHttp::Answer& got = answer.value();
    if (got.status == 200) return std::move(got.body);
    if (got.status == 204) continue;
    if (got.status != kWrongAddressStatus) {
      return FromStatus(got.status, got.body);
    }
    const std::optional<std::string> wanted = ParseRingAddress(got.body);
    // One that is told to go where it is would ask for ever.
    if (!wanted || *wanted == mine.address || !move) {
      return Error(ErrorCode::kInternal, "unreadable answer");
    }
    Result<Endpoint> moved = move(*wanted);
    if (!moved.ok()) return std::move(moved).error();
    mine = std::move(moved).value();
  }
}

Result<Membership> RendezvousClient::Impl::WaitWorld(Epoch after,
                                                     const Endpoint& mine,
                                                     const Limits& limits) {
  Result<std::string> answer = AskForWorld(after, mine, limits);
  if (!answer.ok()) return std::move(answer).error().Wrap("wait for the world");
  std::optional<WorldAnswer> world = ParseWorldAnswer(answer.value());
  if (!world || world->world.epoch <= after) {
    return Error(ErrorCode::kInternal, "wait for the world: unreadable answer");
  }
  const std::vector<WorkerId>& workers = world->world.workers;
  const auto me = std::find(workers.begin(), workers.end(), worker);
  if (me == workers.end()) {
    return Error(ErrorCode::kInternal,
                 "wait for the world: got one without this worker");
  }
  const int rank = static_cast<int>(me - workers.begin());
  return Membership{std::move(world->world), rank, std::move(world->endpoints)};
}

Result<WorldNotice> RendezvousClient::WaitNotice(
    const NoticeBoard::Question& question, Instant deadline) {
  const auto fail = [](Error error) {
    return std::move(error).Wrap("wait for notice");
  };
  Result<BlockingHttp::Answer> answer =
      impl_->Exchange({"GET", FormatNoticeTarget(question), ""}, {deadline});
  if (!answer.ok()) return fail(std::move(answer).error());
  const BlockingHttp::Answer& got = answer.value();
  if (got.status == 204) return fail({ErrorCode::kTimeout, "nothing yet"});
  if (got.status != 200) return fail(FromStatus(got.status, got.body));
  std::optional<WorldNotice> notice = ParseNotice(got.body);
  if (!notice) return fail({ErrorCode::kInternal, "unreadable answer"});
  return *std::move(notice);
}

Status RendezvousClient::Blame(Epoch epoch, int rank, Instant deadline) {
  const std::string body = FormatBlame({epoch, rank});
  Result<std::string> answer =
      impl_->LongPoll({"POST", std::string(kBlameTarget), body}, {deadline});
  if (!answer.ok()) return std::move(answer).error().Wrap("blame a rank");
  return Done{};
}

Status RendezvousClient::Log(std::string_view text, Instant deadline) {
  const std::string body = CutLog(text);
  Result<std::string> answer =
      impl_->LongPoll({"POST", std::string(kLogTarget), body}, {deadline});
  if (!answer.ok()) return std::move(answer).error().Wrap("log to hvdrun");
  return Done{};
}

Status RendezvousClient::SetResult(std::string_view bytes, Instant deadline) {
  if (bytes.size() > kMaxResultBytes) {
    return Error(
        ErrorCode::kInvalidArgument,
        "result of " + std::to_string(bytes.size()) + " bytes is over 64 MiB");
  }
  Result<std::string> answer =
      impl_->LongPoll({"PUT", std::string(kResultTarget), bytes}, {deadline});
  if (!answer.ok()) return std::move(answer).error().Wrap("set the result");
  return Done{};
}

void RendezvousClient::Cancel() { ::eventfd_write(impl_->cancel.get(), 1); }

}  // namespace hvd
