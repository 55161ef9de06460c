// What the live figures share: elements, axes, controls, dragging, and how a figure gets on a page.
//
// A page shows a picture, ![what it shows](v_curve.svg){ data-figure=v_curve }, or a whole block with
// that attribute. Where scripts run, the live figure of that name takes its place on the screen; on
// paper, and where something goes wrong, the picture stays.

"use strict";

const figures = (() => {
  const known = {};

  // --- elements ---------------------------------------------------------------------------------

  function filled(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }
  const html = (tag, attributes = {}, ...children) =>
    filled(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) =>
    filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

  // A number with this many digits, and no more zeros than it needs.
  function short(value, digits = 2) {
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e4)) {
      return value.toExponential(digits - 1).replace(/\.?0*e\+?/, "e");
    }
    return String(Number(value.toPrecision(digits)));
  }

  // Names, headings and labels are given in English, and shown in the language of the page.
  const said = (part) => (typeof part === "string" ? say(part) : part);

  // --- controls ---------------------------------------------------------------------------------

  let ids = 0;

  function labelled(label, control, ...more) {
    control.id = `figure-control-${(ids += 1)}`;
    return html(
      "div",
      { class: "figure-control" },
      html("label", { for: control.id }, said(label)),
      control,
      ...more,
    );
  }

  // The native slider, with arrow keys, Page Up, Home and End. `says` writes its value as text.
  function slider(label, { min, max, step = 1, value, says }, changed) {
    const input = html("input", { type: "range", min, max, step, value });
    const shown = html("span", { class: "figure-value", "aria-hidden": "true" });
    const tell = () => {
      shown.textContent = says(Number(input.value));
      input.setAttribute("aria-valuetext", shown.textContent);
    };
    const set = (other) => {
      input.value = other;
      tell();
    };
    input.addEventListener("input", () => {
      tell();
      changed(Number(input.value));
    });
    tell();
    return { node: labelled(label, input, shown), input, set, tell };
  }

  // One of several options: [value, text for the reader].
  function choice(label, options, value, changed) {
    const choose = ([key, text]) => html("option", { value: key }, said(text));
    const select = html("select", {}, ...options.map(choose));
    const set = (other) => (select.value = other);
    select.addEventListener("change", () => changed(select.value));
    set(value);
    return { node: labelled(label, select), set };
  }

  const controls = (...parts) =>
    html("div", { class: "figure-controls" }, ...parts.map((part) => part.node ?? part));

  // A table whose body is written again at every change: rows of cells, the first one a heading.
  function table(caption, headings) {
    const body = html("tbody");
    const head = html("tr", {}, ...headings.map((text) => html("th", { scope: "col" }, said(text))));
    const node = html(
      "table",
      { class: "figure-table" },
      html("caption", {}, said(caption)),
      html("thead", {}, head),
      body,
    );
    const row = ([first, ...cells]) =>
      html(
        "tr",
        {},
        html("th", { scope: "row" }, said(first)),
        ...cells.map((cell) => html("td", {}, said(cell))),
      );
    return { node, show: (rows) => body.replaceChildren(...rows.map(row)) };
  }

  // --- drawing ----------------------------------------------------------------------------------

  // From a number to its place between two ends of the picture, and back.
  function scale({ from, to, log = false }, start, end) {
    const measure = log ? Math.log10 : (value) => value;
    const [low, high] = [measure(from), measure(to)];
    const place = (value) => start + ((measure(value) - low) / (high - low)) * (end - start);
    place.invert = (at) => {
      const value = low + ((at - start) / (end - start)) * (high - low);
      return log ? 10 ** value : value;
    };
    return place;
  }

  // An empty picture that is drawn again whenever its width changes: text keeps its size on a phone.
  // `part` is the share of the usual height, for a picture below another one.
  function canvas(parent, label, draw, part = 1) {
    const picture = svg("svg", { role: "img", "aria-label": said(label) });
    parent.append(picture);
    const redraw = () => {
      const width = Math.max(260, Math.round(picture.clientWidth || parent.clientWidth));
      const height = Math.round(part * Math.min(400, Math.max(260, 0.6 * width)));
      picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
      picture.replaceChildren();
      draw(picture, width, height);
    };
    new ResizeObserver(redraw).observe(parent);
    return { picture, redraw };
  }

  // Axes: { from, to, log, ticks: [[value, text], ...], label }. Returns both scales, and the group
  // for everything that is drawn between the axes; the rest is cut off.
  function axes(picture, width, height, across, up) {
    const [left, right, top, bottom] = [58, width - 20, 12, height - 44];
    const [x, y] = [scale(across, left, right), scale(up, bottom, top)];
    const id = `figure-clip-${(ids += 1)}`;
    const box = { x: left, y: top, width: right - left, height: bottom - top };
    const grid = svg("g", { class: "figure-grid" });
    for (const [value, text] of across.ticks) {
      grid.append(svg("line", { x1: x(value), x2: x(value), y1: top, y2: bottom }));
      grid.append(svg("text", { x: x(value), y: bottom + 17, "text-anchor": "middle" }, text));
    }
    for (const [value, text] of up.ticks) {
      grid.append(svg("line", { x1: left, x2: right, y1: y(value), y2: y(value) }));
      grid.append(svg("text", { x: left - 7, y: y(value) + 4, "text-anchor": "end" }, text));
    }
    const middle = (top + bottom) / 2;
    grid.append(
      svg("text", { x: (left + right) / 2, y: height - 8, "text-anchor": "middle" }, said(across.label)),
      svg(
        "text",
        { transform: `translate(13 ${middle}) rotate(-90)`, "text-anchor": "middle" },
        said(up.label),
      ),
    );
    const inside = svg("g", { "clip-path": `url(#${id})` });
    picture.append(svg("clipPath", { id }, svg("rect", box)), grid, inside);
    return { x, y, inside, box };
  }

  // A name with the line, or another mark, that stands for it.
  function key(ink, name, mark = { x1: 0, x2: 32, y1: 5, y2: 5 }) {
    const shape = svg("r" in mark ? "circle" : "line", { class: "ink dashed", ...mark });
    const sign = svg("svg", { class: ink, viewBox: "0 0 32 10", "aria-hidden": "true" }, shape);
    return html("span", { class: "figure-key" }, sign, said(name));
  }

  const path = (points) => points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");

  // Calls moved(place in the picture) from a press, where begins(target) allows it, to the release.
  function drag(picture, begins, moved) {
    const to = (event) => {
      const place = new DOMPoint(event.clientX, event.clientY);
      moved(place.matrixTransform(picture.getScreenCTM().inverse()));
    };
    picture.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !begins(event.target)) return;
      event.preventDefault();
      picture.setPointerCapture(event.pointerId);
      to(event);
    });
    picture.addEventListener("pointermove", (event) => {
      if (picture.hasPointerCapture(event.pointerId)) to(event);
    });
  }

  // --- on the page ------------------------------------------------------------------------------

  function mount(body) {
    for (const still of body.querySelectorAll("[data-figure]")) {
      const place = still.closest("p") ?? still;
      const live = html("figure", { class: "figure-live" });
      place.after(live);
      try {
        known[still.dataset.figure](live, still.dataset);
        place.classList.add("figure-still");
      } catch (error) {
        live.remove();
        console.error(error);
      }
    }
  }

  // `document$` is Material's: it fires for every page shown. Without a page there are numbers only.
  if (typeof document$ !== "undefined") document$.subscribe(({ body }) => mount(body));

  const add = (name, build) => (known[name] = build);
  return {
    add,
    html,
    svg,
    short,
    labelled,
    slider,
    choice,
    controls,
    table,
    canvas,
    axes,
    key,
    path,
    drag,
  };
})();
