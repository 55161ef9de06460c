// A curve around a point, magnified until the step fills the picture: curvature, a line, stairs.

"use strict";

figures.zoom = (() => {
  // What each page shows. With + * / alone, the numbers are the same on every machine.
  const scenes = {
    forward: { f: (x) => x * x * x + 10, slope: (x) => 3 * x * x, x: 0.4, formulas: ["forward"] },
    central: { f: (x) => 1 / x, slope: (x) => -1 / (x * x), x: 0.8, formulas: ["forward", "central"] },
  };
  const steps = figures.vCurve.steps.filter((h) => h < 0.2);
  const END = 1.5; // of the picture, in steps

  // Both axes count in steps: a place t is x + t h, and a height is a rise of f over h |f'|.
  function seen({ f, slope, x, formulas }, h) {
    const truth = slope(x);
    const height = (place) => (f(place) - f(x)) / (h * Math.abs(truth));
    const samples = [x - 2 * h, x - h, x, x + h, x + 2 * h].map((place) => [place, f(place)]);
    const measured = formulas.map((formula) => {
      const value = gradcheck.stencil({ formula, step: "taken", x, h, samples }).slope;
      const ends = [formula === "central" ? x - h : x, x + h];
      const points = ends.map((place) => [(place - x) / h, height(place)]);
      return { formula, value, error: Math.abs(value / truth - 1), points };
    });
    const places = Array.from({ length: 301 }, (_, k) => k / 100 - END);
    return { truth, measured, curve: places.map((t) => [t, height(x + t * h)]) };
  }

  return { scenes, steps, seen, END };
})();

figures.add("zoom", (live, { show }) => {
  const { html, svg, short } = figures;
  const { scenes, steps, seen, END } = figures.zoom;
  const inks = figures.vCurve.formulas;
  const scene = scenes[show];
  const state = { step: steps.length - 1 };

  const label = "The curve near the point, and its measured slope; the text below has the numbers";
  const { redraw } = figures.canvas(live, label, (picture, width, height) => {
    const { truth, measured, curve } = seen(scene, steps[state.step]);
    const ticks = [-1, 0, 1].map((k) => [k, ["x − h", "x", "x + h"][k + 1]]);
    const across = { from: -END, to: END, ticks, label: `x = ${scene.x}` };
    const up = { from: -2, to: 2, ticks: [[0, "f(x)"]], label: "" };
    const plot = figures.axes(picture, width, height, across, up);
    const at = ([t, rise]) => [plot.x(t), plot.y(rise)];
    const draw = (ink, points) =>
      plot.inside.append(svg("polyline", { class: ink, points: figures.path(points.map(at)) }));
    const straight = (ink, steep, [t, rise]) =>
      draw(`${ink} dashed`, [-END, END].map((end) => [end, rise + steep * (end - t)]));

    draw("axis", curve);
    straight("four", Math.sign(truth), [0, 0]);
    for (const { formula, value, points } of measured) {
      straight(inks[formula], value / Math.abs(truth), points[0]);
      for (const point of points) {
        const [[cx, cy], [, below]] = [at(point), at([0, point[0] * Math.sign(truth)])];
        const gap = { class: "four ink", x1: cx, x2: cx, y1: cy, y2: below };
        plot.inside.append(svg("line", gap), svg("circle", { class: inks[formula], cx, cy, r: 5 }));
      }
    }
  });

  const status = html("p", { role: "status" });
  const says = ({ formula, value, error }) =>
    say("{name} {value}, off by {off} %", { name: say(formula), value: short(value, 3), off: short(100 * error, 1) });
  function changed() {
    const h = steps[state.step];
    const { truth, measured } = seen(scene, h);
    const [slope, all] = [short(truth, 5), measured.map(says).join(say("; "))];
    status.textContent = say("The slope is {slope}. Measured with h = {h}: {all}.", { slope, h, all });
    redraw();
  }
  const range = { min: 0, max: steps.length - 1, value: state.step, says: (k) => `h = ${steps[k]}` };
  const step = figures.slider("Step", range, (k) => {
    state.step = k;
    changed();
  });
  const keys = scene.formulas.map((name) => figures.key(inks[name], `measured, ${name}`));
  live.append(figures.controls(step, figures.key("four", "slope of f"), ...keys), status);
  changed();
});
