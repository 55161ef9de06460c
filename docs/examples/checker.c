/* Difference quotients and comparison rules in C, with an adapter for the oracle.
 *
 *     cc -O2 -o checker docs/examples/checker.c -lm
 *     python -m gradcheck_ref oracle test -- ./checker
 *
 * A request is one line of JSON whose reals are strings: simple enough to read without a library.
 * What is read is kept flat, beside a shape such as "[[v,v],[v,v]]", to be compared and written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 2000 }; /* five samples of 300 outputs, each beside its place, are 1505 */
typedef struct { int n; double v[ENTRIES]; char shape[4 * ENTRIES]; } Array;

static const char *value_of(const char *line, const char *key) {
  char quoted[40];
  snprintf(quoted, sizeof quoted, "\"%s\"", key);
  const char *p = strstr(line, quoted);
  if (p) p = strchr(p + strlen(quoted), ':') + 1;
  return p ? p + strspn(p, " ") : NULL;
}

static int is(const char *line, const char *key, const char *word) {
  const char *p = value_of(line, key);
  return p && strncmp(p + 1, word, strlen(word)) == 0 && p[1 + strlen(word)] == '"';
}

static Array read_array(const char *p) {
  Array a = {0, {0}, ""};
  int depth = 0, end = 0;
  do {
    if (*p == '"') {
      char *after; /* where the number ends */
      a.v[a.n++] = strtod(p + 1, &after);
      a.shape[end++] = 'v';
      p = after;
    } else if (*p != ' ') {
      depth += (*p == '[') - (*p == ']');
      a.shape[end++] = *p;
    }
    p++;
  } while (depth > 0 && a.n < ENTRIES);
  return a;
}

static double real(const char *line, const char *key) {
  const char *p = value_of(line, key);
  return p ? strtod(p + 1, NULL) : 0;
}

static void write_array(const char *key, const double *v, const char *shape) {
  printf(", \"%s\": ", key);
  for (; *shape; shape++)
    if (*shape == 'v') printf("\"%.17g\"", *v++); else putchar(*shape);
}

static void refuse(const char *why) { printf(", \"refused\": \"%s\"", why); }
static void give_up(const char *why) { printf(", \"problem\": \"%s\"", why); }

/* --- difference quotients --- */
static double slope(const char *line, const Array *s, int low, int high) {
  int outputs = s->n / 5 - 1; /* each sample is its place and its values */
  const double *from = s->v + low * (outputs + 1), *to = s->v + high * (outputs + 1);
  double rise = 0, run = is(line, "step", "taken") ? to[0] - from[0] : (high - low) * real(line, "h");
  Array u = read_array(value_of(line, "upstream") ? value_of(line, "upstream") : "");
  for (int k = 1; k <= outputs; k++) rise += (u.n ? u.v[k - 1] : 1) * (to[k] - from[k]);
  return rise / run;
}

static void stencil(const char *line) {
  Array s = read_array(value_of(line, "samples"));
  double x = real(line, "x"), h = real(line, "h"), result;
  int width = s.n / 5;
  if (!(h > 0 && isfinite(h) && isfinite(x))) { refuse("x or h"); return; }
  if (is(line, "step", "taken")) {
    for (int k = 0; k < 5; k++)
      if (!isfinite(s.v[k * width])) { refuse("x + h is not finite"); return; }
    if (s.v[width] == x || s.v[3 * width] == x) { refuse("h vanishes against x"); return; }
  }
  if (is(line, "formula", "forward")) result = slope(line, &s, 2, 3);
  else if (is(line, "formula", "central")) result = slope(line, &s, 1, 3);
  else if (is(line, "formula", "five-point"))
    result = slope(line, &s, 1, 3) + (slope(line, &s, 1, 3) - slope(line, &s, 0, 4)) / 3;
  else { give_up("unknown formula"); return; }
  write_array("slope", &result, "v");
}

/* --- rules --- */
static double larger(double a, double b) { return a > b || isnan(a) ? a : b; }

