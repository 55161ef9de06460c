// Renders the formulas of a page. `document$` is Material's: it fires for every page shown.
document$.subscribe(({ body }) => {
  for (const formula of body.querySelectorAll(".arithmatex")) {
    renderMathInElement(formula, {
      delimiters: [
        { left: "\\(", right: "\\)", display: false },
        { left: "\\[", right: "\\]", display: true },
      ],
    });
  }
  // One that is wider than the page can be moved into sight, with the keyboard too.
  document.fonts.ready.then(() => {
    for (const formula of body.querySelectorAll("div.arithmatex")) {
      if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0;
    }
  });
});
