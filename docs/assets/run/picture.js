// The picture of what the functions of an exercise return, as exercises/sketches.py has it, or of what
// `plot` in driver.py was given.

"use strict";

function drawPicture({ title = say("Your plot"), across, up, series }) {
  const { html, svg, short } = figures;
  const INKS = ["one", "two", "three"];
  const NAMES = [say("first"), say("second"), say("third")]; // of lines that have none
  const RADII = [4, 3, 2]; // cells of an area are told apart without their color, too

  const ticks = ({ from, to, log }) => {
    const decades = log ? Math.floor(Math.log10(to)) - Math.ceil(Math.log10(from)) : 0;
    if (decades < 1) return [0, 0.25, 0.5, 0.75, 1].map((part) => from + part * (to - from)).map((at) => [at, short(at)]);
    const [low, high] = [Math.ceil(Math.log10(from)), Math.floor(Math.log10(to))];
    const step = Math.max(1, Math.ceil((high - low) / 6));
    return Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, i) => 10 ** (low + i * step)).map((at) => [
      at,
      short(at),
    ]);
  };
  const live = html("figure", { class: "figure-live own-picture" });
  figures.canvas(live, title, (picture, width, height) => {
    const plot = figures.axes(picture, width, height, { ...across, ticks: ticks(across) }, { ...up, ticks: ticks(up) });
    // The first one is the reader's: it is drawn last.
    for (const [i, { points, area, beneath }] of [...series.entries()].reverse()) {
      const places = points.map(([x, y]) => [plot.x(x), plot.y(y)]);
      if (area) {
        const dots = places.map(([cx, cy]) => svg("circle", { class: INKS[i], cx, cy, r: RADII[i] }));
        plot.inside.append(...dots);
      } else {
        const look = beneath ? "beneath" : "dashed";
        plot.inside.append(svg("polyline", { class: `${INKS[i]} ${look}`, points: figures.path(places) }));
      }
    }
  });
  const mark = { x1: 0, x2: 32, y1: 5, y2: 5 };
  const key = ({ name, area, beneath }, i) =>
    figures.key(
      INKS[i],
      name ?? NAMES[i],
      area ? { cx: 16, cy: 5, r: RADII[i] } : { ...mark, class: `ink ${beneath ? "beneath" : "dashed"}` },
    );
  live.append(figures.controls(...series.map(key)), html("p", {}, `${title}.`));
  return live;
}
