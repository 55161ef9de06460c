// Renders the formulas of a page. KaTeX weighs more than most pages, so only a page with formulas loads it.

"use strict";

(() => {
  const here = document.currentScript.src;
  let loaded; // a promise, once a page has needed it

  const load = () =>
    new Promise((onload, onerror) => {
      const src = new URL("katex/katex.min.js", here);
      document.head.append(Object.assign(document.createElement("script"), { src, onload, onerror }));
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
    await (loaded ??= load());
    for (const formula of body.querySelectorAll(".arithmatex:not(:has(.katex))")) {
      const text = formula.textContent.trim(); // between \( and \), or \[ and \]
      katex.render(text.slice(2, -2), formula, { displayMode: text.startsWith("\\["), throwOnError: false });
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
