// Which addresses a client accepts, and how URLs are written.
#include "http/address.hpp"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <string>

#include "base/error.hpp"

using namespace tradingdata;

TEST_CASE("good base URLs lose their trailing slash and keep their path") {
  CHECK(BaseUrl("https://api.example.com").text() == "https://api.example.com");
  CHECK(BaseUrl("HTTPS://API.example.com:8443/gate/v2//").text() ==
        "https://api.example.com:8443/gate/v2");
  CHECK(BaseUrl("https://[2001:db8::1]:443/").host() == "[2001:db8::1]");
  CHECK(BaseUrl("https://[2001:db8::1]:8443/").port() == "8443");
  CHECK(BaseUrl("https://api.example.test/x").port() == "443");
  CHECK(BaseUrl("https://[fe80::1%25eth0]:8443/a").text() == "https://[fe80::1%25eth0]:8443/a");
  CHECK(BaseUrl("https://[FE80::1%25Eth0]").host() == "[fe80::1%25Eth0]");
  CHECK(BaseUrl("http://127.0.0.1/").port() == "80");
  CHECK(BaseUrl("https://a.b/p%20q;x=1").text() == "https://a.b/p%20q;x=1");
}

TEST_CASE("http is for loopback only") {
  for (const char* good : {"http://127.0.0.1:8080", "http://127.255.3.4", "http://localhost:1/x",
                           "http://LOCALHOST", "http://[::1]:80"}) {
    CAPTURE(good);
    const BaseUrl url(good);
    CHECK(url.loopback());
    CHECK(url.text().starts_with("http://"));
  }
  for (const char* bad : {"http://example.com", "http://127.0.0.1.example.com", "http://127.1",
                          "http://127.0.0.256", "http://127.0.0.01", "http://localhost.example.com",
                          "http://0.0.0.0", "http://10.0.0.1", "http://[::2]"}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH_AS(BaseUrl{bad}, doctest::Contains("must start with https://"), Error);
  }
}

TEST_CASE("other base URLs are refused with the reason, and passwords are not shown") {
  struct Row {
    const char* text;
    const char* reason;
  };
  const Row rows[] = {{"", "empty"},
                      {"api.example.com", "start with https://"},
                      {"ftp://example.com", "start with https://"},
                      {"://example.com", "start with https://"},
                      {"file:///etc/passwd", "start with https://"},
                      {"https://user:hunter2@example.com", "user name or password"},
                      {"https://127.0.0.1@example.com", "user name or password"},
                      {"https://example.com?x=1", "query"},
                      {"https://example.com/a?x=1", "query"},
                      {"https://example.com/#top", "fragment"},
                      {"https://", "no host"},
                      {"https://:443", "no host"},
                      {"https:///example.com", "no host"},
                      {"https://exa mple.com", "space"},
                      {"https://example.com\\@evil.com", "backslash"},
                      {"https://example.com/\r\nX: y", "control"},
                      {"https://ex\xc3\xa4mple.com", "non-ASCII"},
                      {"https://exa%2fmple.com", "not a name or an IP"},
                      {"https://example.com:0", "port"},
                      {"https://example.com:99999", "port"},
                      {"https://example.com:+80", "port"},
                      {"https://example.com/{x}", "percent-encoded"}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    try {
      const BaseUrl url(row.text);
      FAIL_CHECK("accepted");
    } catch (const Error& error) {
      CHECK(error.kind == ErrorKind::configuration);
      CHECK(std::string(error.what()).find(row.reason) != std::string::npos);
      CHECK(std::string(error.what()).find("hunter2") == std::string::npos);
    }
  }
}

TEST_CASE("an origin has neither user name nor path, and odd ones are none") {
  CHECK(origin_of("https://u:p@other.example:8443/path?token=x") == "https://other.example:8443");
  CHECK(origin_of("/login") == "");
  CHECK(origin_of("https://a\nb/") == "");
}

