// Random lines: how often all of them miss the largest error, and which entry they name.

"use strict";

figures.lines = (() => {
  // One entry of 64 is off by `size`; `others` of them are off by 1.
  const [entries, culprit, most, draws] = [64, 40, 20, 100_000];
  const wrong = (others) =>
    Array.from({ length: others }, (_, k) => (culprit + 27 * (k + 1)) % entries);

  const { abs, imul } = Math;

  // Looks random, and is the same everywhere: a hash of 32 bits, C. Wellons's lowbias32.
  function hash(n) {
    n = imul(n ^ (n >>> 16), 0x7feb352d);
    n = imul(n ^ (n >>> 15), 0x846ca68b);
    return n ^ (n >>> 16);
  }

  // The signs of one line of one draw, 32 to a number: where a bit is set, +1.
  function signs(seed, draw, line) {
    const start = 2 * (draw * most + line) + imul(seed, 0x9e3779b9);
    return [hash(start), hash(start + 1)];
  }
  const sign = (bits, entry) => 2 * ((bits[entry >> 5] >>> (entry & 31)) & 1) - 1;

  function ones(n) {
    n -= (n >>> 1) & 0x55555555;
    n = (n & 0x33333333) + ((n >>> 2) & 0x33333333);
    return imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }

  // The residual of a line: the sum of error times sign.
  function shown({ size, others }) {
    const mask = [0, 0];
    for (const entry of wrong(others)) mask[entry >> 5] |= 1 << (entry & 31);
    return (bits) =>
      size * sign(bits, culprit) +
      2 * (ones(bits[0] & mask[0]) + ones(bits[1] & mask[1])) -
      others;
  }

  // In how many draws the first k lines all show less than the largest error, for k = 0, 1, ...
  function missed(errors, seed) {
    const [counts, residual] = [Array(most + 1).fill(0), shown(errors)];
    for (let draw = 0; draw < draws; draw += 1) {
      let k = 0;
      while (k < most && abs(residual(signs(seed, draw, k))) < errors.size) k += 1;
      counts[k] += 1;
    }
    for (let k = most; k > 0; k -= 1) counts[k - 1] += counts[k];
    return counts;
  }

  // The probability that one line does: the other errors add up to between 0 and 2 size.
  function chance({ size, others }) {
    let [sum, share] = [0, 0.5 ** others];
    for (let minus = 0; minus <= others; minus += 1) {
      const total = others - 2 * minus;
      if (total > 0 && total < 2 * size) sum += share;
      share *= (others - minus) / (minus + 1);
    }
    return sum;
  }

  // The mean of residual times sign, for every entry: an estimate of its error.
  function correlations(errors, seed, draw, lines) {
    const [sums, residual] = [new Float64Array(entries), shown(errors)];
    for (let line = 0; line < lines; line += 1) {
      const bits = signs(seed, draw, line);
      const r = residual(bits);
      for (let entry = 0; entry < entries; entry += 1)
        sums[entry] += r * sign(bits, entry);
    }
    return Array.from(sums, (sum) => sum / lines);
  }

  // The entries with the largest one.
  function suspects(means) {
    const sizes = means.map(abs);
    const largest = Math.max(...sizes);
    return [...sizes.keys()].filter((entry) => sizes[entry] === largest);
  }

  // In how many of the first 1000 draws the culprit alone is suspected.
  function named(errors, seed, lines) {
    let count = 0;
    for (let draw = 0; draw < 1000; draw += 1) {
      const found = suspects(correlations(errors, seed, draw, lines));
      count += found.length === 1 && found[0] === culprit;
    }
    return count;
  }

  return { hash, entries, culprit, most, draws, wrong, missed, chance, correlations, suspects, named };
})();

