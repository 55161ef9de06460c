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

  // By name, or by the results of a stage: first on the right gradient, then on the wrong ones.
  function sorted(all, column, down) {
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

  return { stages, words, rows, filtered, sorted, totals };
})();

figures.add("staircase", (live) => {
  const { html } = figures;
  const { stages, words, rows, filtered, sorted, totals } = figures.staircase;
  const all = rows();
  const state = { text: "", tag: "", differing: true, column: null, down: false };
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
  const caption = html(
    "caption",
    {},
    "The right gradient, and how many bugs are caught (in parentheses: no credit)",
  );
  const table = html("table", { class: "figure-table" }, caption, head, body);

  function cell({ letter, caught }, bugs) {
    const count = letter === "a" ? `${caught}/${bugs}` : `(${caught}/${bugs})`;
    return html("td", { class: looks[letter] }, `${words[letter]} ${count}`);
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
    ),
    status,
    html("div", region, table),
  );
  changed();
});