TEST_CASE("the proxy is the argument's, else the environment's, and never for loopback") {
  const BaseUrl remote("https://api.example.com");
  const BaseUrl local("http://127.0.0.1:1");
  const auto with = [](std::map<std::string, std::string> values) -> Environment {
    return [values](const char* name) -> std::optional<std::string> {
      const auto found = values.find(name);
      return found == values.end() ? std::nullopt : std::optional(found->second);
    };
  };
  const Environment none = with({});
  const Environment full = with({{"HTTPS_PROXY", "http://upper:1"},
                                 {"all_proxy", "socks5h://all:2"},
                                 {"http_proxy", "http://plain:3"},
                                 {"no_proxy", "x.example,.corp"}});
  CHECK(choose_proxy(remote, std::nullopt, true, none).proxy.empty());
  CHECK(choose_proxy(remote, std::nullopt, true, full).proxy == "http://upper:1");
  CHECK(choose_proxy(remote, std::nullopt, true, full).no_proxy == "x.example,.corp");
  CHECK(choose_proxy(remote, std::nullopt, false, full).proxy.empty());
  CHECK(choose_proxy(remote, "http://mine:4", true, full).proxy == "http://mine:4");
  CHECK(choose_proxy(remote, "http://mine:4", true, full).no_proxy.empty());
  CHECK(choose_proxy(remote, "", true, full).proxy.empty());
  CHECK(choose_proxy(local, "http://mine:4", true, full).proxy.empty());
  CHECK(choose_proxy(remote, std::nullopt, true, with({{"http_proxy", "http://plain:3"}}))
            .proxy.empty());
  CHECK(choose_proxy(remote, std::nullopt, true, with({{"ALL_PROXY", "host:3128"}})).proxy ==
        "http://host:3128");
}

TEST_CASE("a proxy's address is apart from its user name and password") {
  struct Row {
    const char* text;
    const char* address;
    const char* user;
    const char* password;
  };
  const Row rows[] = {
      {"http://desk:hunter2@Proxy.corp:3128/x", "http://proxy.corp:3128", "desk", "hunter2"},
      {"desk:hunter2@proxy.corp", "http://proxy.corp", "desk", "hunter2"},
      {"http://d%40k:h%3A%2F2@proxy.corp", "http://proxy.corp", "d@k", "h:/2"},
      {"HTTPS://desk@proxy.corp", "https://proxy.corp", "desk", nullptr},
      {"proxy.corp:8080", "http://proxy.corp:8080", nullptr, nullptr},
      {"ftp.corp:8080", "http://ftp.corp:8080", nullptr, nullptr},
      {"socks5h://[::1]:1080", "socks5h://[::1]:1080", nullptr, nullptr},
      {"", "", nullptr, nullptr}};
  const BaseUrl base("https://api.example.com");
  const auto same = [](const std::optional<std::string>& text, const char* expected) {
    return expected == nullptr ? !text : text == expected;
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const ProxyChoice choice = choose_proxy(base, row.text, true, process_environment());
    CHECK(choice.proxy == row.address);
    CHECK(same(choice.user, row.user));
    CHECK(same(choice.password, row.password));
  }
}

TEST_CASE("a proxy that libcurl cannot read is refused without its value") {
  for (const char* text :
       {"ftp://x:hunter2@y", "http://x:hunter2@ y", "http://desk:hunter2@proxy:99999",
        "desk:hunter2@proxy:x", "http://desk:hunter2@", "http://desk:hunter2@[::1", "http://",
        "http://desk/hun:ter2@proxy", "http://desk?hun:ter2@proxy:1", "http://desk#hun:ter2@proxy",
        "http://desk:hun#ter2@proxy", "http://desk:hun?ter2@proxy:1", "://desk:hunter2@proxy",
        "http://desk:hunter2@proxy:0", "http:///desk:hunter2@proxy", "hunter2:0",
        "http://desk:hunter@2@proxy.corp", "http://desk:hunter2@a^b", "http:///desk:hunter2@b c"}) {
    CAPTURE(text);
    for (const char* base : {"https://api.example.com", "http://127.0.0.1"}) {
      try {
        choose_proxy(BaseUrl(base), text, true, process_environment());
        FAIL_CHECK("accepted");
      } catch (const Error& error) {
        CHECK(error.kind == ErrorKind::configuration);
        CHECK(error.text().find("ter2") == std::string::npos);
        CHECK(error.text().starts_with("proxy "));
      }
    }
  }
}
