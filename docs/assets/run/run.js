// Buttons that run Python in the reader's browser. Nothing is fetched before one is pressed.
//
// An example runs after those above it on the page, as in the tests, from a clean slate each time. An
// exercise is checked as it is on the learner's computer. Stop ends either. The page is as useful
// without: what an example prints stands below it.

"use strict";

(() => {
  const FROM_A_FILE =
    "A page that was opened as a file cannot run Python. Serve the folder, with python3 -m http.server," +
    " and open http://localhost:8000.";
  const KEYS = "Tab indents, Escape leaves, Control and Enter runs.";

  const here = new URL(".", document.currentScript.src);

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

    // Send the worker a task; see worker.js for what it may be, and what it says.
    run(task, on) {
      if (!this.worker) {
        this.worker = new Worker(new URL("worker.js", here), { type: "module" });
        this.worker.postMessage(this.place);
      }
      // Whatever failed, the next run begins with another worker.
      const failed = (sentence) => {
        this.stop();
        on.done(sentence);
      };
      const hear = { ...on, failed };
      this.worker.onmessage = ({ data }) => Object.keys(data).forEach((key) => hear[key]?.(data[key]));
      this.worker.onerror = ({ message }) =>
        failed(`Python could not be started (${message || "the browser does not say why"}).`);
      this.worker.postMessage(task);
    }

    stop() {
      this.worker?.terminate();
      this.worker = undefined;
    }
  }

  // A block of code with buttons, and what running it prints.
  class Runnable {
    constructor(block, page, editing) {
      this.page = page;
      this.block = block;
      this.code = block.querySelector("code");
      this.runs = []; // the buttons that run something
      this.bar = element("div", { className: "run-bar" });
      this.status = element("span", { className: "run-status", role: "status" });
      this.output = element("pre", { className: "run-output", tabIndex: 0, hidden: true });
      this.output.setAttribute("aria-label", "Output");
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
        this.status.textContent = FROM_A_FILE;
        return;
      }
      this.output.textContent = this.status.textContent = "";
      this.show(button);
      let result = "";
      this.page.python.run(task, {
        doing: (what) => (this.status.textContent = what),
        text: (text) => {
          this.output.hidden = false;
          this.output.append(text);
        },
        checked: (checks) => (result = this.checked(checks)),
        done: (sentence) => {
          const printed = this.output.hidden ? "Done; nothing printed." : "Done.";
          this.status.textContent = sentence || result || printed;
          this.show();
        },
      });
    }

    stopped() {
      this.page.python.stop();
      this.status.textContent = "Stopped.";
      this.show();
    }

    // Show which button is running, if any; while it is, no other can be pressed.
    show(button) {
      this.running = button;
      if (button) this.output.hidden = true;
      for (const { runs } of this.page.runnables) {
        for (const other of runs) {
          other.textContent = other === button ? "Stop" : other.dataset.name;
          other.disabled = Boolean(button) && other !== button;
        }
      }
    }
  }

  class Example extends Runnable {
    constructor(block, page, number) {
      super(block, page, { name: `example ${number}`, label: "Example, editable." });
      this.runButton("Run", () => ({ sources: this.page.upTo(this) }));
      this.edits = this.button("Edit", () => (this.editor.open ? this.reset() : this.edit()));
      this.bar.append(this.status);
      if (this.editor.kept.state.text !== undefined) this.begin();
    }

    begin() {
      this.edits.textContent = "Undo edits";
      this.editor.begin();
    }

    edit() {
      this.begin();
      this.status.textContent = KEYS;
      this.code.focus();
    }

    reset() {
      this.edits.textContent = "Edit";
      this.editor.end();
    }
  }

  class Exercise extends Runnable {
    constructor(block, page) {
      const { exercise, course } = block.dataset;
      super(block, page, { name: "exercise", label: `Your file, ${exercise}.py.` });
      const archives = course.split(" ").map((path) => new URL(path, location.href).href);
      this.runButton("Check", () => ({
        ...{ exercise, archives },
        ...{ source: this.editor.source, columns: this.columns },
      }));
      this.runButton("Run the file", () => ({ sources: [this.editor.source] }));
      this.button("Download", () => this.download(`${exercise}.py`));
      this.again = this.button("Start again", () => this.editor.swap());
      this.bar.append(this.status);
      this.editor.begin();
      this.editor.changed = () => this.offer();
      this.offer();
      const { checks } = this.editor.kept.state;
      if (checks) this.status.textContent = `The last time, ${this.told(checks)}`;
      this.hints([...document.querySelectorAll("#hints ~ details")]);
    }

    told([passed, total]) {
      return `${passed} of ${total} checks passed.`;
    }

    checked(checks) {
      this.editor.kept.set({ checks });
      return this.told(checks);
    }

    // The characters of a line that fit into the output.
    get columns() {
      const { fontSize, paddingLeft } = getComputedStyle(this.output);
      return Math.floor((this.block.clientWidth - 3 * parseFloat(paddingLeft)) / parseFloat(fontSize) / 0.61);
    }

    // To start again is to put away what there is: for as long as nothing else is written it can be had
    // back.
    offer() {
      const { edited, kept } = this.editor;
      this.again.textContent = edited || kept.state.before === undefined ? "Start again" : "Bring mine back";
      this.again.disabled = !edited && kept.state.before === undefined;
    }

    download(name) {
      const href = URL.createObjectURL(new Blob([this.editor.source], { type: "text/x-python" }));
      element("a", { href, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(href), 10_000);
    }

    // A hint is there once the one before it has been opened.
    hints(all) {
      const { kept } = this.editor;
      const opened = () => kept.state.hints ?? 0;
      const show = () => all.forEach((hint, i) => (hint.hidden = i > opened()));
      all.forEach((hint, i) =>
        hint.addEventListener("toggle", () => {
          if (hint.open && i >= opened()) kept.set({ hints: i + 1 });
          show();
        }),
      );
      show();
    }
  }

  class Page {
    constructor(body, blocks, exercises, data) {
      const root = new URL(data.root, location.href);
      const pyodide = new URL(data.pyodide, root);
      this.python = new Python({ pyodide: pyodide.href, package: new URL(data.package, root).href });
      this.runnables = [];
      this.examples = [...blocks].map((block, i) => new Example(block, this, i));
      this.runnables.push(...this.examples, ...[...exercises].map((block) => new Exercise(block, this)));
      const from = pyodide.host === location.host ? "this site" : pyodide.host;
      const first = this.runnables[0];
      first.status.textContent ||= `${first.runs[0].textContent} loads Python and NumPy, about 10 MB, from ${from}, once.`;
    }

    upTo(example) {
      return this.examples.slice(0, this.examples.indexOf(example) + 1).map(({ editor }) => editor.source);
    }
  }

  document$.subscribe(({ body }) => {
    const place = body.querySelector("#run-python");
    const blocks = body.querySelectorAll(".highlight.run");
    const exercises = body.querySelectorAll(".exercise");
    if (place && blocks.length + exercises.length) new Page(body, blocks, exercises, place.dataset);
  });
})();
