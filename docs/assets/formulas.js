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
