// The digits of a slope with shorter and shorter steps: they drift, agree and scatter.

"use strict";

figures.digits = (() => {
  const steps = Array.from({ length: 12 }, (_, k) => `1e-${k + 1}`);
  const names = ["reciprocal", "root", "exp", "sine"];

  function shared(one, other) {
    let length = 0;
    while (length < one.length && one[length] === other[length]) length += 1;
    return length;
  }

  // For each step: the digits, how many characters of them a neighbor has, too, and a word.
  function lines({ formula, name }) {
    const asked = { formula, name, precision: "float64", x: 0.7 };
    const texts = steps.map((h) => figures.vCurve.slope({ ...asked, h: Number(h) }).toFixed(12));
    const agree = texts.map((text, k) => {
      const neighbors = [texts[k - 1], texts[k + 1]].filter((other) => other !== undefined);
      return Math.max(...neighbors.map((other) => shared(text, other)));
    });
    // Those that share the most, or one less, agree.
    const most = Math.max(...agree) - 1;
    const first = agree.findIndex((n) => n >= most);
    const last = agree.findLastIndex((n) => n >= most);
    const word = (k) => (k < first ? "drift" : k <= last ? "agree" : "scatter");
    return steps.map((h, k) => ({ h, text: texts[k], agree: agree[k], word: word(k) }));
  }

  return { names, lines };
})();

figures.add("digits", (live) => {
  const { html } = figures;
  const { functions, formulas } = figures.vCurve;
  const { names, lines } = figures.digits;
  const state = { formula: "five-point", name: "reciprocal" };
  const status = html("p", { role: "status" });
  const range = (low, high) => (low === high ? low : say("{low} to {high}", { low, high }));
  const table = figures.table("The slope at 0.7; marked digits agree with a line beside them", [
    "step h",
    "slope",
    "the digits",
  ]);
  table.node.classList.add("figure-digits");

  function changed() {
    const found = lines(state);
    const best = found.filter(({ word }) => word === "agree");
    const count = ({ text, agree }) => text.slice(0, agree).replace(/\D/g, "").length;
    const counts = best.map(count);
    const digits = range(Math.min(...counts), Math.max(...counts));
    const words = { formula: say(state.formula), digits, from: range(best[0].h, best.at(-1).h) };
    status.textContent = say("{formula}: {digits} digits agree, at h = {from}.", words);
    table.show(
      found.map(({ h, text, agree, word }) => [
        h,
        html("code", {}, html("mark", {}, html("b", {}, text.slice(0, agree))), text.slice(agree)),
        word,
      ]),
    );
  }

  const set = (key) => (value) => {
    state[key] = value;
    changed();
  };
  const known = Object.keys(formulas).map((formula) => [formula, formula]);
  const offered = names.map((name) => [name, functions[name].text]);
  live.append(
    figures.controls(
      figures.choice("Formula", known, state.formula, set("formula")),
      figures.choice("Function", offered, state.name, set("name")),
    ),
    table.node,
    status,
  );
  changed();
});
