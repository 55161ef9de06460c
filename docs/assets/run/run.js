// A Run button for the examples of a page. Nothing is fetched before it is pressed.
//
// An example runs after those above it on the page, as in the tests, from a clean slate each time. It
// can be edited; Stop ends it. The page is as useful without: what an example prints stands below it.

(() => {
  const FROM_A_FILE =
    "A page that was opened as a file cannot run Python. Serve the folder, with python3 -m http.server," +
    " and open http://localhost:8000.";

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

    run(sources, on) {
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
      this.worker.postMessage({ sources });
    }

    stop() {
      this.worker?.terminate();
      this.worker = undefined;
    }
  }

  // One example: its code, its buttons, what it prints.
  class Example {
    constructor(block, page) {
      this.page = page;
      this.code = block.querySelector("code");
      this.original = this.code.innerHTML;
      this.runner = this.button("Run", () => (this.running ? this.stopped() : this.run()));
      this.editor = this.button("Edit", () => (this.editing ? this.reset() : this.edit()));
      this.status = element("span", { className: "run-status", role: "status" });
      this.output = element("pre", { className: "run-output", tabIndex: 0, hidden: true });
      this.output.setAttribute("aria-label", "Output");
      this.output.setAttribute("role", "region");
      block.append(
        element("div", { className: "run-bar" }, this.runner, this.editor, this.status),
        this.output,
      );
    }

    button(name, pressed) {
      const made = element("button", { type: "button", className: "run-button", textContent: name });
      made.addEventListener("click", pressed);
      return made;
    }

    get source() {
      return this.code.innerText.replaceAll("\u00a0", " ");
    }

    run() {
      if (location.protocol === "file:") {
        this.status.textContent = FROM_A_FILE;
        return;
      }
      this.output.textContent = this.status.textContent = "";
      this.show(true);
      this.page.python.run(this.page.upTo(this), {
        doing: (what) => (this.status.textContent = what),
        text: (text) => {
          this.output.hidden = false;
          this.output.append(text);
        },
        done: (sentence) => {
          this.status.textContent = sentence || (this.output.hidden ? "Done; nothing printed." : "Done.");
          this.show(false);
        },
      });
    }

    stopped() {
      this.page.python.stop();
      this.status.textContent = "Stopped.";
      this.show(false);
    }

    show(running) {
      this.running = running;
      if (running) this.output.hidden = true;
      this.runner.textContent = running ? "Stop" : "Run";
      for (const other of this.page.examples) if (other !== this) other.runner.disabled = running;
    }

    edit() {
      this.editing = true;
      this.editor.textContent = "Undo edits";
      this.code.contentEditable = "true";
      this.code.spellcheck = false;
      this.code.setAttribute("role", "textbox");
      this.code.setAttribute("aria-multiline", "true");
      this.code.setAttribute("aria-label", "Example, editable. Control and Enter runs it.");
      this.code.onkeydown = (event) => this.typed(event);
      this.code.onpaste = (event) => {
        event.preventDefault();
        document.execCommand("insertText", false, event.clipboardData.getData("text/plain"));
      };
      this.code.focus();
    }

    typed(event) {
      if (event.key !== "Enter") return;
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) {
        if (!this.running && !this.runner.disabled) this.run();
        return;
      }
      // A new line begins where this one does. `insertText` is old, but keeps the browser's undo.
      const before = getSelection().getRangeAt(0).cloneRange();
      before.setStart(this.code, 0);
      const line = before.toString().split("\n").pop();
      document.execCommand("insertText", false, `\n${line.match(/^ */)[0]}`);
    }

    reset() {
      this.editing = false;
      this.editor.textContent = "Edit";
      this.code.innerHTML = this.original;
      this.code.contentEditable = "false";
      for (const name of ["role", "aria-multiline", "aria-label"]) this.code.removeAttribute(name);
    }
  }

  class Page {
    constructor(blocks, data) {
      const root = new URL(data.root, location.href);
      this.python = new Python({
        pyodide: new URL(data.pyodide, root).href,
        package: new URL(data.package, root).href,
      });
      this.examples = [...blocks].map((block) => new Example(block, this));
    }

    upTo(example) {
      return this.examples.slice(0, this.examples.indexOf(example) + 1).map(({ source }) => source);
    }
  }

  document$.subscribe(({ body }) => {
    const place = body.querySelector("#run-python");
    const blocks = body.querySelectorAll(".highlight.run");
    if (place && blocks.length) new Page(blocks, place.dataset);
  });
})();
