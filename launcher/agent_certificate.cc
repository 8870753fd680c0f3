#include "launcher/agent_certificate.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

namespace hvd {
namespace {

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>>;
using Memory = std::unique_ptr<BIO, Deleter<BIO_free_all>>;

std::string TextOf(BIO* memory) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(memory, &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

bool SetValidForEver(X509* certificate) {
  return ASN1_TIME_set_string(X509_getm_notBefore(certificate),
                              "19700101000000Z") == 1 &&
         ASN1_TIME_set_string(X509_getm_notAfter(certificate),
                              "99991231235959Z") == 1;
}

bool SetName(X509* certificate) {
  const std::string alternative = std::string("DNS:") + kAgentServerName;
  const Extension extension(X509V3_EXT_conf_nid(
      nullptr, nullptr, NID_subject_alt_name, alternative.c_str()));
  const auto* text = reinterpret_cast<const unsigned char*>(kAgentServerName);
  X509_NAME* name = X509_get_subject_name(certificate);
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1,
                                    0) == 1 &&
         X509_set_issuer_name(certificate, name) == 1 && extension != nullptr &&
         X509_add_ext(certificate, extension.get(), -1) == 1;
}

Certificate SelfSigned(EVP_PKEY* key) {
  Certificate certificate(X509_new());
  const bool made =
      certificate != nullptr && X509_set_version(certificate.get(), 2) == 1 &&
      ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1) == 1 &&
      SetValidForEver(certificate.get()) && SetName(certificate.get()) &&
      X509_set_pubkey(certificate.get(), key) == 1 &&
      X509_sign(certificate.get(), key, EVP_sha256()) > 0;
  return made ? std::move(certificate) : nullptr;
}

}  // namespace

Result<AgentCertificate> MakeAgentCertificate() {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate = key ? SelfSigned(key.get()) : nullptr;
  const Memory key_text(BIO_new(BIO_s_mem()));
  const Memory certificate_text(BIO_new(BIO_s_mem()));
  if (!certificate || !key_text || !certificate_text ||
      PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0,
                               nullptr, nullptr) != 1 ||
      PEM_write_bio_X509(certificate_text.get(), certificate.get()) != 1) {
    return Error{ErrorCode::kInternal,
                 "cannot make a certificate for the agents' connections"};
  }
  return AgentCertificate{TextOf(key_text.get()),
                          TextOf(certificate_text.get())};
}

}  // namespace hvd
