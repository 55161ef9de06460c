// The kink: difference quotients of ReLU at 0 and near it.

"use strict";

figures.kink = (() => {
  const relu = (x) => Math.max(x, 0);
  const points = Array.from({ length: 41 }, (_, k) => (k - 20) / 20);
  const steps = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];

  const sampled = (place) => [place, relu(place)];
  const quotient = (formula, places, h) =>
    gradcheck.stencil({ formula, step: "taken", x: places[2], h, samples: places.map(sampled) })
      .slope;

  // The slope to the left is a forward difference too: the one that ends in x.
  function slopes(x, h) {
    const around = [x - 2 * h, x - h, x, x + h, x + 2 * h];
    return {
      left: quotient("forward", [x - 3 * h, x - 2 * h, x - h, x, x + h], h),
      right: quotient("forward", around, h),
      central: quotient("central", around, h),
    };
  }

  // The jump of the slope at h, h/2, h/4: half of it each time where f is smooth, 1 at the kink.
  const jumps = (x, h) =>
    [h, h / 2, h / 4].map((step) => slopes(x, step).right - slopes(x, step).left);

  // The verdict of a fixed step on a claimed slope: the central difference decides.
  const accepted = (x, h, claim) =>
    gradcheck.compare({
      rule: "reference",
      analytic: [claim],
      numeric: [slopes(x, h).central],
      rtol: 1e-6,
      atol: 1e-6,
    }).close;

  // The verdict of check_gradient: its steps shrink until they fit between x and the kink, so that
  // only x = 0 has no single slope. (The tests compare them, at every claim of the figure.)
  function verdict(x, claim) {
    if (x === 0) return claim >= 0 && claim <= 1 ? "unsure" : "fail";
    return claim === (x > 0 ? 1 : 0) ? "pass" : "fail";
  }

  return { relu, points, steps, slopes, jumps, accepted, verdict };
})();

figures.add("kink", (live) => {
  const { html, svg, short } = figures;
  const { relu, points, steps, slopes, jumps, accepted, verdict } = figures.kink;
  const state = { x: 0.1, h: 0.2, claim: 1 };
  let scale = null;

  const ticks = [-1, 0, 1].map((value) => [value, String(value)]);
  const label = "ReLU with the slopes that the table below has";
  const { picture, redraw } = figures.canvas(live, label, (picture, width, height) => {
    const across = { from: -1.5, to: 1.5, ticks, label: "x" };
    const plot = figures.axes(picture, width, height, across, {
      from: -0.4,
      to: 1.2,
      ticks,
      label: "f(x)",
    });
    scale = plot.x;
    const at = (x, value = relu(x)) => [plot.x(x), plot.y(value)];
    const line = (ink, ...ends) => {
      plot.inside.append(svg("polyline", { class: ink, points: figures.path(ends) }));
    };
    const { x, h } = state;
    const { left, right } = slopes(x, h);
    const beyond = 0.35; // a secant is drawn beyond its samples
    line("axis", at(-2), at(0), at(2));
    line(
      "one dashed",
      at(x - beyond, relu(x) - beyond * right),
      at(x + h + beyond, relu(x + h) + beyond * right),
    );
    line(
      "two dashed",
      at(x - h - beyond, relu(x - h) - beyond * left),
      at(x + beyond, relu(x) + beyond * left),
    );
    line("three dashed", at(x - h), at(x + h));
    for (const [ink, place] of [
      ["two", x - h],
      ["one", x + h],
      ["four", x],
    ]) {
      const [cx, cy] = at(place);
      plot.inside.append(svg("circle", { class: ink, cx, cy, r: 5 }));
    }
    picture.append(svg("rect", { ...plot.box, class: "handle sideways" }));
  });

  const table = figures.table("The slopes", ["slope", "value"]);
  const status = html("p", { role: "status" });
  const verdicts = {
    pass: "the check's steps shrink until they fit between x and the kink, and it says pass",
    fail: "the check says fail: that slope is not there, on either side",
    unsure: "the check says unsure (kink): every slope from 0 to 1 is possible, and none is proved",
  };

  function changed() {
    const { x, h, claim } = state;
    const { left, right, central } = slopes(x, h);
    const fixed = accepted(x, h, claim) ? "accepts" : "refuses";
    const said = verdict(x, claim);
    status.replaceChildren(
      `A slope of ${short(claim)} at x = ${short(x)}: a fixed step of ${short(h)} sees ${short(central, 3)} ` +
        `and ${fixed} it; ${verdicts[said]}.`,
    );
    status.className = { pass: "passes", fail: "fails", unsure: "unsure" }[said];
    table.show([
      [figures.key("two", "to the left"), short(left, 3)],
      [figures.key("one", "to the right"), short(right, 3)],
      [figures.key("three", "central difference"), short(central, 3)],
      [
        "right − left, at h, h/2, h/4",
        jumps(x, h)
          .map((jump) => short(jump, 3))
          .join(", "),
      ],
    ]);
    redraw();
  }

  const set = (key, read) => (value) => {
    state[key] = read(value);
    changed();
  };
  const place = figures.slider(
    "Point",
    {
      min: 0,
      max: points.length - 1,
      value: points.indexOf(state.x),
      says: (k) => `x = ${short(points[k])}`,
    },
    set("x", (k) => points[k]),
  );
  const step = {
    min: 0,
    max: steps.length - 1,
    value: steps.indexOf(state.h),
    says: (k) => `h = ${steps[k]}`,
  };
  const claims = [0, 0.5, 1, 2].map((slope) => [slope, String(slope)]);
  live.append(
    figures.controls(
      place,
      figures.slider(
        "Step",
        step,
        set("h", (k) => steps[k]),
      ),
      figures.choice("Slope claimed", claims, state.claim, set("claim", Number)),
    ),
    status,
    table.node,
  );
  figures.drag(
    picture,
    () => true,
    ({ x: at }) => {
      const k = Math.max(0, Math.min(points.length - 1, Math.round(scale.invert(at) * 20) + 20));
      place.set(k);
      state.x = points[k];
      changed();
    },
  );
  changed();
});
