/* A function and its gradient, for the check: plain C, without a JSON library.
 *
 *     cc -O2 -o program docs/examples/program.c -lm && gradcheck-ref check -- ./program
 *
 * A request is one line of JSON whose reals are strings: the numbers of W are found by looking for
 * "W". Points come as text, one at a time, since the hello promises no more. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUT = 2, IN = 3 };
static const double x[IN] = {1, -0.5, 2}, y[OUT] = {0.5, -0.2};

/* A layer of two units: the sum of (tanh(W x + b) - y)^2, and its gradient. W comes row by row. */
static double loss(const double *W, const double *b, double *dW, double *db) {
  double sum = 0;
  for (int i = 0; i < OUT; i++) {
    double z = b[i];
    for (int j = 0; j < IN; j++) z += W[i * IN + j] * x[j];
    double t = tanh(z);
    sum += (t - y[i]) * (t - y[i]);
    db[i] = 2 * (t - y[i]) * (1 - t * t);
    for (int j = 0; j < IN; j++) dW[i * IN + j] = db[i] * x[j];
  }
  return sum;
}

/* What stands in quotes after a key: a word, or the first real of a list. */
static const char *after(const char *line, const char *key) {
  const char *p = strstr(line, key);
  if (p) p = strchr(p + strlen(key), '"');
  return p ? p + 1 : line + strlen(line);
}

static void read_reals(const char *p, double *v, int n) {
  for (int i = 0; i < n; i++) {
    char *end;
    v[i] = strtod(p, &end);
    p = end + strcspn(end, "0123456789.-"); /* the next one */
  }
}

static void write_reals(const char *key, const double *v, int n) {
  printf("\"%s\": [", key);
  for (int i = 0; i < n; i++) printf("%s\"%.17g\"", i ? ", " : "", v[i]);
  printf("]");
}

int main(void) {
  static char line[1 << 16];
  double W[OUT * IN], b[OUT], dW[OUT * IN], db[OUT];
  while (fgets(line, sizeof line, stdin)) {
    const char *ask = after(line, "\"ask\""), *id = after(line, "\"id\"");
    printf("{\"id\": \"%.*s\", ", (int)strcspn(id, "\""), id);
    if (strncmp(ask, "hello", 5) == 0) {
      printf("\"protocol\": 1, \"name\": \"program.c\", ");
      printf("\"answers\": [\"describe\", \"value\", \"gradient\"]}\n");
    } else if (strncmp(ask, "describe", 8) == 0) {
      printf("\"inputs\": [{\"name\": \"W\", \"shape\": [2, 3], ");
      printf("\"default\": [\"0.3\", \"-0.2\", \"0.1\", \"0.4\", \"0.5\", \"-0.6\"]}, ");
      printf("{\"name\": \"b\", \"shape\": [2], \"default\": [\"0.1\", \"-0.3\"]}]}\n");
    } else {
      read_reals(after(line, "\"W\""), W, OUT * IN);
      read_reals(after(line, "\"b\""), b, OUT);
      double f = loss(W, b, dW, db);
      if (strncmp(ask, "value", 5) == 0) {
        printf("\"values\": [\"%.17g\"]}\n", f);
      } else {
        printf("\"gradient\": {");
        write_reals("W", dW, OUT * IN);
        printf(", ");
        write_reals("b", db, OUT);
        printf("}}\n");
      }
    }
    fflush(stdout); /* or the check waits for the reply, and this for the next request */
  }
}
