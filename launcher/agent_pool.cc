#include "launcher/agent_pool.h"

#include <utility>
#include <variant>

#include "base/random_bytes.h"
#include "launcher/agent_orders.h"

namespace hvd {
namespace {

constexpr std::size_t kTokenBytes = 32;

}  // namespace

AgentPool::AgentPool(EventLoop& loop, Options options, Bootstrap& bootstrap,
                     LauncherHandlers worker_handlers, Handlers handlers)
    : loop_(loop),
      options_(std::move(options)),
      worker_handlers_(std::move(worker_handlers)),
      handlers_(std::move(handlers)),
      tree_(loop, bootstrap, options_.tree,
            {.on_room = [this] { starts_.Next(); },
             .say =
                 [this](const std::string& line) {
                   handlers_.on_chatter(line);
                 }}),
      starts_(
          loop, tree_, options_.starts,
          [this](const std::string& host) { return MakeOrders(host); },
          {.on_failed = [this](const std::string& host,
                               Error error) { Lose(host, std::move(error)); },
           .on_ended =
               [this](const std::string& host, Error error) {
                 // Of an agent that is here, its own end says no more.
                 const bool is_here = agents_.contains(host);
                 Lose(host, is_here ? Error{ErrorCode::kUnavailable,
                                            "the connection that started "
                                            "its agent has ended"}
                                    : std::move(error));
               },
           .on_chatter =
               [this](const std::string& line) {
                 handlers_.on_chatter(line);
               }}) {}

void AgentPool::Want(const RemoteHost& host) {
  if (!load_) LoadServer();
  starts_.Want(host);
}

void AgentPool::Drop(const std::string& host) {
  auto node = agents_.extract(host);
  if (!node.empty()) Retire(std::move(node.mapped()));
  tree_.Remove(host);  // first: it is to start nobody more
  starts_.Drop(host);
  if (server_ != nullptr) server_->Forget(host);
}

AgentLauncher* AgentPool::Find(const std::string& host) {
  const auto found = agents_.find(host);
  return found == agents_.end() ? nullptr : found->second.get();
}

void AgentPool::LoadServer() {
  load_ = std::make_unique<AgentServerLoad>(
      options_.library_path,
      AgentServer::Options{.addresses = options_.addresses,
                           .ports = options_.ports},
      AgentServer::Handlers{
          .on_agent =
              [this](const std::string& host, std::unique_ptr<AgentLink> link) {
                OnAgent(host, std::move(link));
              },
          .on_refused =
              [this](const std::string& line) { handlers_.on_chatter(line); }},
      [&loop = loop_](std::function<void()> fn) { loop.Post(std::move(fn)); },
      [this, alive = std::weak_ptr<int>(alive_)] {
        if (!alive.expired()) OnLoaded();
      });
}

void AgentPool::OnLoaded() {
  if (load_->Get().ok()) return;
  const Error why = load_->Get().error();
  load_.reset();  // who is wanted next may be luckier
  const std::weak_ptr<int> alive = alive_;
  for (const std::string& host : starts_.hosts()) {
    Lose(host, why);
    if (alive.expired()) return;
  }
}

std::string AgentPool::MakeOrders(const std::string& host) {
  Result<std::unique_ptr<AgentServer>>& server = load_->Get();
  if (!server.ok()) return "";  // OnLoaded() comes, and ends this host
  server_ = server.value().get();
  const std::string token = RandomBytes(kTokenBytes);
  server_->Expect(host, token);
  return ToJson({.host = host,
                 .token = token,
                 .endpoints = server_->endpoints(),
                 .certificate = server_->certificate(),
                 .probe_key = options_.probe_key,
                 .ports = options_.ports,
                 .host_timeout = options_.host_timeout,
                 .stopped_limit = options_.stopped_limit,
                 .stop_grace = options_.stop_grace});
}

void AgentPool::OnAgent(const std::string& host,
                        std::unique_ptr<AgentLink> link) {
  agents_[host] = std::make_unique<AgentLauncher>(
      loop_, std::move(link),
      AgentLauncher::Options{.host = host,
                             .host_timeout = options_.host_timeout,
                             .store_port = options_.store_port,
                             .kept = options_.kept_variables},
      worker_handlers_,
      AgentLauncher::HostHandlers{
          .on_message = [this,
                         host](const AgentEvent& e) { OnMessage(host, e); },
          .on_lost = [this, host](Error why) { Lose(host, std::move(why)); }});
  tree_.Add(host, [this, host](AgentCommand command) {
    agents_.at(host)->Send(std::move(command));
  });
  starts_.SetPhase(host, StartPhase::kInterfaceProof);
}

void AgentPool::OnMessage(const std::string& host, const AgentEvent& event) {
  if (const auto* about = std::get_if<AgentAbout>(&event)) {
    handlers_.on_agent(host, *about);
  } else if (const auto* probed = std::get_if<AgentProbed>(&event)) {
    handlers_.on_probed(host, *probed);
  } else if (const auto* time = std::get_if<AgentTime>(&event)) {
    if (handlers_.on_time) handlers_.on_time(host, *time);
  } else if (const auto* measured = std::get_if<AgentMeasured>(&event)) {
    if (handlers_.on_measured) handlers_.on_measured(host, *measured);
  } else if (const auto* refused = std::get_if<AgentRefused>(&event)) {
    handlers_.on_chatter("request on host " + host +
                         " refused: " + refused->why);
  } else {
    tree_.OnEvent(host, event);
  }
}

void AgentPool::Lose(const std::string& host, Error why) {
  const bool was_here = agents_.contains(host);
  Drop(host);
  if (was_here) {
    handlers_.on_lost(host, std::move(why));
  } else {
    handlers_.on_failed(host, std::move(why));
  }
}

void AgentPool::Retire(std::unique_ptr<AgentLauncher> agent) {
  retired_.push_back(std::move(agent));
  loop_.Post([this, alive = std::weak_ptr<int>(alive_)] {
    if (!alive.expired()) retired_.clear();
  });
}

}  // namespace hvd
