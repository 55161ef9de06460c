// The V-curve: how wrong a difference quotient is, against its step.

"use strict";

figures.vCurve = (() => {
  // Each of these rounds a result of + - * / sqrt to its precision.
  const precisions = { float64: (value) => value, float32: Math.fround };

  // f(x, round), and its slope in float64. The first three use nothing but + - * / sqrt, so that
  // their numbers are the same to the last bit on every machine, and in Python.
  const functions = {
    cube: { text: "x³", f: (x, round) => round(round(x * x) * x), slope: (x) => 3 * x * x },
    reciprocal: { text: "1/x", f: (x, round) => round(1 / x), slope: (x) => -1 / (x * x) },
    root: { text: "√x", f: (x, round) => round(Math.sqrt(x)), slope: (x) => 0.5 / Math.sqrt(x) },
    exp: { text: "exp x", f: (x, round) => round(Math.exp(x)), slope: Math.exp },
    sine: { text: "sin x", f: (x, round) => round(Math.sin(x)), slope: Math.cos },
  };

  const formulas = { forward: "one", central: "two", "five-point": "three" };

  // Four steps in each decade, as decimals: the same on every machine, unlike 10 ** k.
  const texts = [];
  for (let k = 16; k > 0; k -= 1)
    for (const m of ["1", "1.8", "3.2", "5.6"]) texts.push(`${m}e-${k}`);
  texts.push("1");
  const steps = texts.map(Number);

  // The slope by a formula, NaN where a sample is not finite or the step does not change x.
  function slope({ formula, name, precision, x, h }) {
    const round = precisions[precision];
    const here = round(x);
    const places = [-2, -1, 0, 1, 2].map((k) => round(here + round(k * h)));
    const samples = places.map((place) => [place, functions[name].f(place, round)]);
    try {
      return gradcheck.stencil({ formula, step: "taken", x: here, h, samples }).slope;
    } catch (refused) {
      if (!(refused instanceof gradcheck.Refused)) throw refused;
      return NaN;
    }
  }

  // At some points rounding is lucky, so the worst of nine points counts, from x to 9/8 x.
  const beside = (x, precision) =>
    Array.from({ length: 9 }, (_, k) => precisions[precision](x + (x * k) / 64));

  // The largest relative error there; NaN where a slope is missing.
  function error(asked) {
    const points = beside(asked.x, asked.precision);
    const analytic = points.map(functions[asked.name].slope);
    const numeric = points.map((x) => slope({ ...asked, x }));
    const { error } = gradcheck.compare({
      rule: "cs231n-max",
      analytic,
      numeric,
      rtol: 0,
      floor: 0,
    });
    return Math.max(...error);
  }

  return { functions, formulas, precisions, texts, steps, slope, error };
})();

figures.add("v_curve", (live, { show }) => {
  const { html, svg, short } = figures;
  const { functions, precisions, texts, steps, error } = figures.vCurve;
  const shown = Object.entries(figures.vCurve.formulas).filter(([name]) =>
    show.split(" ").includes(name),
  );
  const state = { name: "reciprocal", precision: "float64", x: 0.8, step: texts.indexOf("1e-5") };
  const LOWEST = 1e-16;

  const across = { from: 1e-16, to: 1, log: true, label: "step h" };
  const up = { from: LOWEST, to: 10, log: true, label: "largest relative error" };
  let [curves, x] = [{}, null];

  const label = "The errors against the step; the table below has the numbers";
  const { picture, redraw } = figures.canvas(live, label, (picture, width, height) => {
    const every = width < 450 ? 4 : 2;
    across.ticks = [];
    for (let k = -16; k <= 0; k += every) across.ticks.push([Number(`1e${k}`), k ? `1e${k}` : "1"]);
    up.ticks = [-16, -12, -8, -4, 0].map((k) => [Number(`1e${k}`), k ? `1e${k}` : "1"]);
    const plot = figures.axes(picture, width, height, across, up);
    ({ x } = plot);
    const y = (value) => plot.y(Math.max(value, LOWEST));
    const h = steps[state.step];
    plot.inside.append(svg("line", { class: "axis", x1: x(h), x2: x(h), y1: 0, y2: height }));
    for (const [formula, ink] of shown) {
      const seen = steps.map((step, k) => [step, curves[formula][k]]).filter(([, e]) => e >= 0);
      const points = figures.path(seen.map(([step, e]) => [x(step), y(e)]));
      plot.inside.append(svg("polyline", { class: `${ink} dashed`, points }));
      const e = curves[formula][state.step];
      if (e >= 0) plot.inside.append(svg("circle", { class: ink, cx: x(h), cy: y(e), r: 5 }));
    }
    picture.append(svg("rect", { ...plot.box, class: "handle sideways" }));
  });

  const status = html("p", { role: "status" });
  const table = figures.table("How far off the slope is", ["formula", "at this step", "at best"]);
  const nothing = "no slope";

  function told([formula, ink]) {
    const e = curves[formula][state.step];
    const least = Math.min(...curves[formula].filter((v) => v >= 0));
    const best = texts[curves[formula].indexOf(least)];
    return [
      figures.key(ink, formula),
      e >= 0 ? short(e, 1) : nothing,
      best ? say("{least} at h = {best}", { least: short(least, 1), best }) : nothing,
    ];
  }

  function changed() {
    for (const [formula] of shown)
      curves[formula] = steps.map((h) => error({ ...state, formula, h }));
    moved();
  }

  function moved() {
    const at = ([formula]) => {
      const e = curves[formula][state.step];
      return `${say(formula)} ${e >= 0 ? short(e, 1) : say(nothing)}`;
    };
    const [h, all] = [texts[state.step], shown.map(at).join(say(", "))];
    status.textContent = say("Largest relative error at h = {h}: {all}.", { h, all });
    table.show(shown.map(told));
    redraw();
  }

  const says = (k) => `h = ${texts[k]}`;
  const step = figures.slider(
    "Step",
    { min: 0, max: steps.length - 1, value: state.step, says },
    (k) => {
      state.step = k;
      moved();
    },
  );
  const set =
    (key, read = (value) => value) =>
    (value) => {
      state[key] = read(value);
      changed();
    };
  const names = Object.entries(functions).map(([name, { text }]) => [name, text]);
  const range = (x) => say("{low} to {high}", { low: x, high: short((9 * x) / 8) });
  const points = [0.008, 0.8, 1, 8, 800].map((x) => [x, range(x)]);
  const kinds = Object.keys(precisions).map((kind) => [kind, kind]);
  live.append(
    figures.controls(
      step,
      figures.choice("Function", names, state.name, set("name")),
      figures.choice("x", points, state.x, set("x", Number)),
      figures.choice("Precision", kinds, state.precision, set("precision")),
    ),
    status,
    table.node,
  );
  figures.drag(
    picture,
    () => true,
    ({ x: at }) => {
      const exponent = Math.log10(x.invert(at));
      state.step = Math.max(0, Math.min(steps.length - 1, Math.round((exponent + 16) * 4)));
      step.set(state.step);
      moved();
    },
  );
  changed();
});
