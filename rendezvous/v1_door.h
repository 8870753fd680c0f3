// V1Door: /v1, where libhvd asks for its world and hears what becomes of it.
//
// Every request but the one that opens a session must be signed; what is not is
// refused on its head. Requests that must wait are parked here and answered by
// Publish, Notify or Sweep. Loop thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "rendezvous/http_connection.h"
#include "rendezvous/notice_board.h"
#include "rendezvous/world_board.h"

namespace hvd {

class V1Door {
 public:
  struct Handlers {
    std::function<void(const WorkerId&, Epoch after)> on_ready;
    std::function<void(const WorkerId&, Epoch, std::uint64_t operations)>
        on_heard;
    std::function<void(const WorkerId&, Epoch, int rank)> on_blame;
    std::function<void(const WorkerId&, std::string text)> on_log;
    std::function<void(const WorkerId&, std::string bytes)> on_result;
  };

  V1Door(std::string job_key, Handlers handlers);
  ~V1Door();
  V1Door(const V1Door&) = delete;
  V1Door& operator=(const V1Door&) = delete;

  std::unique_ptr<HttpConversation> Open(HttpConnection& connection);

  void Publish(const World& world);
  void Notify(Epoch epoch, const WorldNotice& notice);
  // Requests of earlier launches of this worker are not wanted any more.
  void Replace(const WorkerId& worker, LaunchId launch);
  void SetRingAddress(const std::string& host, const std::string& address);
  // Ends the waits that have lasted kLongPoll.
  void Sweep(Instant now);

 private:
  class Conversation;

  void Release(const std::vector<Release>& releases);
  void Release(const std::vector<NoticeBoard::Release>& releases);
  // The conversation that waits under this number, no longer waiting.
  Conversation* Unpark(Waiter waiter);

  const std::string job_key_;
  const Handlers handlers_;
  WorldBoard worlds_;
  NoticeBoard notices_;
  std::unordered_map<Waiter, Conversation*> parked_;
  std::map<WorkerId, LaunchId> newest_;
  std::string world_body_;  // of the complete world
  std::string world_digest_;
};

}  // namespace hvd