static void compare(const char *line) {
  Array a = read_array(value_of(line, "analytic")), n = read_array(value_of(line, "numeric"));
  double rtol = real(line, "rtol"), atol = real(line, "atol"), floor = real(line, "floor");
  double error[ENTRIES], relative[ENTRIES], squares = 0, size = 0;
  int close = 1, differ = 0, tvm = is(line, "rule", "tvm"), norm = tvm || is(line, "rule", "scipy");
  int lenient = is(line, "rule", "numpy") || is(line, "rule", "torch") || is(line, "rule", "jax");
  int vacuous = lenient || is(line, "rule", "hips") || is(line, "rule", "scipy"), unknown = 0;
  if (strcmp(a.shape, n.shape)) { refuse("the shapes differ"); return; }
  int sound = rtol >= 0 && atol >= 0 && isfinite(rtol) && isfinite(atol);
  if (is(line, "rule", "reference") && !sound) { refuse("a tolerance"); return; }
  if (!a.n && !vacuous) { refuse("there is nothing to compare"); return; }
  if (is(line, "rule", "jax")) rtol *= a.n, atol *= a.n;
  for (int i = 0; i < a.n; i++) {
    double x = a.v[i], y = n.v[i], e = fabs(x - y), allowed = atol + rtol * fabs(y);
    int same = x == y || (is(line, "rule", "jax") && isnan(x) && isnan(y));
    error[i] = e, relative[i] = fabs((x - y) / (y + 1e-8));
    squares += e * e, size += y * y, differ += !(e < allowed);
    if (is(line, "rule", "reference")) close &= isfinite(e) && e <= allowed;
    else if (is(line, "rule", "torch")) close &= same || (isfinite(e) && e <= allowed);
    else if (lenient || is(line, "rule", "warp"))
      close &= same || (isfinite(y) && (isfinite(x) || !is(line, "rule", "jax")) && e <= allowed);
    else if (is(line, "rule", "hips")) close &= e < atol || e / fabs(x + y) < rtol;
    else if (is(line, "rule", "ceres")) {
      error[i] = x == 0 || y == 0 ? e : e / larger(fabs(x), fabs(y));
      close &= error[i] < rtol;
    } else if (strncmp(value_of(line, "rule"), "\"cs231n-", 8) == 0) {
      int max = is(line, "rule", "cs231n-max");
      double scale = larger(max ? larger(fabs(x), fabs(y)) : fabs(x) + fabs(y), floor);
      error[i] = max && scale == 0 ? 0 : e / scale;
      close &= error[i] <= rtol;
    } else unknown = !norm;
  }
  if (unknown) { give_up("unknown rule"); return; }
  if (norm) {
    double distance = sqrt(squares);
    if (tvm && !isfinite(squares + size)) { refuse("a norm is not finite"); return; }
    close = distance <= (tvm ? atol * sqrt(a.n) + rtol * sqrt(size) : atol);
    write_array("error", &distance, "v");
    if (tvm) write_array("percent", &(double){100.0 * differ / a.n}, "v");
  } else write_array("error", error, a.shape);
  if (is(line, "rule", "warp")) write_array("relative", relative, a.shape);
  printf(", \"close\": %s", close ? "true" : "false");
}

int main(void) {
  static char line[1 << 20];
  while (fgets(line, sizeof line, stdin)) {
    const char *id = value_of(line, "id") + 1;
    printf("{\"id\": \"%.*s\"", (int)strcspn(id, "\""), id);
    if (is(line, "ask", "stencil")) stencil(line);
    else if (is(line, "ask", "compare")) compare(line);
    else if (!is(line, "ask", "hello")) give_up("unknown question");
    else printf(", \"protocol\": 1, \"name\": \"checker.c\", \"answers\": [\"stencil\", \"compare\"]");
    puts("}");
    fflush(stdout); /* the runner waits for this line */
  }
  return 0;
}
