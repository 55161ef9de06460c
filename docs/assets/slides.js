/* Pages with `slides: true` in their settings. Each part is a lecture, shown slide by slide, and on paper. */
(() => {
  "use strict";

  if (!document.querySelector("meta[name=slides]")) return;
  const article = document.querySelector("article");
  const root = document.documentElement;

  // A lecture begins at a heading of the second level; a slide at each, and takes what follows.
  const lectures = [];
  for (const node of [...article.children]) {
    if (node.tagName === "H2") lectures.push([]);
    if (/^H[23]$/.test(node.tagName)) {
      const slide = document.createElement("section");
      slide.className = "slide";
      node.before(slide);
      lectures.at(-1).push(slide);
    }
    lectures.at(-1)?.at(-1).append(node);
  }

  // Below the heading, the words and the picture stand side by side; the notes come after both.
  for (const slide of lectures.flat()) {
    const parts = { words: [], picture: [] };
    for (const node of [...slide.children].slice(1)) {
      if (node.matches(".notes")) continue;
      parts[node.matches("p:has(> img)") ? "picture" : "words"].push(node);
    }
    const body = document.createElement("div");
    body.className = "slide-body";
    slide.firstElementChild.after(body);
    for (const [name, nodes] of Object.entries(parts)) {
      if (!nodes.length) continue;
      const part = document.createElement("div");
      part.className = `slide-${name}`;
      part.append(...nodes);
      body.append(part);
    }
  }

  root.classList.add("has-slides"); // for what is said of paper
  let slides = lectures[0]; // of the lecture that is shown
  let at = 0;
  const place = document.createElement("p");
  place.className = "slide-place";
  place.setAttribute("aria-live", "polite");
  article.append(place);

  const again = new ResizeObserver(() => {
    if (root.classList.contains("presenting")) fit();
  });
  again.observe(article);

  // Letters from 2.8 to 7 hundredths of the screen's height, as large as fits. On a phone, where the
  // smallest do not fit, the slide is scrolled.
  function fit() {
    const slide = slides[at];
    const live = slide.querySelector(".figure-live");
    if (live) {
      again.observe(live); // drawn after its slide is shown, and again at every other width
      const { clientWidth } = live.parentElement;
      const height = innerHeight - live.closest(".slide-body").offsetTop - 0.05 * innerHeight;
      slide.style.setProperty("--enlarged", 1);
      const enlarged = Math.min(clientWidth / live.offsetWidth, height / live.offsetHeight);
      slide.style.setProperty("--enlarged", Math.max(enlarged, 0.5));
    }
    const wide = () => [...slide.querySelectorAll("pre code, .md-typeset__scrollwrap")];
    const fits = () =>
      slide.scrollHeight <= innerHeight && wide().every((one) => one.scrollWidth <= one.clientWidth);
    let [small, large] = [28, 70];
    const letters = (size) =>
      slide.style.setProperty("--letters", `max(0.8rem, ${size / 10} * min(1vh, 1.2vw))`);
    while (large - small > 1) {
      const middle = (small + large) >> 1;
      letters(middle);
      if (fits()) small = middle;
      else large = middle;
    }
    letters(small);
  }

  function go(to) {
    at = Math.min(Math.max(to, 0), slides.length - 1);
    for (const slide of lectures.flat()) slide.classList.toggle("current", slide === slides[at]);
    place.textContent = say("{at} of {all}", { at: at + 1, all: slides.length });
    scrollTo(0, 0);
    fit();
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
    notes.document.title = say("Notes, {place}", { place: place.textContent });
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

  for (const lecture of lectures) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "md-button slides-begin";
    button.textContent = say("Show as slides");
    button.addEventListener("click", () => {
      if (slides !== lecture) [slides, at] = [lecture, 0];
      present(true);
    });
    const how = document.createElement("p");
    how.className = "slides-how";
    how.append(button);
    if (lecture === lectures[0]) {
      how.append(
        ` ${say("Arrow keys turn the page, N opens the notes in a window of their own, Escape ends. Printed, each slide begins a page.")}`,
      );
    }
    lecture[0].querySelector("h2").after(how);
  }
})();
