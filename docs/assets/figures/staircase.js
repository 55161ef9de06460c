// The staircase: the kill matrix, to be sorted and filtered.

"use strict";

figures.staircase = (() => {
  const stages = ["1 forward", "2 central", "3 relative", "4 allclose", "5 adaptive"];

  // The verdicts of a stage on the right gradient, the worst first.
  const letters = "rcla";
  const words = { r: "refused", c: "close call", l: "by luck", a: "accepted" };

  const rows = () =>
    figures.killMatrix.map(([name, tags, bugs, cells, agree]) => ({
      name,
      tags: tags.split(" "),
      bugs,
      cells: cells.split(" ").map((cell) => ({ letter: cell[0], caught: Number(cell.slice(1)) })),
      agree,
    }));

  const filtered = (all, { text, tag, differing }) =>
    all.filter(
      (row) =>
        row.name.includes(text) && (!tag || row.tags.includes(tag)) && !(differing && row.agree),
    );

  // By the first stage from which on everything is right: the rows make a staircase.
  const STAIRS = "stairs";
  function stairs({ cells, bugs, name }) {
    const right = cells.map(({ letter, caught }) => letter === "a" && caught === bugs);
    return [right.lastIndexOf(false) + 1, -right.filter(Boolean).length, name];
  }
  function before(one, other) {
    const [a, b] = [stairs(one), stairs(other)];
    const k = a.findIndex((part, at) => part !== b[at]);
    return a[k] < b[k] ? -1 : 1;
  }

  // By name, or by the results of a stage: first on the right gradient, then on the wrong ones.
  function sorted(all, column, down) {
    if (column === STAIRS) return [...all].sort(before);
    const rank = ({ cells, bugs }) => {
      const { letter, caught } = cells[column];
      return letters.indexOf(letter) + caught / bugs / 2;
    };
    const order =
      column === null ? (a, b) => (a.name < b.name ? -1 : 1) : (a, b) => rank(a) - rank(b);
    return [...all].sort(down ? (a, b) => order(b, a) : order);
  }

  // A stage gets credit for bugs only if it accepts the right gradient, and not by luck.
  const totals = (all) =>
    stages.map((_, k) => ({
      accepted: all.filter(({ cells }) => cells[k].letter === "a").length,
      caught: all.reduce(
        (sum, { cells }) => sum + (cells[k].letter === "a" ? cells[k].caught : 0),
        0,
      ),
    }));

  return { STAIRS, stages, words, rows, filtered, sorted, totals };
})();

figures.add("staircase", (live) => {
  const { html, svg } = figures;
  const { STAIRS, stages, words, rows, filtered, sorted, totals } = figures.staircase;
  const all = rows();
  const state = { text: "", tag: "", differing: true, column: STAIRS, down: false };
  const looks = { a: "passes", l: "unsure", c: "unsure", r: "fails" };

  const status = html("p", { role: "status" });
  const heads = ["function", ...stages].map((name, k) => {
    const arrow = html("span", { "aria-hidden": "true" });
    const button = html("button", { type: "button", class: "figure-sort" }, name, " ", arrow);
    const column = k ? k - 1 : null;
    button.addEventListener("click", () => {
      state.down = state.column === column && !state.down;
      state.column = column;
      changed();
    });
    return { node: html("th", { scope: "col" }, button), arrow, column };
  });
  const [sums, body] = [html("tr"), html("tbody")];
  const head = html("thead", {}, html("tr", {}, ...heads.map(({ node }) => node)), sums);
  const caption = html("caption", {}, "The right gradient, and the bugs");
  const keys = [
    ["passes", "a", "accepted, filled by the bugs it catches"],
    ["unsure", "l", "by luck"],
    ["unsure", "c", "a close call"],
    ["fails", "r", "refused: no credit for bugs"],
  ].map(([look, letter, text]) =>
    html("span", { class: "figure-key" }, html("span", { class: look }, mark(letter, 0.7)), text),
  );
  const table = html("table", { class: "figure-table" }, caption, head, body);

  // A shape besides the colour: a box that the caught bugs fill, a disc, a diamond, a cross.
  function mark(letter, part) {
    const shapes = {
      a: () => [
        svg("rect", { class: "outline", x: 1, y: 1, width: 46, height: 14 }),
        svg("rect", { class: "bar", x: 1, y: 1, width: 46 * part, height: 14 }),
      ],
      l: () => [svg("circle", { cx: 24, cy: 8, r: 6 })],
      c: () => [svg("path", { d: "M24 1 31 8 24 15 17 8Z" })],
      r: () => [svg("path", { class: "outline", d: "M18 2 30 14M30 2 18 14" })],
    };
    const box = { class: "figure-mark", viewBox: "0 0 48 16", "aria-hidden": "true" };
    return svg("svg", box, ...shapes[letter]());
  }
  function cell({ letter, caught }, bugs) {
    const count = letter === "a" ? `${caught}/${bugs}` : `(${caught}/${bugs})`;
    const told = `${words[letter]} ${count}`;
    const read = html("span", { class: "figure-words" }, told);
    return html("td", { class: looks[letter], title: told }, mark(letter, caught / bugs), read);
  }

  function changed() {
    const shown = sorted(filtered(all, state), state.column, state.down);
    const bugs = shown.reduce((sum, row) => sum + row.bugs, 0);
    for (const { node, arrow, column } of heads) {
      const here = column === state.column;
      node.setAttribute("aria-sort", here ? (state.down ? "descending" : "ascending") : "none");
      arrow.textContent = here ? (state.down ? "▼" : "▲") : "";
    }
    const sum = ({ accepted, caught }) =>
      html("td", {}, `${accepted} of ${shown.length}`, html("br"), `bugs ${caught} of ${bugs}`);
    sums.replaceChildren(
      html("th", { scope: "row" }, "accepted, not by luck"),
      ...totals(shown).map(sum),
    );
    const name = (row) => html("th", { scope: "row" }, html("code", {}, row.name));
    const line = (row) => html("tr", {}, name(row), ...row.cells.map((one) => cell(one, row.bugs)));
    body.replaceChildren(...shown.map(line));
    status.textContent = `${shown.length} of ${all.length} functions, with ${bugs} bugs.`;
  }

  const set = (key) => (value) => {
    state[key] = value;
    changed();
  };
  const search = html("input", { type: "search", size: 14 });
  search.addEventListener("input", () =>
    set("text")(search.value.trim().toLowerCase().replaceAll(" ", "_")),
  );
  const again = html("button", { type: "button", class: "figure-press" }, "As stairs");
  again.addEventListener("click", () => set("column")(STAIRS));
  const box = html("input", { type: "checkbox" });
  box.checked = state.differing;
  box.addEventListener("change", () => set("differing")(box.checked));
  const tags = [...new Set(all.flatMap((row) => row.tags))].sort();
  const choices = [["", "any"], ...tags.map((tag) => [tag, tag])];
  const region = {
    class: "figure-scroll",
    role: "region",
    tabindex: 0,
    "aria-label": "The kill matrix",
  };
  live.append(
    figures.controls(
      figures.labelled("Function", search),
      figures.choice("Kind", choices, "", set("tag")),
      figures.labelled("Only where stages differ", box),
      again,
    ),
    status,
    figures.controls(...keys),
    html("div", region, table),
  );
  changed();
});
