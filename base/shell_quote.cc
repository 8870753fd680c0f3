#include "base/shell_quote.h"

#include <algorithm>
#include <cctype>

namespace hvd {
namespace {

bool IsPlain(char c) {
  constexpr std::string_view kPlainMarks = "%+,-./:=@_";
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         kPlainMarks.find(c) != std::string_view::npos;
}

// zsh looks up a command for "=name", old fish a job for "%name".
bool IsPlainWord(std::string_view word) {
  return !word.empty() && word.front() != '=' && word.front() != '%' &&
         std::all_of(word.begin(), word.end(), IsPlain);
}

// Within single quotes "!" is a csh's history and "\" escapes in fish.
bool EndsTheQuotes(char c) { return c == '\'' || c == '\\' || c == '!'; }

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// One word at the front of `text`, which begins with no blank.
Result<std::string> TakeWord(std::string_view& text) {
  std::string word;
  char quote = 0;
  std::size_t at = 0;
  for (; at < text.size() && (quote != 0 || !IsBlank(text[at])); ++at) {
    const char c = text[at];
    const bool escapes = c == '\\' && quote != '\'' && at + 1 < text.size();
    if (escapes && (quote == 0 || text[at + 1] == '"' || text[at + 1] == '\\' ||
                    text[at + 1] == '$' || text[at + 1] == '`')) {
      word += text[++at];
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      word += c;
    }
  }
  if (quote != 0) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string("the quote ") + quote + " is not closed"};
  }
  text.remove_prefix(at);
  return word;
}

}  // namespace

std::string ShellQuote(std::string_view word) {
  if (IsPlainWord(word)) return std::string(word);
  std::string out = "'";
  for (const char c : word) {
    if (EndsTheQuotes(c)) {
      out += "'\\";
      out += c;
      out += '\'';
    } else {
      out += c;
    }
  }
  return out += '\'';
}

std::string ShellQuote(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += ShellQuote(word);
  }
  return line;
}

Result<std::vector<std::string>> SplitShellWords(std::string_view text) {
  std::vector<std::string> words;
  for (;;) {
    text.remove_prefix(static_cast<std::size_t>(
        std::find_if_not(text.begin(), text.end(), IsBlank) - text.begin()));
    if (text.empty()) return words;
    Result<std::string> word = TakeWord(text);
    if (!word.ok()) return std::move(word).error();
    words.push_back(std::move(word).value());
  }
}

}  // namespace hvd
