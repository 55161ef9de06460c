// Renders the formulas of a page. KaTeX weighs more than most pages, so only a page with formulas loads it.

"use strict";

(() => {
  const here = document.currentScript.src;
  let katex; // a promise, once a page has needed it

  const load = (name) =>
    new Promise((loaded, failed) => {
      const script = document.createElement("script");
      Object.assign(script, { src: new URL(`katex/${name}.min.js`, here), onload: loaded, onerror: failed });
      document.head.append(script);
    });

  // Browsers may begin a line with the comma after a formula: they take a formula for a picture. So it stays beside its
  // marks, and breaks only where KaTeX has it break.
  function keepMarks(formula) {
    const [before, after] = [formula.previousSibling, formula.nextSibling];
    const [opening] = /[([（“]*$/.exec(before?.data ?? "");
    const [closing] = /^[^\s\p{L}\p{N}([（“]*/u.exec(after?.data ?? "");
    if (!opening && !closing) return;
    const kept = document.createElement("span");
    kept.style.whiteSpace = "nowrap";
    formula.replaceWith(kept);
    kept.append(opening, formula, closing);
    if (opening) before.data = before.data.slice(0, -opening.length);
    if (closing) after.data = after.data.slice(closing.length);
    for (const part of formula.querySelectorAll(".katex-base + .katex-base")) {
      part.before(document.createElement("wbr"));
    }
  }

  async function render(body) {
    katex ??= load("katex").then(() => load("auto-render"));
    await katex;
    for (const formula of body.querySelectorAll(".arithmatex")) {
      renderMathInElement(formula, {
        delimiters: [
          { left: "\\(", right: "\\)", display: false },
          { left: "\\[", right: "\\]", display: true },
        ],
      });
    }
    body.querySelectorAll("span.arithmatex").forEach(keepMarks);
    await document.fonts.ready;
    // One that is wider than the page can be moved into sight, with the keyboard too.
    for (const formula of body.querySelectorAll("div.arithmatex")) {
      if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0;
    }
  }

  // `document$` is Material's: it fires for every page shown.
  document$.subscribe(({ body }) => {
    if (body.querySelector(".arithmatex")) render(body);
  });
})();
