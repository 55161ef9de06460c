// The tolerance plane: the pairs of analytic and numeric value that each rule accepts.

"use strict";

figures.tolerance = (() => {
  // How far apart the two may be. `each` tests both tolerances, each alone: the stricter decides.
  const allowed = {
    atol: (n, { atol }) => atol,
    rtol: (n, { rtol }) => rtol * Math.abs(n),
    each: (n, { atol, rtol }) => Math.min(atol, rtol * Math.abs(n)),
    sum: (n, { atol, rtol }) => atol + rtol * Math.abs(n),
  };

  const reference = (analytic, numeric, rtol, atol) =>
    gradcheck.compare({ rule: "reference", analytic: [analytic], numeric: [numeric], rtol, atol })
      .close;
  const passes = {
    atol: (a, n, { atol }) => reference(a, n, 0, atol),
    rtol: (a, n, { rtol }) => reference(a, n, rtol, 0),
    each: (a, n, { atol, rtol }) => reference(a, n, 0, atol) && reference(a, n, rtol, 0),
    sum: (a, n, { atol, rtol }) => reference(a, n, rtol, atol),
  };

  // Corners of the region of a rule, with numeric values between -view and view.
  function region(rule, given, view) {
    const bend = given.rtol > 0 ? given.atol / given.rtol : view;
    const inner = bend < view ? [bend] : [];
    const places = [-view, ...inner.map((place) => -place), 0, ...inner, view];
    const edge = (sign) => (n) => [n, n + sign * allowed[rule](n, given)];
    return [...places.map(edge(1)), ...places.reverse().map(edge(-1))];
  }

  // A user's row of Warp's table, at Warp's tolerances of the time.
  const warp = { analytic: 4.84e-5, numeric: 2.235e-4, atol: 1e-3, rtol: 1e-2 };

  return { allowed, passes, region, warp };
})();

figures.add("tolerance_plane", (live) => {
  const { html, svg, short } = figures;
  const { allowed, passes, region, warp } = figures.tolerance;
  const state = { ...warp, rule: "sum", view: 2e-3 };
  const rules = {
    atol: "absolute alone",
    rtol: "relative alone",
    each: "both, each tested alone",
    sum: "both added: atol + rtol × |numeric|",
  };
  const SAID =
    "Analytic {analytic}, numeric {numeric}: off by {off}, relative error {relative}. The rule shown ({rule}) allows {bound}: {verdict}.";
  let plot = null;

  const label = "The pairs that pass; the text below has the verdict on the chosen pair";
  const { picture, redraw } = figures.canvas(live, label, (picture, width, height) => {
    const { view, rule, analytic, numeric } = state;
    const ticks = [-1, -0.5, 0, 0.5, 1].map((part) => [part * view, short(part * view)]);
    const axis = { from: -view, to: view, ticks };
    plot = figures.axes(
      picture,
      width,
      height,
      { ...axis, label: "numeric" },
      { ...axis, label: "analytic" },
    );
    const at = ([n, a]) => [plot.x(n), plot.y(a)];
    const inside = (...parts) => plot.inside.append(...parts);
    inside(
      svg("polygon", { class: "three", points: figures.path(region(rule, state, view).map(at)) }),
    );
    inside(
      svg("polyline", {
        class: "axis",
        points: figures.path(
          [
            [-view, -view],
            [view, view],
          ].map(at),
        ),
      }),
    );
    const [wx, wy] = at([warp.numeric, warp.analytic]);
    const words = svg("text", { class: "four ink", x: wx + 9, y: wy + 16 }, say("Warp's row"));
    inside(svg("circle", { class: "four", cx: wx, cy: wy, r: 4 }), words);
    const ink = passes[rule](analytic, numeric, state) ? "three" : "two";
    const [cx, cy] = at([numeric, analytic]);
    inside(
      svg("circle", { class: ink, cx, cy, r: 7 }),
      svg("circle", { class: "handle", cx, cy, r: 24 }),
    );
  });

  const table = figures.table("The same pair under four rules", ["rule", "allowed", "verdict"]);
  const status = html("p", { role: "status" });
  const verdict = (pass) =>
    html("span", { class: pass ? "passes" : "fails" }, pass ? say("✓ passes") : say("✗ fails"));

  function changed() {
    const { analytic, numeric, rule } = state;
    const pair = { analytic: [analytic], numeric: [numeric], rtol: 0, floor: 0 };
    const [relative] = gradcheck.compare({ rule: "cs231n-max", ...pair }).error;
    const pass = passes[rule](analytic, numeric, state);
    const bound = allowed[rule](numeric, state);
    const off = short(Math.abs(analytic - numeric), 4);
    const shown = { analytic: short(analytic, 4), numeric: short(numeric, 4), off, relative: short(relative) };
    const judged = { rule: say(rules[rule]), bound: short(bound, 4), verdict: pass ? say("it passes") : say("it fails") };
    status.textContent = say(SAID, { ...shown, ...judged });
    table.show(
      Object.keys(rules).map((name) => [
        rules[name],
        short(allowed[name](numeric, state), 4),
        verdict(passes[name](analytic, numeric, state)),
      ]),
    );
    redraw();
  }

  const set =
    (key, read = (value) => value) =>
    (value) => {
      state[key] = read(value);
      changed();
    };
  const within = (value) => Math.max(-state.view, Math.min(state.view, value));
  // Sliders count hundredths of the view.
  const sliders = Object.fromEntries(
    ["numeric", "analytic"].map((key) => {
      const range = { min: -100, max: 100, value: 0, says: () => short(state[key], 4) };
      const move = (part) => {
        state[key] = (part / 100) * state.view;
        sliders[key].tell();
        changed();
      };
      return [key, figures.slider(key, range, move)];
    }),
  );
  const settle = () => {
    for (const [key, one] of Object.entries(sliders))
      one.set(Math.round((100 * state[key]) / state.view));
    changed();
  };
  const one = (key, sizes) => {
    const options = sizes.map((size) => [size, short(size)]);
    return figures.choice(key, options, state[key], set(key, Number));
  };
  const atol = one("atol", [0, 1e-8, 1e-4, 1e-3, 1e-2, 0.1]);
  const rtol = one("rtol", [0, 1e-6, 1e-3, 1e-2, 0.1, 0.5]);
  const views = [5e-4, 2e-3, 2e-2, 1].map((size) => [size, `± ${size}`]);
  const view = figures.choice("View", views, state.view, (value) => {
    state.view = Number(value);
    for (const key of ["numeric", "analytic"]) state[key] = within(state[key]);
    settle();
  });
  const button = html("button", { type: "button", class: "figure-press" }, say("Back to Warp's row"));
  button.addEventListener("click", () => {
    Object.assign(state, warp, { view: 2e-3 });
    for (const [part, value] of [
      [atol, warp.atol],
      [rtol, warp.rtol],
      [view, 2e-3],
    ])
      part.set(value);
    settle();
  });
  const rule = figures.choice("Rule", Object.entries(rules), state.rule, set("rule"));
  live.append(
    figures.controls(rule, sliders.numeric, sliders.analytic, atol, rtol, view, button),
    status,
    table.node,
  );
  const begins = (target) => target.matches(".handle");
  figures.drag(picture, begins, ({ x, y }) => {
    state.numeric = within(plot.x.invert(x));
    state.analytic = within(plot.y.invert(y));
    settle();
  });
  settle();
});