figures.add("lines", (live) => {
  const { html, svg, short } = figures;
  const { entries, culprit, most, draws, wrong, missed, chance } = figures.lines;
  const state = { lines: 12, size: 6, others: 31, seed: 0 };
  let [counts, x] = [[], null];

  const share = (value) => (value ? short(value) : "0");
  const count = (value) => (value < 10 ? short(value) : String(Math.round(value)));
  const missing = "The share of draws that miss against lines; the table below has the numbers";
  const { picture, redraw } = figures.canvas(live, missing, (picture, width, height) => {
    const across = { from: 0, to: most + 0.5, label: "lines K" };
    across.ticks = [1, 4, 8, 12, 16, 20].map((k) => [k, String(k)]);
    const up = { from: 3e-8, to: 1.5, log: true, label: "share that misses" };
    up.ticks = [0, -2, -4, -6].map((k) => [Number(`1e${k}`), k ? `1e${k}` : "1"]);
    const plot = figures.axes(picture, width, height, across, up);
    ({ x } = plot);
    const at = (k, value) => [plot.x(k), plot.y(value)];
    const inside = (...parts) => plot.inside.append(...parts);
    const { lines } = state;
    inside(svg("line", { class: "axis", x1: x(lines), x2: x(lines), y1: 0, y2: height }));
    const ends = (p) => figures.path([at(0, 1), at(most, p ** most)]);
    inside(svg("polyline", { class: "one", points: ends(0.5) }));
    const p = chance(state);
    if (p) inside(svg("polyline", { class: "three dashed", points: ends(p) }));
    counts.forEach((count, k) => {
      if (!k || !count) return;
      const [cx, cy] = at(k, count / draws);
      inside(svg("circle", { class: "four", cx, cy, r: k === lines ? 6 : 3.5 }));
    });
    picture.append(svg("rect", { ...plot.box, class: "handle sideways" }));
  });

  const naming = "Mean of residual times sign for every entry; the text below names the largest";
  const bars = figures.canvas(
    live,
    naming,
    (picture, width, height) => {
      const means = figures.lines
        .correlations(state, state.seed, 0, state.lines)
        .map((mean) => Math.abs(mean));
      const across = { from: -1, to: entries, label: "entry" };
      across.ticks = [0, 20, culprit, 63].map((entry) => [entry, String(entry)]);
      const up = { from: 0, to: 1.3 * Math.max(state.size, ...means), label: "|mean r × sign|" };
      up.ticks = [0, state.size].map((size) => [size, String(size)]);
      if (state.size < 0.15 * up.to) up.ticks.shift(); // no room for both
      const plot = figures.axes(picture, width, height, across, up);
      const bar = Math.max(2, 0.6 * (plot.x(1) - plot.x(0)));
      means.forEach((mean, entry) => {
        const place = { x: plot.x(entry) - bar / 2, y: plot.y(mean), width: bar };
        const ink = entry === culprit ? "two" : "one";
        const size = { height: Math.max(0, plot.y(0) - plot.y(mean)) };
        plot.inside.append(svg("rect", { class: `${ink} bar`, ...place, ...size }));
      });
      const label = { x: plot.x(culprit), y: plot.y(means[culprit]) - 5, "text-anchor": "middle" };
      picture.append(svg("text", { class: "two ink", ...label }, "largest error"));
    },
    0.6,
  );

  const table = figures.table("Share of draws that miss the largest error", [
    "with",
    "measured",
    "expected",
    "at most",
  ]);
  const status = html("p", { role: "status" });

  function verdict(entry) {
    if (entry === culprit) return "the largest error";
    if (!wrong(state.others).includes(entry)) return "which is right";
    return `off by ${state.size === 1 ? "as much" : "less"}`;
  }

  function changed() {
    counts = missed(state, state.seed);
    moved();
  }

  function moved() {
    const { lines, seed } = state;
    const p = chance(state);
    const found = figures.lines.suspects(figures.lines.correlations(state, seed, 0, lines));
    const right = figures.lines.named(state, seed, lines);
    const suspect =
      found.length > 1
        ? `cannot tell ${found.length} entries apart`
        : `suspects entry ${found[0]}, ${verdict(found[0])}`;
    status.textContent =
      `Of ${draws} draws of ${lines} ${lines === 1 ? "line" : "lines"}, ${counts[lines]} miss the ` +
      `error; 2^-K allows ${count(draws * 0.5 ** lines)}. The draw shown ${suspect}; of 1000 draws ` +
      `${right} name entry ${culprit}.`;
    const spot = { cx: 16, cy: 5, r: 4 };
    const row = (name, k) => [
      name,
      figures.key("four", share(counts[k] / draws), spot),
      figures.key("three", share(p ** k)),
      figures.key("one", share(0.5 ** k)),
    ];
    table.show([row("one line", 1), row(lines === 1 ? "K = 1" : `all ${lines}`, lines)]);
    redraw();
    bars.redraw();
  }

  const set =
    (key, after = changed) =>
    (value) => {
      state[key] = Number(value);
      after();
    };
  const range = (key, max, says) => ({ min: 1, max, value: state[key], says });
  const slider = figures.slider(
    "Lines",
    range("lines", most, (k) => `K = ${k}`),
    set("lines", moved),
  );
  const times = (size) => `${size} to 1`;
  const crowd = [0, 1, 3, 7, 15, 31, 63].map((count) => [count, String(count)]);
  const button = html("button", { type: "button", class: "figure-press" }, "Other signs");
  button.addEventListener("click", () => set("seed")(state.seed + 1));
  live.append(
    figures.controls(
      slider,
      figures.slider("Largest error", range("size", 20, times), set("size")),
      figures.choice("Other wrong entries", crowd, state.others, set("others")),
      button,
    ),
    status,
    table.node,
  );
  figures.drag(
    picture,
    () => true,
    ({ x: at }) => {
      slider.set(Math.max(1, Math.min(most, Math.round(x.invert(at)))));
      set("lines", moved)(slider.input.value);
    },
  );
  changed();
});
