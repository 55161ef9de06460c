// An exercise in its page: checked as on the learner's computer, with hints one after the other.
//
// What was written, how far one is and which hints were opened is kept in this browser, as Editor does.

"use strict";

(() => {
  const { Runnable, element } = running;

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

  running.kinds[".exercise"] = Exercise;

  // How far one is, beside the names of the exercises in the navigation.
  function progress(body) {
    for (const link of body.querySelectorAll(".md-nav--primary a.md-nav__link")) {
      const { checks } = Kept.of(link.pathname, "exercise");
      if (checks) link.append(element("small", { textContent: ` ${checks.join("/")}` }));
    }
  }

  document$.subscribe(({ body }) => progress(body));
})();
