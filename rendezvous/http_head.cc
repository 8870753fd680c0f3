#include "rendezvous/http_head.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <functional>
#include <limits>

namespace hvd {
namespace {

namespace http = boost::beast::http;
using boost::beast::iequals;
using boost::beast::string_view;
using boost::system::error_code;

std::string_view View(string_view text) { return {text.data(), text.size()}; }

// Beast's parser with its callbacks bent to fill a struct of views: its own
// containers would allocate for every field.
template <bool isRequest, class Head>
class HeadParser : public http::basic_parser<isRequest> {
 public:
  HeadParser(std::string_view bytes, Head& head) : bytes_(bytes), head_(head) {
    this->header_limit(kMaxHeadBytes);
    // Judged by whoever knows the target. boost::none would refuse every body
    // here: Beast 1.74 finds any length greater than none.
    this->body_limit(std::numeric_limits<std::uint64_t>::max());
  }

 private:
  void on_request_impl(http::verb method, string_view name, string_view target,
                       int /*version*/, error_code& /*ec*/) override {
    if constexpr (isRequest) {
      head_.method_name = View(name);
      head_.target = View(target);
      head_.method = OurMethod(method);
    }
  }

  static HttpMethod OurMethod(http::verb verb) {
    if (verb == http::verb::get) return HttpMethod::kGet;
    if (verb == http::verb::put) return HttpMethod::kPut;
    if (verb == http::verb::post) return HttpMethod::kPost;
    if (verb == http::verb::delete_) return HttpMethod::kDelete;
    return HttpMethod::kOther;
  }

  void on_response_impl(int code, string_view /*reason*/, int /*version*/,
                        error_code& /*ec*/) override {
    if constexpr (!isRequest) head_.status = code;
  }

  void on_field_impl(http::field name, string_view name_text, string_view value,
                     error_code& ec) override {
    if (!Inside(value)) {
      ec = http::error::bad_value;
      return;
    }
    if constexpr (isRequest) {
      if (name == http::field::expect && iequals(value, "100-continue")) {
        head_.expects_continue = true;
      }
      if (name == http::field::authorization) {
        head_.authorization = View(value);
      }
    }
    if (name != http::field::unknown || name_text.size() < 4) return;
    if (!iequals(name_text.substr(0, 4), "hvd-")) return;
    if (std::string_view* field = OurField(name_text.substr(4))) {
      *field = View(value);
    }
  }

  // The value of a field that is folded over lines stands in a buffer of
  // Beast's that is gone after the callback. Nobody sends such since RFC 7230.
  bool Inside(string_view value) const {
    const std::less_equal<const char*> not_after;
    return value.empty() || (not_after(bytes_.data(), value.data()) &&
                             not_after(value.data() + value.size(),
                                       bytes_.data() + bytes_.size()));
  }

  std::string_view* OurField(string_view name) {
    if (iequals(name, "nonce")) return &head_.nonce;
    if (iequals(name, "signature")) return &head_.signature;
    if constexpr (isRequest) {
      if (iequals(name, "worker")) return &head_.worker;
      if (iequals(name, "sequence")) return &head_.sequence;
      if (iequals(name, "body")) return &head_.body_digest;
    }
    return nullptr;
  }

  void on_header_impl(error_code& /*ec*/) override {
    head_.keep_alive = this->keep_alive();
    if constexpr (isRequest) head_.chunked = this->chunked();
    if (const auto length = this->content_length()) {
      head_.content_length = *length;
    }
  }

  // A head is all that this parser is ever shown.
  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/,
                         error_code& /*ec*/) override {}
  std::size_t on_body_impl(string_view body, error_code& /*ec*/) override {
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t /*size*/, string_view /*extensions*/,
                            error_code& /*ec*/) override {}
  std::size_t on_chunk_body_impl(std::uint64_t /*remain*/, string_view body,
                                 error_code& /*ec*/) override {
    return body.size();
  }
  void on_finish_impl(error_code& /*ec*/) override {}

  std::string_view bytes_;
  Head& head_;
};

template <bool isRequest, class Head>
std::variant<Head, BadHead> Parse(std::string_view bytes) {
  Head head;
  HeadParser<isRequest, Head> parser(bytes, head);
  error_code ec;
  parser.put(boost::asio::buffer(bytes.data(), bytes.size()), ec);
  if (ec || !parser.is_header_done()) return BadHead{"not an HTTP/1.1 head"};
  return head;
}

}  // namespace

std::optional<std::size_t> HeadSize(std::string_view bytes, std::size_t seen) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  const std::size_t from = seen < kEnd.size() ? 0 : seen - (kEnd.size() - 1);
  const std::size_t at = bytes.find(kEnd, std::min(from, bytes.size()));
  if (at == std::string_view::npos) return std::nullopt;
  return at + kEnd.size();
}

std::variant<RequestHead, BadHead> ParseRequestHead(std::string_view head) {
  return Parse<true, RequestHead>(head);
}

std::variant<AnswerHead, BadHead> ParseAnswerHead(std::string_view head) {
  return Parse<false, AnswerHead>(head);
}

}  // namespace hvd
