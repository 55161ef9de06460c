// Buttons that run Python in the reader's browser. Nothing is fetched before one is pressed.
//
// An example runs after those above it on the page, as in the tests, from a clean slate each time; Stop
// ends it. The page is useful without it: the output of an example is below it. Once Python is loaded, it
// stays for the next pages.

"use strict";

const running = (() => {
  const FROM_A_FILE =
    "A page that was opened as a file cannot run Python. Serve the folder, with python3 -m http.server, and open http://localhost:8000.";

  const OFFLINE = "You are offline, and Python is not loaded yet. The page can be read without."; // also in worker.js

  const here = new URL(".", document.currentScript.src);
  const site = new URL("../../", here).href; // of this version

  function element(tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // Python in a worker, started when it is needed and thrown away when it is stopped.
  class Python {
    constructor(place) {
      this.place = place;
    }

    // Send the worker a task; worker.js lists the tasks and the replies.
    run(task, on) {
      if (!this.worker) {
        this.worker = new Worker(new URL("worker.js", here), { type: "module" });
        this.worker.postMessage(this.place);
      }
      // Whatever failed, the next run starts another worker.
      const failed = (words) => {
        this.stop();
        on.done(words);
      };
      const hear = { ...on, failed };
      this.worker.onmessage = ({ data }) => Object.keys(data).forEach((key) => hear[key]?.(data[key]));
      this.worker.onerror = ({ message }) =>
        navigator.onLine
          ? failed(["Python could not be started ({why}).", { why: message || say("the browser does not say why") }])
          : failed([OFFLINE]);
      this.worker.postMessage(task);
    }

    stop() {
      this.worker?.terminate();
      this.worker = undefined;
    }
  }

  // A block of code with buttons and its output.
  class Runnable {
    constructor(block, page, editing) {
      this.page = page;
      this.block = block;
      this.code = block.querySelector("code");
      this.runs = []; // the buttons that run something
      this.bar = element("div", { className: "run-bar" });
      this.status = element("span", { className: "run-status", role: "status" });
      this.output = element("pre", { className: "run-output", tabIndex: 0, hidden: true });
      this.output.setAttribute("aria-label", say("Output"));
      this.output.setAttribute("role", "region");
      block.append(this.bar, this.output);
      this.editor = new Editor(this.code, {
        ...editing,
        ran: () => this.runs[0].disabled || this.running || this.runs[0].click(),
        left: () => this.runs[0].focus(),
      });
    }

    button(name, pressed) {
      const made = element("button", { type: "button", className: "run-button", textContent: name });
      made.addEventListener("click", () => pressed(made));
      this.bar.append(made);
      return made;
    }

    // A button that starts a task, and then stops it.
    runButton(name, task) {
      const made = this.button(name, () => (this.running ? this.stopped() : this.run(made, task())));
      made.dataset.name = name;
      this.runs.push(made);
      return made;
    }

    run(button, task) {
      if (location.protocol === "file:") {
        this.status.textContent = say(FROM_A_FILE);
        return;
      }
      this.output.textContent = this.status.textContent = "";
      for (const picture of this.pictures ?? []) picture.remove();
      this.begins?.();
      this.show(button);
      let result = "";
      this.page.python.run(task, {
        doing: (words) => (this.status.textContent = say(...words)),
        text: (text) => {
          this.output.hidden = false;
          this.output.append(text);
        },
        drawn: (pictures) => this.output.after(...(this.pictures = pictures.map(drawPicture))),
        checked: (checks) => (result = this.checked(checks)),
        done: (words) => {
          const printed = this.output.hidden ? say("Done; nothing printed.") : say("Done.");
          this.status.textContent = words ? say(...words) : result || printed;
          this.show();
        },
      });
    }

    stopped() {
      this.page.python.stop();
      this.status.textContent = say("Stopped.");
      this.show();
    }

    // Show which button is running, if any; meanwhile no other can be pressed.
    show(button) {
      this.running = button;
      if (button) this.output.hidden = true;
      for (const { runs } of this.page.runnables) {
        for (const other of runs) {
          other.textContent = other === button ? say("Stop") : other.dataset.name;
          other.disabled = Boolean(button) && other !== button;
        }
      }
    }
  }

  class Example extends Runnable {
    constructor(block, page, number) {
      super(block, page, { name: `example ${number}`, label: say("Example, editable.") });
      this.runButton(say("Run"), () => ({ sources: this.page.upTo(this) }));
      this.edits = this.button(say("Edit"), () => (this.editor.open ? this.reset() : this.edit()));
      this.bar.append(this.status);
      this.editor.kept.heard = () => this.begun();
      this.begun();
    }

    // Show the reader's text, if there is one.
    begun() {
      const { editor } = this;
      if (editor.kept.state.text == null) return;
      if (!editor.open) this.begin();
      else if (editor.source !== editor.kept.text) editor.show(editor.kept.text);
    }

    begin() {
      this.edits.textContent = say("Undo edits");
      this.editor.begin();
    }

    edit() {
      this.begin();
      this.status.textContent = say("Tab indents, Escape leaves, Control and Enter runs.");
      this.code.focus();
    }

    reset() {
      this.edits.textContent = say("Edit");
      this.editor.end();
    }
  }

  // The things to run on a page, by selector; a script may add some until the page is loaded.
  const kinds = { ".highlight.run": Example };

  let page;
  let python; // of this page and of the next ones

  class Page {
    constructor(body, data) {
      const root = new URL(data.root, location.href);
      const pyodide = new URL(data.pyodide, root);
      python ??= new Python({ pyodide: pyodide.href, package: new URL(data.package, root).href });
      this.python = python;
      this.runnables = [];
      for (const [selector, Kind] of Object.entries(kinds)) {
        for (const block of body.querySelectorAll(selector)) {
          this.runnables.push(new Kind(block, this, this.runnables.length));
        }
      }
      if (this.runnables.length && !python.worker) this.promise(this.runnables[0], pyodide.host);
    }

    leave() {
      if (this.runnables.some(({ running }) => running)) this.python.stop();
    }

    promise({ runs, status }, host) {
      const from = host === location.host ? say("this site") : host;
      const button = runs[0].textContent;
      status.textContent ||= say("{button} loads Python and NumPy, about 10 MB, from {from}, once.", { button, from });
    }

    // The sources of the examples from the top of the page to this one.
    upTo(example) {
      const examples = this.runnables.filter((one) => one instanceof Example);
      return examples.slice(0, examples.indexOf(example) + 1).map(({ editor }) => editor.source);
    }
  }

  document$.subscribe(({ body }) => {
    const place = body.querySelector("#run-python");
    colours.ranges.clear(); // those of the page before
    page = place ? new Page(body, place.dataset) : undefined;
  });

  // --- the next page ------------------------------------------------------------------------------

  // The parts that differ between two pages of the site. Slides need a page of their own, and so does
  // another language.
  const PARTS = ["skip", "logo", "header-topic", "language", "container"].map((part) => `[data-md-component=${part}]`);
  let shown = location.pathname;
  let asked; // the last address that was asked for: the answers to others come too late to be shown

  // Replace this page by the next one: loading it would end Python.
  async function show(url, remember) {
    asked = url;
    try {
      await swap(url, remember);
    } catch {
      if (asked === url) location.assign(url);
    }
  }

  // A page has the scripts of its own figures alone, so the next one may need some that are not here.
  async function fetchScripts(next, url) {
    const nameOf = (script) => /assets\/(.*)$/.exec(script.getAttribute("src"))?.[1];
    const here = new Set([...document.scripts].map(nameOf));
    for (const script of next.querySelectorAll("script[src]")) {
      if (here.has(nameOf(script))) continue;
      const src = new URL(script.getAttribute("src"), url).href;
      await new Promise((onload, onerror) => document.head.append(element("script", { src, onload, onerror })));
    }
  }

  async function swap(url, remember) {
    const response = await fetch(url);
    const next = new DOMParser().parseFromString(await response.text(), "text/html");
    const [ours, theirs] = [document, next].map((one) => PARTS.map((part) => one.querySelector(part)));
    const slides = [document, next].some((one) => one.querySelector("meta[name=slides]"));
    const same = next.documentElement.lang === document.documentElement.lang;
    if (!response.ok || theirs.includes(null) || slides || !same) {
      throw new Error("this page has to be loaded");
    }
    await fetchScripts(next, url);
    if (asked !== url) return;
    page?.leave();
    if (remember) history.pushState({}, "", url);
    shown = url.pathname;
    ours.forEach((part, i) => part.replaceWith(theirs[i]));
    document.title = next.title;
    document$.next(document);
    location$.next(url); // Material closes the drawer and the search
    const heading = document.querySelector(".md-content h1");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true }); // where a screen reader continues
    const target = url.hash && document.getElementById(decodeURIComponent(url.hash.slice(1)));
    if (target) target.scrollIntoView();
    else scrollTo(0, 0);
  }

  addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!python?.worker || !link || link.target || link.download || event.defaultPrevented) return;
    if (event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const url = new URL(link.href);
    const ours = url.href.startsWith(site) && /(\/|\.html)$/.test(url.pathname);
    if (!ours || url.pathname === location.pathname) return;
    event.preventDefault();
    show(url, true);
  });
  addEventListener("popstate", () => {
    asked = undefined;
    if (location.pathname !== shown) show(new URL(location.href), false);
  });

  return { Runnable, element, kinds };
})();
