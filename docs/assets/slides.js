/* Pages with `slides: true` in their settings, shown slide by slide: for a lecture, and on paper. */
(() => {
  "use strict";

  if (!document.querySelector("meta[name=slides]")) return;
  const article = document.querySelector("article");
  const root = document.documentElement;

  // A slide begins at every heading, and takes what follows.
  const slides = [];
  for (const node of [...article.children]) {
    if (/^H[12]$/.test(node.tagName)) {
      slides.push(document.createElement("section"));
      slides.at(-1).className = "slide";
      node.before(slides.at(-1));
    }
    slides.at(-1)?.append(node);
  }

  root.classList.add("has-slides"); // for what is said of paper
  let at = 0;
  const place = document.createElement("p");
  place.className = "slide-place";
  place.setAttribute("aria-live", "polite");
  article.append(place);

  function go(to) {
    at = Math.min(Math.max(to, 0), slides.length - 1);
    slides.forEach((slide, i) => slide.classList.toggle("current", i === at));
    place.textContent = `${at + 1} of ${slides.length}`;
    scrollTo(0, 0);
    if (notes && !notes.closed) tellNotes();
  }

  // What to say, in a window of its own: the room sees only the slides.
  let notes;

  function openNotes() {
    notes = open("", "notes", "popup,width=640,height=480");
    if (!notes) return; // the browser does not open windows
    const { head, body } = notes.document;
    const styles = [...document.querySelectorAll("link[rel=stylesheet]")];
    head.replaceChildren(...styles.map((one) => Object.assign(one.cloneNode(), { href: one.href })));
    notes.document.documentElement.dir = "ltr";
    body.className = "slide-notes md-typeset";
    notes.onkeydown = (event) => keys[event.key]?.();
    tellNotes();
  }

  function tellNotes() {
    notes.document.title = `Notes, ${place.textContent}`;
    const said = slides[at].querySelectorAll(".admonition.notes");
    notes.document.body.replaceChildren(place.textContent, ...[...said].map((one) => one.cloneNode(true)));
  }

  function present(on) {
    root.classList.toggle("presenting", on);
    if (on) {
      go(at);
      root.requestFullscreen?.().catch(() => {}); // not everywhere, and not needed
    } else {
      if (document.fullscreenElement) document.exitFullscreen();
      slides[at].scrollIntoView();
    }
  }

  const keys = {
    ArrowRight: () => go(at + 1),
    PageDown: () => go(at + 1),
    ArrowLeft: () => go(at - 1),
    PageUp: () => go(at - 1),
    Home: () => go(0),
    End: () => go(slides.length - 1),
    n: openNotes,
    Escape: () => present(false),
  };
  // While it listens, keys of the site (n: next page) do nothing. In an example they are for writing.
  addEventListener(
    "keydown",
    (event) => {
      if (!root.classList.contains("presenting")) return;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.closest("textarea, input, [contenteditable]")) return;
      event.stopPropagation();
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    },
    true,
  );
  addEventListener("fullscreenchange", () => {
    // To open the notes ends the full screen, but not the lecture.
    const told = notes && !notes.closed;
    if (!document.fullscreenElement && !told && root.classList.contains("presenting")) present(false);
  });

  const button = document.createElement("button");
  button.type = "button";
  button.className = "md-button slides-begin";
  button.textContent = "Show as slides";
  button.addEventListener("click", () => present(true));
  const how = document.createElement("p");
  how.className = "slides-how";
  how.append(
    button,
    " Arrow keys turn the page, N opens the notes in a window of their own, Escape ends. Printed, each slide begins a page.",
  );
  slides[0].querySelector("h1").after(how);
})();
