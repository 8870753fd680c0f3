#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/handshake_io.h"
#include "collectives/ring_link.h"
#include "collectives/ring_schedule.h"
#include "collectives/shm_channel.h"
#include "collectives/tcp_channel.h"

namespace hvd {
namespace {

// A neighbour needs a millisecond; whoever takes longer than this is none.
constexpr Duration kApplicantLimit{5000};
// More than the two a neighbour needs; the oldest makes room.
constexpr std::size_t kMaxApplicants = 64;

template <class T>
std::string_view BytesOf(const T& message) {
  return {reinterpret_cast<const char*>(&message), sizeof(message)};
}

// One connection that has yet to prove who it is.
class Applicant {
 public:
  Applicant(UniqueFd socket, Instant deadline)
      : socket_(std::move(socket)), deadline_(deadline) {}

  int fd() const { return socket_.get(); }
  Instant deadline() const { return deadline_; }
  LinkPurpose purpose() const { return hello_.purpose; }
  UniqueFd TakeSocket() { return std::move(socket_); }
  std::vector<UniqueFd>& passed_fds() { return passed_; }

  // Goes on as far as what has come in allows. True: proven. Error: a stranger.
  Result<bool> Advance(const LinkPlan& plan) {
    const std::size_t whole = challenged_ ? sizeof(Proof) : sizeof(Hello);
    std::array<char, sizeof(Hello)> buffer{};
    const Result<std::size_t> n = ReceiveWithFds(
        socket_.get(), std::span(buffer).first(whole - received_.size()),
        passed_);
    if (!n.ok()) return n.error();
    received_.append(buffer.data(), n.value());
    if (received_.size() < whole) return false;
    const std::string message = std::exchange(received_, {});
    if (challenged_) return CheckProof(plan, message);
    if (Status status = AnswerHello(plan, message); !status.ok()) {
      return std::move(status).error();
    }
    return false;
  }

 private:
  Status AnswerHello(const LinkPlan& plan, const std::string& message) {
    std::memcpy(&hello_, message.data(), sizeof(hello_));
    if (!Matches(hello_, plan.identity)) return Refuse(Answer::kOtherWorld);
    challenge_ = MakeChallenge(plan.key, hello_);
    challenged_ = true;
    return SendWithFds(socket_.get(), BytesOf(challenge_), {});
  }

  Result<bool> CheckProof(const LinkPlan& plan, const std::string& message) {
    Proof proof{};
    std::memcpy(&proof, message.data(), sizeof(proof));
    if (IsProven(plan.key, hello_, challenge_, proof)) return true;
    return Error(ErrorCode::kInvalidArgument, "wrong proof");
  }

  Status Refuse(Answer why) {
    (void)SendWithFds(socket_.get(), BytesOf(MakeRefusal(why)), {});
    return Error(ErrorCode::kInvalidArgument, "refused");
  }

  UniqueFd socket_;
  Instant deadline_;
  std::string received_;
  std::vector<UniqueFd> passed_;
  bool challenged_ = false;
  Hello hello_{};
  Challenge challenge_{};
};

class Reception {
 public:
  Reception(const RingListener& listener, const LinkPlan& plan)
      : plan_(plan),
        listener_(plan.same_host ? listener.local_fd() : listener.tcp_fd()) {}

  Result<LeftLink> Run() {
    while (!(link_.data && link_.neighbour.control.valid())) {
      const Instant now = SteadyClock().Now();
      if (now >= plan_.deadline) {
        return Error(ErrorCode::kTimeout,
                     "rank " + std::to_string(plan_.identity.from) +
                         " did not connect to rank " +
                         std::to_string(plan_.identity.to));
      }
      if (Wait(now)) return LinkCancelled(plan_);
      AcceptNew();
      AdvanceAll();
    }
    return std::move(link_);
  }

 private:
  // True: cancelled.
  bool Wait(Instant now) {
    Instant wake = plan_.deadline;
    std::vector<pollfd> fds{{plan_.cancel_fd, POLLIN, 0},
                            {listener_, POLLIN, 0}};
    for (const Applicant& applicant : applicants_) {
      fds.push_back({applicant.fd(), POLLIN, 0});
      wake = std::min(wake, applicant.deadline());
    }
    const auto left = std::chrono::ceil<Duration>(wake - now);
    (void)::poll(fds.data(), fds.size(),
                 static_cast<int>(std::max<Duration::rep>(left.count(), 0)));
    return fds[0].revents != 0;
  }

  void AcceptNew() {
    for (;;) {
      UniqueFd socket(
          ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket.valid()) return;
      if (applicants_.size() == kMaxApplicants) applicants_.pop_front();
      applicants_.emplace_back(std::move(socket),
                               SteadyClock().Now() + kApplicantLimit);
    }
  }

  void AdvanceAll() {
    const Instant now = SteadyClock().Now();
    for (auto it = applicants_.begin(); it != applicants_.end();) {
      const Result<bool> proven = it->Advance(plan_);
      if (proven.ok() && proven.value()) Admit(*it);
      const bool over = !proven.ok() || proven.value() || now >= it->deadline();
      it = over ? applicants_.erase(it) : std::next(it);
    }
  }

  // A proven neighbour that dials twice gave up the first time: the last one
  // counts.
  void Admit(Applicant& applicant) {
    const int fd = applicant.fd();
    std::vector<int> passed;
    if (plan_.same_host) {
      if (!OpenSharedRing(applicant.passed_fds())) return;
      link_.neighbour.pidfd = PeerPidfd(fd);
      passed.push_back(plan_.doorbell.fd());
    } else {
      TuneTcp(fd);
    }
    const Accept accept{Answer::kOk, 0};
    if (!SendWithFds(fd, BytesOf(accept), passed).ok()) return;
    if (applicant.purpose() == LinkPurpose::kControl) {
      link_.neighbour.control = applicant.TakeSocket();
    } else {
      link_.data = MakeTcpReceiver(applicant.TakeSocket());
    }
  }

  bool OpenSharedRing(std::vector<UniqueFd>& passed) {
    if (passed.size() != 2) return false;
    Result<std::unique_ptr<ReceiveChannel>> receiver =
        OpenShmReceiver(passed[0], Doorbell(std::move(passed[1])));
    if (!receiver.ok()) return false;
    link_.data = std::move(receiver).value();
    return true;
  }

  const LinkPlan& plan_;
  int listener_;
  LeftLink link_;
  std::list<Applicant> applicants_;
};

}  // namespace

Result<LeftLink> AcceptLeft(const RingListener& listener,
                            const LinkPlan& plan) {
  return Reception(listener, plan).Run();
}

}  // namespace hvd
