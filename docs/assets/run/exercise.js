// An exercise in its page: checked as on the learner's computer, with hints one after the other.
//
// The text, the progress and the opened hints are kept in this browser, by Editor.

"use strict";

(() => {
  const { Runnable, element } = running;

  // --- files --------------------------------------------------------------------------------------

  function save(name, content) {
    const href = URL.createObjectURL(new Blob([content]));
    element("a", { href, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  }

  // CRC-32, as in zip files.
  function checksum(bytes) {
    let sum = -1;
    for (const byte of bytes) {
      sum ^= byte;
      for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 && 0xedb88320);
    }
    return ~sum >>> 0;
  }

  // A zip file of uncompressed texts: each has a head before it, and all heads come again at the end. A head
  // is a list of [value, bytes].
  function zip(files) {
    const numbers = (...pairs) =>
      Uint8Array.from(pairs.flatMap(([value, size]) => [...Array(size).keys()].map((i) => value >>> (8 * i))));
    const encoder = new TextEncoder();
    const size = (parts) => parts.reduce((sum, { length }) => sum + length, 0);
    const [all, heads] = [[], []];
    for (const [name, text] of Object.entries(files)) {
      const [path, content] = [encoder.encode(name), encoder.encode(text)];
      const { length } = content;
      // Version 2.0, names in UTF-8, stored, with the earliest date of zip files.
      const about = [[20, 2], [0x800, 2], [0, 4], [0x21, 2], [checksum(content), 4]];
      about.push([length, 4], [length, 4], [path.length, 2], [0, 2]);
      heads.push(numbers([0x02014b50, 4], [20, 2], ...about, [0, 10], [size(all), 4]), path);
      all.push(numbers([0x04034b50, 4], ...about), path, content);
    }
    const count = heads.length / 2;
    const end = [[0x06054b50, 4], [0, 4], [count, 2], [count, 2], [size(heads), 4], [size(all), 4], [0, 2]];
    return new Blob([...all, ...heads, numbers(...end)]);
  }

  // A text for a terminal, whose colors become classes: green 32, red 31, bold 1.
  function coloured(text) {
    const parts = text.split(/\x1b\[(\d+)m/);
    return parts.map((part, i) =>
      i % 2 ? "" : element("span", { className: `said-${parts[i - 1] ?? 0}` }, ...inColumns(part)),
    );
  }

  // Chinese before a gap gets two columns for each character, as in a terminal: fonts differ.
  function inColumns(text) {
    return text.split(/([\u2e80-\uffef]+ {2,})/).map((part, i) => {
      const wide = part.trimEnd().length;
      return i % 2 ? element("span", { className: "said-wide", style: `width: ${part.length + wide}ch` }, part) : part;
    });
  }

  // When something was written: for the reader, and for the name of a file. Nobody knows of older pages.
  const LONG = { dateStyle: "medium", timeStyle: "medium" };
  const time = (at) => (at ? new Date(at).toLocaleString(document.documentElement.lang, LONG) : say("earlier"));

  function stamp(at) {
    const local = new Date(at - 60_000 * new Date(at).getTimezoneOffset());
    return local.toISOString().slice(0, 19).replace("T", " ").replaceAll(":", ".");
  }

  const REFUSED =
    "This browser does not keep your work: its storage is full, or forbidden. Download your file before you leave.";

  class Exercise extends Runnable {
    constructor(block, page) {
      const { exercise, course } = block.dataset;
      super(block, page, { name: "exercise", label: say("Your file, {exercise}.py.", { exercise }) });
      this.name = exercise;
      const archives = course.split(" ").map((path) => new URL(path, location.href).href);
      this.runButton(say("Check"), () => ({
        ...{ exercise, archives },
        ...{ files: this.files, columns: this.columns, language: document.documentElement.lang },
      }));
      this.runButton(say("Run the file"), () => ({ sources: [this.editor.source], files: this.files }));
      this.button(say("Download"), () => save(`${exercise}.py`, this.editor.source));
      this.button(say("Download all"), () => this.saveAll());
      this.button(say("Open files"), () => this.chooser.click());
      this.chooser = element("input", { type: "file", accept: ".py", multiple: true, hidden: true });
      this.chooser.addEventListener("change", () => this.take(this.chooser.files));
      this.again = this.button(say("Start again"), () => this.editor.replace(this.editor.kept.original));
      this.button(say("Restart Python"), () => this.restart());
      this.bar.append(this.chooser, this.status);
      this.report = element("pre", { className: "run-output run-report", tabIndex: 0, hidden: true });
      this.report.setAttribute("aria-label", say("What the checks say"));
      this.report.setAttribute("role", "region");
      this.output.before(this.report);
      this.refused = element("p", { className: "kept-refused", role: "alert", hidden: true });
      const summary = element("summary", { textContent: say("Earlier versions") });
      this.earlier = element("details", { className: "earlier" }, summary);
      this.earlier.addEventListener("toggle", () => this.list());
      this.bar.after(this.refused);
      block.append(this.earlier);
      addEventListener("refused", () => this.offer());
      this.output.setAttribute("aria-label", say("What your file prints"));
      this.skip();
      this.editor.numbered();
      this.editor.begin();
      this.editor.changed = () => this.offer();
      this.editor.kept.heard = (other) => this.heard(other);
      this.offer();
      const { checks } = this.editor.kept.state;
      if (checks) this.status.textContent = say("The last time, {told}", { told: this.told(checks) });
      this.hints([...document.querySelectorAll("#hints ~ details")]);
    }

    told([passed, total]) {
      return say("{passed} of {total} checks passed.", { passed, total });
    }

    begins() {
      this.report.hidden = true;
    }

    checked({ checks, report, picture }) {
      this.editor.kept.set({ checks });
      this.editor.kept.remember(checks);
      this.offer();
      this.report.replaceChildren(...coloured(report));
      this.report.hidden = false;
      this.pictures = picture ? [drawPicture(picture)] : [];
      this.output.after(...this.pictures);
      return this.told(checks);
    }

    // What a file has changed in Python or NumPy stays changed for the next run.
    restart() {
      if (this.running) return this.stopped();
      this.page.python.stop();
      this.status.textContent = say("Python is gone, with all that was changed in it. The next run starts it anew.");
      return undefined;
    }

    // A way past the navigation for those who press Tab.
    skip() {
      const link = element("a", { className: "md-skip", href: "#your-file", textContent: say("Skip to your file") });
      link.addEventListener("click", (event) => {
        event.preventDefault();
        this.code.focus();
      });
      document.querySelector("[data-md-component=skip]").append(link);
    }

    // The number of characters in a line of the output.
    get columns() {
      const { fontSize, paddingLeft } = getComputedStyle(this.output);
      return Math.floor((this.block.clientWidth - 3 * parseFloat(paddingLeft)) / parseFloat(fontSize) / 0.61);
    }

    // What another tab has done with this exercise.
    heard(other) {
      const { editor } = this;
      if (editor.source !== editor.kept.text) editor.show(editor.kept.text);
      const when = { time: time(editor.kept.state.written) };
      if (other) this.status.textContent = say("Another tab has changed this file at {time}. This is the newer one.", when);
      this.offer();
      this.unfold();
    }

    offer() {
      const { edited, kept } = this.editor;
      this.again.disabled = !edited;
      this.earlier.hidden = !kept.state.earlier?.length;
      this.list();
      this.refused.hidden = !storage.refused.has(kept.key);
      this.refused.textContent = this.refused.hidden ? "" : say(REFUSED);
    }

    // The earlier texts, the last one first, each folded: to look at, and to take back.
    list() {
      if (!this.earlier.open) return;
      const shown = (this.editor.kept.state.earlier ?? []).toReversed().map(({ text, at, checks }) => {
        const back = element("button", { type: "button", className: "run-button", textContent: say("Take this back") });
        back.addEventListener("click", () => this.editor.replace(text));
        const told = [time(at), checks && this.told(checks)].filter(Boolean).join(say(", "));
        const summary = element("summary", { textContent: told });
        return element("details", {}, summary, element("pre", { textContent: text, tabIndex: 0 }), back);
      });
      this.earlier.replaceChildren(this.earlier.firstElementChild, ...shown);
    }

    // This file as it is now, and the files of other pages.
    get files() {
      const written = Object.entries(Kept.exercises()).map(([name, { text }]) => [name, text]);
      const others = written.filter(([, text]) => text != null);
      return { ...Object.fromEntries(others), [this.name]: this.editor.source };
    }

    saveAll() {
      const files = Object.entries(this.files).map(([name, text]) => [`${name}.py`, text]);
      for (const [name, { earlier = [] }] of Object.entries(Kept.exercises())) {
        for (const [i, { text, at, checks }] of earlier.entries()) {
          const points = checks ? `, ${checks.join(" of ")}` : "";
          files.push([`earlier/${name}/${i + 1}, ${stamp(at)}${points}.py`, text]);
        }
      }
      save("work.zip", zip(Object.fromEntries(files)));
    }

    // A file with the name of another exercise goes there; any other file goes here.
    async take(files) {
      const taken = [];
      for (const file of files) {
        const name = /^\d\d_[a-z_]*[a-z]/.exec(file.name)?.[0] ?? this.name;
        const text = (await file.text()).replaceAll("\r\n", "\n");
        const there = name === this.name ? this.editor.kept : new Kept("exercise", "", `/exercises/${name}/`);
        there.remember();
        if (name === this.name) this.editor.take(text);
        else there.set({ text, checks: null });
        taken.push(name);
      }
      this.chooser.value = ""; // so that the same file can be chosen again
      const names = taken.join(say(", "));
      this.status.textContent = say("Taken in: {names}. What was there is among the earlier versions.", { names });
    }

    // A hint appears once the one before it has been opened.
    hints(all) {
      const { kept } = this.editor;
      const opened = () => kept.state.hints ?? 0;
      this.unfold = () => all.forEach((hint, i) => (hint.hidden = i > opened()));
      all.forEach((hint, i) =>
        hint.addEventListener("toggle", () => {
          if (hint.open && i >= opened()) kept.set({ hints: i + 1 });
          this.unfold();
        }),
      );
      this.unfold();
    }
  }

  running.kinds[".exercise"] = Exercise;

  // The progress, next to the names of the exercises in the navigation.
  function progress(body) {
    for (const link of body.querySelectorAll(".md-nav--primary a.md-nav__link:not([href*='#'])")) {
      const { checks } = storage.get(Kept.key(link.pathname, "exercise"));
      if (checks) link.append(element("small", { textContent: ` ${checks.join("/")}` }));
    }
  }

  document$.subscribe(({ body }) => progress(body));
})();
