#include "base/line_splitter.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace hvd {
namespace {

struct Piece {
  std::string text;
  PieceEnd end;
  bool operator==(const Piece&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Piece& piece) {
  return out << '{' << Catch::StringMaker<std::string>::convert(piece.text)
             << (piece.end == PieceEnd::kFinished ? " finished}" : "...}");
}

class Collector {
 public:
  explicit Collector(std::size_t max_held = 1000) : splitter_(max_held) {}

  void Feed(std::string_view bytes) {
    splitter_.Feed(bytes, [this](auto... piece) { Add(piece...); });
  }
  void Show() {
    splitter_.Show([this](auto... piece) { Add(piece...); });
  }
  const std::vector<Piece>& pieces() const { return pieces_; }
  bool holds() const { return splitter_.holds(); }
  // All bytes that came out.
  std::string Joined() const {
    std::string text;
    for (const Piece& piece : pieces_) text += piece.text;
    return text;
  }

 private:
  void Add(std::string_view head, std::string_view body, PieceEnd end) {
    pieces_.push_back({std::string(head) + std::string(body), end});
  }
  LineSplitter splitter_;
  std::vector<Piece> pieces_;
};

Piece Finished(std::string text) {
  return {std::move(text), PieceEnd::kFinished};
}
Piece Unfinished(std::string text) {
  return {std::move(text), PieceEnd::kUnfinished};
}

// What the pieces should be, byte by byte, without any cleverness.
std::vector<Piece> Reference(std::string_view text) {
  std::vector<Piece> pieces;
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    line += text[i];
    const bool crlf = text[i] == '\r' && text.substr(i + 1).starts_with('\n');
    if (text[i] == '\n' || (text[i] == '\r' && !crlf)) {
      pieces.push_back(Finished(line));
      line.clear();
    }
  }
  if (!line.empty()) pieces.push_back(Unfinished(line));
  return pieces;
}

}  // namespace

TEST_CASE("LineSplitter ends a piece at a newline, a carriage return or both",
          "[base]") {
  Collector collector;
  collector.Feed("a\nb\rc\r\n\n\r\rd\n");
  CHECK(collector.pieces() == std::vector{Finished("a\n"), Finished("b\r"),
                                          Finished("c\r\n"), Finished("\n"),
                                          Finished("\r"), Finished("\r"),
                                          Finished("d\n")});
  CHECK_FALSE(collector.holds());
}

TEST_CASE("LineSplitter gives the same pieces wherever the bytes were cut",
          "[base]") {
  const std::string text = std::string("one\ntwo\rthree\r\n\r\r\nfour") + '\0' +
                           "five\n\xff\xe2\n\n";
  for (std::size_t first = 0; first <= text.size(); ++first) {
    for (std::size_t second = first; second <= text.size(); ++second) {
      Collector collector;
      collector.Feed(std::string_view(text).substr(0, first));
      collector.Feed(std::string_view(text).substr(first, second - first));
      collector.Feed(std::string_view(text).substr(second));
      CAPTURE(first, second);
      REQUIRE(collector.pieces() == Reference(text));
    }
  }
}

TEST_CASE("LineSplitter agrees with a byte-by-byte reference on random bytes",
          "[base]") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  constexpr std::string_view kAlphabet("ab\n\r\0", 5);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    Collector collector;
    while (text.size() < 200) {
      std::string chunk;
      const auto size = random() % 9;
      for (std::size_t i = 0; i < size; ++i) chunk += kAlphabet[random() % 5];
      collector.Feed(chunk);
      text += chunk;
    }
    // A final byte that is no "\r", which would still be held.
    collector.Feed("x");
    text += 'x';
    collector.Show();
    REQUIRE(collector.pieces() == Reference(text));
  }
}

TEST_CASE("LineSplitter shows an unfinished line once and goes on with it",
          "[base]") {
  Collector collector;
  collector.Feed("50");
  CHECK(collector.holds());
  collector.Show();
  CHECK_FALSE(collector.holds());
  collector.Show();
  collector.Feed("%\n");
  CHECK(collector.pieces() == std::vector{Unfinished("50"), Finished("%\n")});
}

TEST_CASE("LineSplitter knows a line as finished that was shown with its \\r",
          "[base]") {
  Collector collector;
  collector.Feed("50%\r");
  collector.Show();
  SECTION("when another line follows") {
    collector.Feed("60%\n");
    CHECK(collector.pieces() ==
          std::vector{Unfinished("50%\r"), Finished(""), Finished("60%\n")});
  }
  SECTION("when it was half of \\r\\n") {
    collector.Feed("\nnext\n");
    CHECK(collector.pieces() ==
          std::vector{Unfinished("50%\r"), Finished("\n"), Finished("next\n")});
  }
}

TEST_CASE("LineSplitter holds no more than its limit", "[base]") {
  Collector collector(10);
  collector.Feed("0123456789");
  CHECK(collector.pieces().empty());
  collector.Feed("a\r");
  CHECK(collector.pieces() == std::vector{Unfinished("0123456789a")});
  collector.Feed("\n");
  CHECK(collector.pieces() ==
        std::vector{Unfinished("0123456789a"), Finished("\r\n")});
  collector.Feed(std::string(1000, 'x'));
  CHECK(collector.pieces().back() == Unfinished(std::string(1000, 'x')));
  CHECK_FALSE(collector.holds());
}

TEST_CASE("LineSplitter loses no byte when lines are long and shown at random",
          "[base]") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  Collector collector(16);
  std::string text;
  for (int round = 0; round < 2000; ++round) {
    std::string chunk(random() % 30, 'x');
    if (random() % 3 == 0) chunk += '\r';
    if (random() % 3 == 0) chunk += '\n';
    collector.Feed(chunk);
    if (random() % 4 == 0) collector.Show();
    text += chunk;
  }
  collector.Show();
  CHECK(collector.Joined() == text);
}

}  // namespace hvd
