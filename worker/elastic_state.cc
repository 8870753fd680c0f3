#include <hvd/elastic.h>

#include <cstdint>
#include <string>
#include <utility>

#include "worker/state_access.h"
#include "worker/this_process.h"

namespace hvd {
namespace {

// What a rank can give in a Sync.
struct Offer {
  std::int64_t synced = 0;
  std::int64_t words = 0;
};
constexpr std::size_t kOfferWords = sizeof(Offer) / sizeof(std::int64_t);

// hvdrun gives the oldest the lowest rank. Should a worker without state ever
// stand before it, training is still not thrown away.
std::size_t Oldest(const std::vector<Offer>& offers) {
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    if (offers[rank].synced != 0) return rank;
  }
  return 0;
}

}  // namespace

HostsUpdated::HostsUpdated()
    : std::runtime_error("the hosts of this job have changed") {}
HostsUpdated::~HostsUpdated() = default;

ElasticState::ElasticState() : impl_(std::make_unique<Impl>()) {}
ElasticState::~ElasticState() = default;

void ElasticState::RegisterPiece(std::function<std::string_view()> view,
                                 std::function<void(std::string_view)> load) {
  impl_->memory.Add({std::move(view), std::move(load)});
}

void ElasticState::CheckSize(std::size_t has, std::size_t received) {
  if (has == received) return;
  throw std::invalid_argument("hvd: elastic state: an array of " +
                              std::to_string(has) + " bytes has " +
                              std::to_string(received) + " on the oldest rank");
}

void ElasticState::RegisterArray(void* data, std::size_t count, DataType type) {
  switch (type) {
    case DataType::kInt32:
      return RegisterArray(static_cast<std::int32_t*>(data), count);
    case DataType::kInt64:
      return RegisterArray(static_cast<std::int64_t*>(data), count);
    case DataType::kFloat32:
      return RegisterArray(static_cast<float*>(data), count);
    case DataType::kFloat64:
      return RegisterArray(static_cast<double*>(data), count);
    case DataType::kUint8:
      return RegisterArray(static_cast<std::uint8_t*>(data), count);
    case DataType::kInt8:
      return RegisterArray(static_cast<std::int8_t*>(data), count);
    case DataType::kFloat16:
      return RegisterArray(static_cast<Float16*>(data), count);
    case DataType::kBfloat16:
      return RegisterArray(static_cast<Bfloat16*>(data), count);
  }
  throw std::invalid_argument("hvd: RegisterArray: no such type");
}

void ElasticState::RegisterBytes(std::string& bytes) {
  RegisterPiece([&bytes] { return std::string_view(bytes); },
                [&bytes](std::string_view received) { bytes = received; });
}

void ElasticState::RegisterCustom(std::function<std::string()> save,
                                  std::function<void(std::string_view)> load) {
  // The bytes must outlive the call that views them.
  auto kept = std::make_shared<std::string>();
  RegisterPiece(
      [save = std::move(save), kept] {
        *kept = save();
        return std::string_view(*kept);
      },
      std::move(load));
}

void ElasticState::RegisterSampler(ElasticSampler& sampler) {
  ElasticSampler::Impl& impl = *sampler.impl_;
  impl_->samplers.push_back(&impl);
  RegisterCustom([&impl] { return impl.plan.Save(); },
                 [&impl](std::string_view bytes) {
                   if (!impl.plan.Load(bytes)) {
                     throw std::invalid_argument(
                         "hvd: elastic state: a sampler has another number of "
                         "samples on the oldest rank");
                   }
                   impl.EnterWorld();
                 });
}

void ElasticState::Commit() {
  // With a sampler the others' part comes first: the copy must hold what all
  // ranks have done up to here, or nothing of it.
  const bool exchanges = !impl_->samplers.empty();
  if (!exchanges) Save();
  const bool changed = impl_->Exchange();
  if (exchanges) Save();
  if (changed) throw HostsUpdated();
}

void ElasticState::Save() { impl_->memory.Save(); }

void ElasticState::Restore() { impl_->memory.Restore(); }

void ElasticState::Sync() {
  Save();
  const Identity here = JoinedHere().identity();
  if (here.size > 1) impl_->ShareFromOldest(here.rank, here.size);
  for (ElasticSampler::Impl* sampler : impl_->samplers) sampler->EnterWorld();
  impl_->synced = true;
}

void ElasticState::Impl::ShareFromOldest(int rank, int size) {
  const Offer mine{synced ? 1 : 0,
                   static_cast<std::int64_t>(memory.saved().size())};
  std::vector<Offer> offers(static_cast<std::size_t>(size));
  AllGather(&mine, offers.data(), kOfferWords, DataType::kInt64);
  const std::size_t oldest = Oldest(offers);
  const bool is_mine = oldest == static_cast<std::size_t>(rank);
  // Apart from what was saved, which is needed if this fails on the way.
  StateMemory::Block received;
  if (!is_mine) {
    received.resize(static_cast<std::size_t>(offers[oldest].words));
  }
  StateMemory::Block& block = is_mine ? memory.saved() : received;
  Broadcast(block.data(), block.size(), static_cast<int>(oldest));
  if (!is_mine) memory.Adopt(std::move(received));
}

bool ElasticState::Impl::Exchange() {
  Context& context = JoinedHere();
  // The same on all ranks: they are of one job and registered the same.
  if (!context.elastic() && samplers.empty()) return false;
  std::vector<std::int64_t> mine{context.HeardOfChange() ? 1 : 0};
  for (ElasticSampler::Impl* sampler : samplers) {
    mine.push_back(static_cast<std::int64_t>(sampler->Entered().recorded()));
  }
  const auto size = static_cast<std::size_t>(context.identity().size);
  std::vector<std::int64_t> all(mine.size() * size);
  AllGather(mine.data(), all.data(), mine.size());
  for (std::size_t i = 0; i < samplers.size(); ++i) {
    std::vector<std::uint64_t> counts;
    for (std::size_t rank = 0; rank < size; ++rank) {
      counts.push_back(
          static_cast<std::uint64_t>(all[rank * mine.size() + 1 + i]));
    }
    samplers[i]->plan.Merge(counts);
  }
  bool changed = false;
  for (std::size_t rank = 0; rank < size; ++rank) {
    changed = changed || all[rank * mine.size()] != 0;
  }
  return changed;
}

}  // namespace hvd
