// A layer in few digits: its residuals against the step, and what two steps leave of them.

"use strict";

figures.lowPrecision = (() => {
  const [n, lines, lost] = [16, 40, 5 * 16 + 7];
  const digits = { float32: 24, float16: 11, bfloat16: 8 };
  const claims = { right: "right", large: "5 % too large", entry: "one entry of 256 is 0" };
  const steps = Array.from({ length: 14 }, (_, k) => 2 ** -k);
  const { sqrt } = Math;
  const each = (count, value) => Array.from({ length: count }, (_, k) => value(k));
  const total = (terms) => terms.reduce((sum, term) => sum + term);
  const square = (value) => value * value;

  // Numbers between -1 and 1, the same for the same seed and stream.
  function uniform(count, seed, stream) {
    const first = Math.imul(seed, 0x9e3779b9) + Math.imul(stream, 0x1000000);
    const bits = (k) => figures.lines.hash((first + k) | 0) >>> 0;
    return each(count, (k) => (2 * bits(k)) / 2 ** 32 - 1);
  }

  // n x n random signs, times sizes between 1/2 and 3/2.
  const drawn = (seed, stream) =>
    uniform(n * n, seed, stream).map((u) => (u < 0 ? u - 0.5 : u + 0.5));

  // Keeps this many binary digits: Veltkamp's splitting.
  function rounded(value, kept) {
    const large = (2 ** (53 - kept) + 1) * value;
    return large - (large - value);
  }

  // Rounds at random, up or down: each of these many places meets the roundings elsewhere.
  const place = (x, kept, random) =>
    x.map((value, at) => rounded(value * (1 + random[at] * 2 ** -kept), kept));

  const across = (a) => each(n * n, (at) => a[(at % n) * n + Math.floor(at / n)]);
  const product = (a, b) =>
    each(n * n, (at) => {
      const [row, column] = [at - (at % n), at % n];
      let sum = a[row] * b[column];
      for (let k = 1; k < n; k += 1) sum += a[row + k] * b[k * n + column];
      return sum;
    });

  // z / sqrt(1 + z * z) for z = x @ W, both in few digits.
  const layer = (x, W, kept) =>
    product(x, W).map((sum) => {
      const z = rounded(sum, kept);
      return rounded(z / sqrt(1 + z * z), kept);
    });

  // Residuals, a row for each step; claimed slopes, one for each line; and the error of the claim.
  function residuals({ claim, precision, seed }) {
    const [x, W] = [drawn(0, 0).map((value) => value / 4), drawn(0, 1)];
    const slope = product(x, W).map((z) => 1 / ((1 + z * z) * sqrt(1 + z * z)));
    const factor = each(n * n, (at) => (claim === "large" ? 1.05 : 1));
    if (claim === "entry") factor[lost] = 0;
    const turned = across(x);
    const squares = product(turned.map(square), slope.map(square)); // of the Jacobian
    const sum = (part) => total(squares.map((size, at) => square(part(factor[at])) * size));
    const error = sqrt(sum((value) => value - 1) / sum((value) => value));
    const [r, claimed, kept] = [steps.map(() => []), [], digits[precision]];
    for (let k = 0; k < lines; k += 1) {
      const [v, u] = [drawn(seed, 2 * k + 2), drawn(seed, 2 * k + 3)];
      const right = product(turned, u.map((value, at) => value * slope[at]));
      const vjp = right.map((value, at) => factor[at] * value);
      claimed.push(total(vjp.map((value, at) => value * v[at])));
      const random = [2, 3].map((i) =>
        uniform(steps.length * n * n, seed, 2 * (lines + k) + i),
      );
      steps.forEach((h, step) => {
        const [ahead, behind] = [h, -h].map((t, i) => {
          const moved = W.map((value, at) => value + t * v[at]);
          return place(moved, kept, random[i].slice(step * n * n));
        });
        const [up, down] = [layer(x, ahead, kept), layer(x, behind, kept)];
        const predicted = total(vjp.map((value, at) => value * (ahead[at] - behind[at])));
        const rise = total(u.map((value, at) => value * (up[at] - down[at])));
        r[step].push((predicted - rise) / (2 * h));
      });
    }
    return { r, claimed, error };
  }

  // In parts of the claimed slopes: the root mean square of the residuals at each step, the mean
  // product of each two neighbors and its standard error, and the error of the claim.
  function numbers(asked) {
    const { r, claimed, error } = residuals(asked);
    const size = total(claimed.map(square)) / lines;
    const rms = r.map((row) => sqrt(total(row.map(square)) / lines / size));
    const products = r.slice(1).map((row, i) => row.map((value, k) => (r[i][k] * value) / size));
    const mean = products.map((row) => total(row) / lines);
    const doubt = products.map((row, i) =>
      sqrt(total(row.map((value) => square(value - mean[i]))) / (lines - 1) / lines),
    );
    return { rms, mean, doubt, error };
  }

  return { steps, lines, digits, claims, numbers };
})();

