// Overloaded: several lambdas as one visitor, so that std::visit over a variant
// must name every alternative.
#pragma once

namespace hvd {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace hvd
