/* A function of a million parameters and its gradient, for the check: the point comes in a file.
 *
 *     cc -O2 -o large docs/examples/large.c -lm && gradcheck-ref check -- ./large
 *
 * With fewer parameters (cc -DN=20000) the point comes as text once, to see whether both agree. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef N
#define N 1000000
#endif

/* The energy of a chain: half the sum of (w[i+1] - w[i])^2 + w[i]^2, and its gradient. */
static double energy(const double *w, double *dw) {
  double sum = 0;
  for (int i = 0; i < N; i++) {
    sum += w[i] * w[i] / 2;
    dw[i] = w[i];
  }
  for (int i = 0; i + 1 < N; i++) {
    double stretch = w[i + 1] - w[i];
    sum += stretch * stretch / 2;
    dw[i] -= stretch;
    dw[i + 1] += stretch;
  }
  return sum;
}

static char line[1 << 22]; /* 100 000 numbers as text have up to 2.5 MB */

/* Copies the word in quotes after a key, and returns where it begins. */
static const char *after(const char *key, char *copy, size_t room) {
  const char *p = strstr(line, key);
  p = p ? strchr(p + strlen(key), '"') : NULL;
  snprintf(copy, room, "%.*s", p ? (int)strcspn(p + 1, "\"") : 0, p ? p + 1 : "");
  return p ? p + 1 : line + strlen(line);
}

static void read_point(double *w) {
  char word[4096];
  const char *p = after("\"w\"", word, sizeof word);
  if (strcmp(word, "file") == 0) {
    after("\"file\"", word, sizeof word);
    FILE *file = fopen(word, "rb");
    if (!file || fread(w, sizeof *w, N, file) != N) exit(1);
    fclose(file);
    return;
  }
  for (int i = 0; i < N; i++) {
    char *end;
    w[i] = strtod(p, &end);
    p = end + strcspn(end, "0123456789.-"); /* the next one */
  }
}

int main(void) {
  static double w[N], dw[N];
  char id[100], ask[100], folder[4096], path[5000];
  while (fgets(line, sizeof line, stdin)) {
    after("\"id\"", id, sizeof id);
    after("\"ask\"", ask, sizeof ask);
    printf("{\"id\": \"%s\", ", id);
    if (strcmp(ask, "hello") == 0) {
      printf("\"protocol\": 1, \"name\": \"large.c\", \"files\": true, ");
      printf("\"answers\": [\"describe\", \"value\", \"gradient\"]}\n");
    } else if (strcmp(ask, "describe") == 0) {
      printf("\"inputs\": [{\"name\": \"w\", \"shape\": [%d], \"default\": [\"0.5\"", N);
      for (int i = 1; i < N; i++) printf(", \"%.17g\"", sin(i));
      printf("]}]}\n");
    } else {
      read_point(w);
      double f = energy(w, dw);
      if (strcmp(ask, "value") == 0) {
        printf("\"values\": [\"%.17g\"]}\n", f);
      } else {
        after("\"folder\"", folder, sizeof folder);
        snprintf(path, sizeof path, "%s/dw.f64", folder);
        FILE *file = fopen(path, "wb");
        if (!file || fwrite(dw, sizeof *dw, N, file) != N) exit(1);
        fclose(file); /* before the reply is written */
        printf("\"gradient\": {\"file\": \"%s\"}}\n", path);
      }
    }
    fflush(stdout); /* or the check waits for the reply, and this for the next request */
  }
}