figures.add("low_precision", (live) => {
  const { html, svg, short } = figures;
  const { steps, lines, digits, claims, numbers } = figures.lowPrecision;
  const state = { claim: "large", precision: "bfloat16", seed: 0, step: 4 };
  const lowest = { float32: 1e-6, float16: 1e-4, bfloat16: 1e-3 };
  const last = steps.length - 2; // of the pairs of steps
  let [found, x] = [null, null];
  const percent = (value) => `${short(100 * value, 1)} %`;
  const root = (value) => Math.sqrt(Math.max(value, 0));
  const said = (h) => (h === 1 ? "1" : `1/${1 / h}`);

  const label = "Residuals and products against the step; the table below has the numbers";
  const { picture, redraw } = figures.canvas(live, label, (picture, width, height) => {
    const across = { from: steps.at(-1) / 1.3, to: 1.3, log: true, label: "step h" };
    across.ticks = steps.filter((_, k) => k % 3 === 0).map((h) => [h, said(h)]);
    const from = lowest[state.precision];
    const up = { from, to: 10, log: true, label: "% of the whole" };
    up.ticks = [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10]
      .filter((part) => part >= from)
      .map((part) => [part, short(100 * part)]);
    const plot = figures.axes(picture, width, height, across, up);
    ({ x } = plot);
    const y = (value) => plot.y(Math.max(value, from));
    const h = steps[state.step];
    const { rms, mean, error } = found;
    const inside = (...parts) => plot.inside.append(...parts);
    for (const at of [h, h / 2])
      inside(svg("line", { class: "axis", x1: x(at), x2: x(at), y1: 0, y2: height }));
    const points = figures.path(steps.map((step, k) => [x(step), y(rms[k])]));
    inside(svg("polyline", { class: "one", points }));
    if (error)
      inside(
        svg("polyline", {
          class: "three dashed",
          points: figures.path([[x(across.from), y(error)], [x(across.to), y(error)]]),
        }),
      );
    mean.forEach((value, k) => {
      const [cx, cy] = [x(steps[k] / Math.SQRT2), y(root(value))];
      inside(svg("circle", { class: "two", cx, cy, r: k === state.step ? 6 : 3.5 }));
    });
    picture.append(svg("rect", { ...plot.box, class: "handle sideways" }));
  });

  const status = html("p", { role: "status" });
  const table = figures.table("In parts of the claimed slopes", ["", "at this pair of steps"]);
  const spot = { cx: 16, cy: 5, r: 4 };

  function changed() {
    found = numbers(state);
    moved();
  }

  function moved() {
    const { rms, mean, doubt, error } = found;
    const k = state.step;
    const limit = root(Math.max(mean[k], 0) + 3 * doubt[k]);
    const left = mean[k] > 0 ? percent(root(mean[k])) : "nothing: their mean is below 0";
    status.textContent =
      `At h = ${said(steps[k])} and ${said(steps[k + 1])} the residuals are ` +
      `${percent(rms[k])} and ${percent(rms[k + 1])} of the claimed slopes. The products of ` +
      `${lines} lines leave ${left}. The claim is off by ${percent(error)}.`;
    table.show([
      [figures.key("one", "residuals"), `${percent(rms[k])} and ${percent(rms[k + 1])}`],
      [figures.key("two", "their products", spot), mean[k] > 0 ? percent(root(mean[k])) : "below 0"],
      ["with three standard errors", `at most ${percent(limit)}`],
      [figures.key("three", "error of the claim"), percent(error)],
    ]);
    redraw();
  }

  // The slider has short steps on the left, as the picture.
  const says = (at) => `h = ${said(steps[last - at])}`;
  const range = { min: 0, max: last, value: last - state.step, says };
  const slider = figures.slider("Steps", range, (at) => {
    state.step = last - at;
    moved();
  });
  const set = (key) => (value) => {
    state[key] = value;
    changed();
  };
  const button = html("button", { type: "button", class: "figure-press" }, "Other lines");
  button.addEventListener("click", () => set("seed")(state.seed + 1));
  const kinds = Object.keys(digits).map((kind) => [kind, kind]);
  live.append(
    figures.controls(
      figures.choice("Gradient", Object.entries(claims), state.claim, set("claim")),
      figures.choice("Precision", kinds, state.precision, set("precision")),
      slider,
      button,
    ),
    status,
    table.node,
  );
  figures.drag(
    picture,
    () => true,
    ({ x: at }) => {
      const k = Math.round(-Math.log2(x.invert(at)) - 0.5);
      state.step = Math.max(0, Math.min(last, k));
      slider.set(last - state.step);
      moved();
    },
  );
  changed();
});
