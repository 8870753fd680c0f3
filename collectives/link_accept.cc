#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/handshake_io.h"
#include "collectives/link.h"

namespace hvd {
namespace {

// A rank needs a millisecond; whoever takes longer than this is none.
constexpr Duration kApplicantLimit{5000};
// Strangers that may be there besides; the oldest makes room.
constexpr std::size_t kSpareApplicants = 64;

template <class T>
std::string_view BytesOf(const T& message) {
  return {reinterpret_cast<const char*>(&message), sizeof(message)};
}

// One connection that has yet to prove who it is.
class Applicant {
 public:
  Applicant(UniqueFd socket, bool same_host, Instant deadline)
      : socket_(std::move(socket)),
        same_host_(same_host),
        deadline_(deadline) {}

  int fd() const { return socket_.get(); }
  Instant deadline() const { return deadline_; }
  std::size_t wanted() const { return wanted_; }  // once it is proven
  Link TakeLink() { return {std::move(socket_), std::move(passed_)}; }

  // Goes on as far as what has come in allows. True: proven. Error: a stranger.
  Result<bool> Advance(std::span<const LinkWanted> wanted,
                       std::string_view key) {
    const std::size_t whole = challenged_ ? sizeof(Proof) : sizeof(Hello);
    std::array<char, sizeof(Hello)> buffer{};
    const Result<std::size_t> n = ReceiveWithFds(
        socket_.get(), std::span(buffer).first(whole - received_.size()),
        passed_);
    if (!n.ok()) return n.error();
    received_.append(buffer.data(), n.value());
    if (received_.size() < whole) return false;
    const std::string message = std::exchange(received_, {});
    if (challenged_) return CheckProof(key, message);
    if (Status status = AnswerHello(wanted, key, message); !status.ok()) {
      return std::move(status).error();
    }
    return false;
  }

 private:
  Status AnswerHello(std::span<const LinkWanted> wanted, std::string_view key,
                     const std::string& message) {
    std::memcpy(&hello_, message.data(), sizeof(hello_));
    const auto matches = [this](const LinkWanted& w) {
      return w.same_host == same_host_ &&
             Matches(hello_, w.identity, w.purpose);
    };
    const auto found = std::find_if(wanted.begin(), wanted.end(), matches);
    if (found == wanted.end()) return Refuse(Answer::kOtherWorld);
    wanted_ = static_cast<std::size_t>(found - wanted.begin());
    challenge_ = MakeChallenge(key, hello_);
    challenged_ = true;
    return SendWithFds(socket_.get(), BytesOf(challenge_), {});
  }

  Result<bool> CheckProof(std::string_view key, const std::string& message) {
    Proof proof{};
    std::memcpy(&proof, message.data(), sizeof(proof));
    if (IsProven(key, hello_, challenge_, proof)) return true;
    return Error(ErrorCode::kInvalidArgument, "wrong proof");
  }

  Status Refuse(Answer why) {
    (void)SendWithFds(socket_.get(), BytesOf(MakeRefusal(why)), {});
    return Error(ErrorCode::kInvalidArgument, "refused");
  }

  UniqueFd socket_;
  bool same_host_;
  Instant deadline_;
  std::string received_;
  std::vector<UniqueFd> passed_;
  std::size_t wanted_ = 0;
  bool challenged_ = false;
  Hello hello_{};
  Challenge challenge_{};
};

class Reception {
 public:
  Reception(const RingListener& listener, std::span<const LinkWanted> wanted,
            const LinkTerms& terms)
      : listener_(listener),
        wanted_(wanted),
        terms_(terms),
        links_(wanted.size()) {}

  Result<std::vector<Link>> Run() {
    while (const LinkWanted* const missing = Missing()) {
      const Instant now = SteadyClock().Now();
      if (now >= terms_.deadline) {
        return Error(ErrorCode::kTimeout,
                     "rank " + std::to_string(missing->identity.from) +
                         " did not connect to rank " +
                         std::to_string(missing->identity.to));
      }
      if (Wait(now)) return LinkCancelled(missing->identity);
      AcceptNew(listener_.tcp_fd(), false);
      AcceptNew(listener_.local_fd(), true);
      AdvanceAll();
    }
    return std::move(links_);
  }

 private:
  const LinkWanted* Missing() const {
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (!links_[i].socket.valid()) return &wanted_[i];
    }
    return nullptr;
  }

  // True: cancelled.
  bool Wait(Instant now) {
    Instant wake = terms_.deadline;
    std::vector<pollfd> fds{{terms_.cancel_fd, POLLIN, 0},
                            {listener_.tcp_fd(), POLLIN, 0},
                            {listener_.local_fd(), POLLIN, 0}};
    for (const Applicant& applicant : applicants_) {
      fds.push_back({applicant.fd(), POLLIN, 0});
      wake = std::min(wake, applicant.deadline());
    }
    const auto left = std::chrono::ceil<Duration>(wake - now);
    (void)::poll(fds.data(), fds.size(),
                 static_cast<int>(std::max<Duration::rep>(left.count(), 0)));
    return fds[0].revents != 0;
  }

  void AcceptNew(int listener, bool same_host) {
    for (;;) {
      UniqueFd socket(
          ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket.valid()) return;
      if (applicants_.size() == kSpareApplicants + wanted_.size()) {
        applicants_.pop_front();
      }
      applicants_.emplace_back(std::move(socket), same_host,
                               SteadyClock().Now() + kApplicantLimit);
    }
  }

  void AdvanceAll() {
    const Instant now = SteadyClock().Now();
    for (auto it = applicants_.begin(); it != applicants_.end();) {
      const Result<bool> proven = it->Advance(wanted_, terms_.key);
      if (proven.ok() && proven.value()) Admit(*it);
      const bool over = !proven.ok() || proven.value() || now >= it->deadline();
      it = over ? applicants_.erase(it) : std::next(it);
    }
  }

  // A proven rank that dials twice gave up the first time: the last one counts.
  void Admit(Applicant& applicant) {
    const LinkWanted& wanted = wanted_[applicant.wanted()];
    if (!wanted.same_host) TuneTcp(applicant.fd());
    const Accept accept{Answer::kOk, 0};
    if (!SendWithFds(applicant.fd(), BytesOf(accept), wanted.fds).ok()) return;
    links_[applicant.wanted()] = applicant.TakeLink();
  }

  const RingListener& listener_;
  std::span<const LinkWanted> wanted_;
  const LinkTerms& terms_;
  std::vector<Link> links_;
  std::list<Applicant> applicants_;
};

}  // namespace

Result<std::vector<Link>> AcceptLinks(const RingListener& listener,
                                      std::span<const LinkWanted> wanted,
                                      const LinkTerms& terms) {
  return Reception(listener, wanted, terms).Run();
}

}  // namespace hvd
