/* Preloaded into a client process: host names resolve late, and to a chosen address or not at all.
 * TEST_RESOLVER_SECONDS says how late, TEST_RESOLVER_ADDRESS (none: failure) where to: one address,
 * or two with a comma between them. TEST_RESOLVER_LOG is a file that gets a byte for each lookup. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int Lookup(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static int is_local(const char *node) {
  unsigned char address[16];
  return inet_pton(AF_INET, node, address) == 1 || inet_pton(AF_INET6, node, address) == 1 ||
         strcmp(node, "localhost") == 0;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **result) {
  Lookup *real = (Lookup *)dlsym(RTLD_NEXT, "getaddrinfo");
  if (node == NULL || is_local(node)) return real(node, service, hints, result);
  const char *seconds = getenv("TEST_RESOLVER_SECONDS");
  const double late = seconds == NULL ? 0 : atof(seconds);
  struct timespec left = {(time_t)late, (long)((late - (double)(time_t)late) * 1e9)};
  nanosleep(&left, NULL);
  const char *log = getenv("TEST_RESOLVER_LOG");
  FILE *file = log == NULL ? NULL : fopen(log, "a");
  if (file != NULL) {
    fputc('.', file);
    fclose(file);
  }
  const char *addresses = getenv("TEST_RESOLVER_ADDRESS");
  if (addresses == NULL) return EAI_NONAME;
  char first[64];
  snprintf(first, sizeof first, "%s", addresses);
  char *comma = strchr(first, ',');
  if (comma != NULL) *comma = '\0';
  const int failure = real(first, service, hints, result);
  if (failure != 0 || comma == NULL) return failure;
  struct addrinfo *last = *result;
  while (last->ai_next != NULL) last = last->ai_next;
  return real(comma + 1, service, hints, &last->ai_next);
}
