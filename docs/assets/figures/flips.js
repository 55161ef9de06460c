// Flip the signs of five errors: how many of the 32 lines show the largest one?

"use strict";

figures.flips = (() => {
  const { abs } = Math;
  // Bit i of the number of a line tells which way entry i moves.
  const lines = Array.from({ length: 32 }, (_, line) => line);
  const sign = (line, i) => ((line >> i) & 1 ? 1 : -1);
  const residual = (errors, line) =>
    errors.reduce((sum, error, i) => sum + error * sign(line, i), 0);

  const shows = (errors, line) => abs(residual(errors, line)) >= Math.max(...errors);
  const showing = (errors) => lines.filter((line) => shows(errors, line)).length;

  // The lines in pairs: only the largest error has another sign. Sorted by the sum of the others.
  function pairs(errors) {
    const i = errors.indexOf(Math.max(...errors));
    const both = lines.filter((line) => sign(line, i) > 0).map((line) => [line ^ (1 << i), line]);
    return both.sort(([a], [b]) => residual(errors, a) - residual(errors, b));
  }

  return { sign, residual, shows, showing, pairs };
})();

figures.add("flips", (live) => {
  const { html, svg } = figures;
  const { sign, residual, shows, showing, pairs } = figures.flips;
  const state = { errors: [4, 3, 2, 1, 2], line: 27 };
  const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value)}`;
  let [plot, rows] = [null, []];

  const label = "The residuals of all 32 lines, in pairs; the text below counts those that show it";
  const { picture, redraw } = figures.canvas(live, label, (picture, width, height) => {
    const { errors } = state;
    const most = Math.max(...errors);
    const end = errors.reduce((sum, error) => sum + error, 1);
    const across = { from: -end, to: end, label: "residual" };
    const marks = most ? [-most, 0, most] : [0];
    across.ticks = marks.map((value) => [value, signed(value).replace("+0", "0")]);
    rows = pairs(errors);
    const up = { from: -1, to: rows.length, ticks: [], label: "pairs of lines" };
    plot = figures.axes(picture, width, height, across, up);
    const { x, y, box } = plot;
    const band = [-most, most, most, -most].map((value, k) => [
      x(value),
      k < 2 ? box.y : box.y + box.height,
    ]);
    plot.inside.append(svg("polygon", { class: "four", points: figures.path(band) }));
    rows.forEach((pair, k) => {
      const [low, high] = pair.map((line) => x(residual(errors, line)));
      plot.inside.append(svg("line", { class: "axis", x1: low, x2: high, y1: y(k), y2: y(k) }));
      for (const line of pair) {
        const place = { cx: x(residual(errors, line)), cy: y(k), r: line === state.line ? 7 : 3.5 };
        plot.inside.append(
          svg("circle", { class: shows(errors, line) ? "one" : "two", ...place }),
        );
      }
    });
    const caption = { x: x(0), y: box.y + box.height - 5, "text-anchor": "middle" };
    if (most) picture.append(svg("text", caption, "hidden"));
    picture.append(svg("rect", { ...box, class: "handle" }));
  });

  const status = html("p", { role: "status" });
  const buttons = state.errors.map((_, i) => {
    const button = html("button", { type: "button", class: "figure-press" });
    button.addEventListener("click", () => move(state.line ^ (1 << i)));
    return button;
  });

  function changed() {
    const { errors, line } = state;
    const most = Math.max(...errors);
    buttons.forEach((button, i) => {
      button.textContent = `moves ${sign(line, i) > 0 ? "up" : "down"}: flip`;
      button.setAttribute("aria-label", `Entry ${i + 1} ${button.textContent}`);
    });
    const sum = errors.map((error, i) => signed(error * sign(line, i))).join(" ");
    const found = signed(residual(errors, line)).replace("+0", "0");
    const verdict = shows(errors, line) ? "shows" : "hides";
    status.textContent = most
      ? `Residual: ${sum} = ${found}. This line ${verdict} the largest error, ${most}. Of all 32 ` +
        `lines, ${showing(errors)} show it.`
      : "Nothing is wrong: every residual is 0.";
    redraw();
  }

  function move(line) {
    state.line = line;
    changed();
  }

  const entry = (error, i) => {
    const range = { min: 0, max: 6, value: error, says: (size) => `off by ${size}` };
    const slider = figures.slider(`Entry ${i + 1}`, range, (size) => {
      state.errors[i] = size;
      changed();
    });
    slider.node.append(buttons[i]);
    return slider;
  };
  live.append(figures.controls(...state.errors.map(entry)), status);
  figures.drag(
    picture,
    () => true,
    (at) => {
      const k = Math.round(plot.y.invert(at.y));
      const pair = rows[Math.max(0, Math.min(rows.length - 1, k))];
      const far = pair.map((line) => Math.abs(plot.x(residual(state.errors, line)) - at.x));
      move(pair[far[0] < far[1] ? 0 : 1]);
    },
  );
  changed();
});
