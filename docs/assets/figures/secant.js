// A gradient check in one picture: a slope that is claimed, and one that a step measures.

"use strict";

figures.secant = (() => {
  const f = (x) => x * x * x - 3 * x;
  const x = 1.25;
  const steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1];
  const claims = {
    right: { text: "3x² − 3", slope: 3 * x * x - 3 },
    power: { text: "x² − 3, the 3 forgotten", slope: x * x - 3 },
    term: { text: "3x², a term forgotten", slope: 3 * x * x },
    sign: { text: "3 − 3x², the sign", slope: 3 - 3 * x * x },
  };

  function slope(formula, h) {
    const places = [x - 2 * h, x - h, x, x + h, x + 2 * h];
    const samples = places.map((place) => [place, f(place)]);
    return gradcheck.stencil({ formula, step: "taken", x, h, samples }).slope;
  }

  // The error bar: twice the change from half the step, which halves the error or leaves a quarter.
  function measured(formula, h) {
    const value = slope(formula, h);
    return { value, bar: 2 * Math.abs(value - slope(formula, h / 2)) };
  }

  const SHORT = 0.01; // of the slope: with a longer bar no claim passes

  function verdict({ value, bar }, claim) {
    if (Math.abs(claim - value) > bar) return "fail";
    return bar <= SHORT * Math.abs(value) ? "pass" : "unsure";
  }

  return { f, x, steps, claims, slope, measured, verdict };
})();

figures.add("secant", (live) => {
  const { html, svg, short } = figures;
  const { f, x, steps, claims, measured, verdict } = figures.secant;
  const state = { formula: "forward", h: 0.5, claim: "power" };
  let scale = null;

  const label = "A curve, and two slopes at a point: measured with a step, and claimed";
  const ticks = (values) => values.map((value) => [value, value]);
  const { picture, redraw } = figures.canvas(live, label, (picture, width, height) => {
    const across = { from: 0, to: 2.4, ticks: ticks([0, 1, 2]), label: "x" };
    const up = { from: -3.6, to: 3.4, ticks: ticks([-2, 0, 2]), label: "f(x)" };
    const plot = figures.axes(picture, width, height, across, up);
    scale = plot.x;
    const at = (place, value = f(place)) => [plot.x(place), plot.y(value)];
    const line = (ink, ...ends) =>
      plot.inside.append(svg("polyline", { class: ink, points: figures.path(ends) }));
    const through = (slope) => [0, 2.4].map((place) => at(place, f(x) + slope * (place - x)));
    const { value, bar } = measured(state.formula, state.h);
    const [low, high] = [value - bar, value + bar].map(through);
    for (const side of [0, 1]) {
      const wing = figures.path([at(x), low[side], high[side]]);
      plot.inside.append(svg("polygon", { class: "one", points: wing }));
    }
    line("axis", ...Array.from({ length: 61 }, (_, k) => at(k / 25)));
    line("two dashed", ...through(claims[state.claim].slope));
    line("one", ...through(value));
    for (const place of [state.formula === "central" ? x - state.h : x, x + state.h]) {
      const [cx, cy] = at(place);
      plot.inside.append(svg("circle", { class: "one", cx, cy, r: 6 }));
    }
    picture.append(svg("rect", { ...plot.box, class: "handle sideways" }));
  });

  const status = html("p", { role: "status" });
  const says = {
    pass: () => say("the claim is within. PASS"),
    fail: (off) => say("the claim is {off} away. FAIL", { off }),
    unsure: () => say("the claim is within, but ± is more than 1 %. UNSURE: take a shorter step"),
  };

  function changed() {
    const { slope } = claims[state.claim];
    const seen = measured(state.formula, state.h);
    const told = verdict(seen, slope);
    const off = short(Math.abs(seen.value - slope));
    const [value, bar, claim] = [short(seen.value, 4), short(seen.bar), short(slope, 4)];
    const words = { value, bar, claim, verdict: says[told](off) };
    status.textContent = say("Measured {value} ± {bar}, claimed {claim}: {verdict}.", words);
    status.className = { pass: "passes", fail: "fails", unsure: "unsure" }[told];
    redraw();
  }

  const set = (key, read = (value) => value) => (value) => {
    state[key] = read(value);
    changed();
  };
  const step = figures.slider(
    "Step",
    {
      min: 0,
      max: steps.length - 1,
      value: steps.indexOf(state.h),
      says: (k) => `h = ${steps[k]}`,
    },
    set("h", (k) => steps[k]),
  );
  const formulas = ["forward", "central"].map((name) => [name, name]);
  const bugs = Object.entries(claims).map(([name, { text }]) => [name, text]);
  live.append(
    status,
    figures.controls(
      figures.key("one", "measured"),
      figures.key("two", "claimed"),
      step,
      figures.choice("Difference", formulas, state.formula, set("formula")),
      figures.choice("Claim", bugs, state.claim, set("claim")),
    ),
  );
  figures.drag(
    picture,
    () => true,
    ({ x: at }) => {
      const wished = Math.abs(scale.invert(at) - x);
      const near = (h) => Math.abs(h - wished);
      const h = steps.reduce((best, other) => (near(other) < near(best) ? other : best));
      step.set(steps.indexOf(h));
      state.h = h;
      changed();
    },
  );
  changed();
});
