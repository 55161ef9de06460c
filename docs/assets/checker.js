// Difference quotients and comparison rules in plain JavaScript, and an adapter for the oracle.
//
// In a page: <script src="checker.js"></script>, then gradcheck.stencil(...), gradcheck.compare(...).
// With node it speaks the oracle's protocol on stdin and stdout:
//
//     python -m gradcheck_ref oracle test -- node docs/assets/checker.js

"use strict";

const gradcheck = (() => {
  class Refused extends Error {}

  const flat = (x) => (Array.isArray(x) ? x.flatMap(flat) : [x]);
  const shape = (x) => (Array.isArray(x) ? `[${x.map(shape)}]` : "v");
  const all = (values, test) => values.every(test);
  const length = (values) => Math.sqrt(values.reduce((sum, v) => sum + v * v, 0));

  // Put values in the place of the entries of x.
  function arranged(values, x) {
    const next = values[Symbol.iterator]();
    const fill = (part) => (Array.isArray(part) ? part.map(fill) : next.next().value);
    return fill(x);
  }

  // --- difference quotients ---------------------------------------------------------------------

  // samples: [place, value] at x - 2h, x - h, x, x + h, x + 2h. step: "taken", the distance between
  // the places, or "nominal", a multiple of h.
  // upstream: a weight for each entry of the values, nested as they are.
  function stencil({ formula, step, x, h, samples, upstream = 1 }) {
    if (!(h > 0 && Number.isFinite(h) && Number.isFinite(x))) throw new Refused("x or h");
    const [places, values] = [samples.map((s) => s[0]), samples.map((s) => s[1])];
    if (step === "taken") {
      if (!all(places, Number.isFinite)) throw new Refused("x + h is not finite");
      if (places[1] === x || places[3] === x) throw new Refused("h vanishes against x");
    }
    const weights = flat(upstream);
    const slope = (low, high) => {
      const run = step === "taken" ? places[high] - places[low] : (high - low) * h;
      const [from, to] = [flat(values[low]), flat(values[high])];
      return weights.reduce((sum, u, k) => sum + u * (to[k] - from[k]), 0) / run;
    };
    if (formula === "forward") return slope(2, 3);
    if (formula === "central") return slope(1, 3);
    if (formula === "five-point") return slope(1, 3) + (slope(1, 3) - slope(0, 4)) / 3;
    throw new Error(`unknown formula ${formula}`);
  }

  // --- rules ------------------------------------------------------------------------------------

  // Entries that are close by atol + rtol |numeric|, whatever else a rule says of infinities.
  const within = (a, n, i, rtol, atol) => Math.abs(a[i] - n[i]) <= atol + rtol * Math.abs(n[i]);

  // A rule gets analytic a, numeric n, the absolute errors e, and { rtol, atol, floor }.
  const rules = {
    reference(a, n, e, { rtol, atol }) {
      if (!all([rtol, atol], (t) => 0 <= t && t < Infinity)) throw new Refused("a tolerance");
      const near = (_, i) => e[i] < Infinity && within(a, n, i, rtol, atol);
      return { close: a.length > 0 && all(a, near) };
    },
    numpy: (a, n, e, { rtol, atol }) => ({
      close: all(a, (x, i) => x === n[i] || (Number.isFinite(n[i]) && within(a, n, i, rtol, atol))),
    }),
    torch: (a, n, e, { rtol, atol }) => ({
      close: all(a, (x, i) => x === n[i] || (e[i] < Infinity && within(a, n, i, rtol, atol))),
    }),
    warp: (a, n, e, given) => ({
      ...rules.numpy(something(a), n, e, given),
      relative: a.map((x, i) => Math.abs((x - n[i]) / (n[i] + 1e-8))),
    }),
    tvm(a, n, e, { rtol, atol }) {
      const [distance, size] = [length(e), length(something(n))];
      if (!Number.isFinite(distance + size)) throw new Refused("a norm is not finite");
      const agrees = (x, i) => e[i] < atol + rtol * Math.abs(n[i]);
      return {
        close: distance <= atol * Math.sqrt(a.length) + rtol * size,
        error: distance,
        percent: (100 * a.filter((x, i) => !agrees(x, i)).length) / a.length,
      };
    },
    "cs231n-max": (a, n, e, { rtol, floor = 0 }) =>
      quotients(a, n, e, rtol, (x, y) => Math.max(Math.abs(x), Math.abs(y), floor) || 1),
    "cs231n-sum": (a, n, e, { rtol, floor = 0 }) =>
      quotients(a, n, e, rtol, (x, y) => Math.max(Math.abs(x) + Math.abs(y), floor)),
    "cs231n-unguarded": (a, n, e, { rtol }) =>
      quotients(a, n, e, rtol, (x, y) => Math.abs(x) + Math.abs(y)),
    jax(a, n, e, { rtol, atol }) {
      const [r, t] = [rtol * a.length, atol * a.length];
      const both = (x, y) => Number.isFinite(x) && Number.isFinite(y);
      const same = (x, y) => x === y || (Number.isNaN(x) && Number.isNaN(y));
      return { close: all(a, (x, i) => same(x, n[i]) || (both(x, n[i]) && within(a, n, i, r, t))) };
    },
    hips: (a, n, e, { rtol, atol }) => ({
      close: all(a, (x, i) => e[i] < atol || e[i] / Math.abs(x + n[i]) < rtol),
    }),
    scipy: (a, n, e, { atol }) => ({ close: length(e) <= atol, error: length(e) }),
    ceres(a, n, e, { rtol }) {
      const size = (x, y) => (x === 0 || y === 0 ? 1 : Math.max(Math.abs(x), Math.abs(y)));
      const error = e.map((v, i) => v / size(a[i], n[i]));
      return { close: all(error, (v) => v < rtol), error };
    },
  };

  function quotients(a, n, e, rtol, size) {
    const error = something(e).map((v, i) => v / size(a[i], n[i]));
    return { close: all(error, (v) => v <= rtol), error };
  }

  function something(entries) {
    if (!entries.length) throw new Refused("there is nothing to compare");
    return entries;
  }

  function compare({ rule, analytic, numeric, ...given }) {
    if (shape(analytic) !== shape(numeric)) throw new Refused("the shapes differ");
    const [a, n] = [flat(analytic), flat(numeric)];
    const e = a.map((x, i) => Math.abs(x - n[i]));
    const told = { error: e, ...rules[rule](a, n, e, given) };
    const nested = (value) => (Array.isArray(value) ? arranged(value, analytic) : value);
    return Object.fromEntries(Object.entries(told).map(([key, value]) => [key, nested(value)]));
  }

  return { Refused, stencil: (q) => ({ slope: stencil(q) }), compare };
})();

// --8<-- [start:adapter]
// --- the adapter: reals are strings on the wire, one line of JSON each way ------------------------

if (typeof require !== "undefined" && typeof module !== "undefined" && require.main === module) {
  const words = new Set(["id", "ask", "rule", "formula", "step"]);
  const number = { inf: Infinity, "-inf": -Infinity, nan: NaN };
  const real = (text) => number[text] ?? Number(text);
  const read = (key, value) => (typeof value === "string" && !words.has(key) ? real(value) : value);
  const write = (key, value) => (typeof value === "number" ? String(value) : value);
  const hello = { protocol: 1, name: "checker.js", answers: ["stencil", "compare"] };

  require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, ask, ...question } = JSON.parse(line, read);
    let reply = hello;
    try {
      if (ask !== "hello") reply = JSON.parse(JSON.stringify(gradcheck[ask](question), write));
    } catch (error) {
      reply = error instanceof gradcheck.Refused ? { refused: error.message } : { problem: `${error}` };
    }
    console.log(JSON.stringify({ id, ...reply }));
  });
}
// --8<-- [end:adapter]
