#include "base/base64.h"

#include <catch2/catch.hpp>

namespace hvd {

TEST_CASE("base64 is read as RFC 4648 writes it", "[base][unit]") {
  CHECK(FromBase64("") == "");
  CHECK(FromBase64("Zg==") == "f");
  CHECK(FromBase64("Zm8=") == "fo");
  CHECK(FromBase64("Zm9v") == "foo");
  CHECK(FromBase64("Zm9vYg==") == "foob");
  CHECK(FromBase64("+/8=") == "\xfb\xff");
}

TEST_CASE("what is not base64 is refused", "[base][unit]") {
  for (const char* bad : {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zm9v\n", "Zm9v ",
                          "====", "Z===", "=Zg=", "Zg==Zg==", "Zm9-", "Zm9_"}) {
    INFO(bad);
    CHECK_FALSE(FromBase64(bad));
  }
}

}  // namespace hvd
