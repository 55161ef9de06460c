// Code on a page that can be edited: Tab indents, Escape leaves. The edited text is kept (kept.js), until the
// original changes or the reader restores it.

"use strict";

// The text of a node, and its parts as ranges: a browser may keep it in several pieces.
class Plain {
  constructor(node) {
    this.pieces = [];
    this.text = "";
    const walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      this.pieces.push([this.text.length, walk.currentNode]);
      this.text += walk.currentNode.data;
    }
  }

  range(start, end) {
    const range = document.createRange();
    const at = (place) => this.pieces.findLast(([begin]) => begin <= place);
    const [from, to] = [at(start), at(end)];
    if (from) range.setStart(from[1], start - from[0]);
    if (to) range.setEnd(to[1], end - to[0]);
    return range;
  }
}

// Colors without markup, so that the text stays plain and the browser's undo works. If the browser
// cannot do that, the text has one color.
const colours = {
  parts: new RegExp(
    [
      /(?<comment>#.*)/,
      /(?<string>[rbfu]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))/,
      /\b(?<keyword>and|as|assert|async|await|break|class|continue|def|del|elif|else|except|False|finally|for|from|global|if|import|in|is|lambda|None|nonlocal|not|or|pass|raise|return|True|try|while|with|yield)\b/,
      /\b(?<number>\d(?:[eE][-+]|[\w.])*)/,
    ]
      .map(({ source }) => source)
      .join("|"),
    "g",
  ),

  // The colors of the parts of a text: [begin, end, name].
  of: (text) =>
    [...text.matchAll(colours.parts)].map(({ 0: part, index, groups }) => {
      const [name] = Object.entries(groups).find(([, found]) => found !== undefined);
      return [index, index + part.length, name];
    }),
  ranges: new Map(), // of each block of code

  show(code) {
    if (!globalThis.Highlight) return;
    const plain = new Plain(code);
    const spans = code.children.length ? [] : colours.of(plain.text);
    const found = spans.map(([begin, end, name]) => [name, plain.range(begin, end)]);
    colours.ranges.set(code, found);
    const all = [...colours.ranges.values()].flat();
    for (const name of ["comment", "string", "keyword", "number"]) {
      const these = all.filter(([other]) => other === name).map(([, range]) => range);
      CSS.highlights.set(`code-${name}`, new Highlight(...these));
    }
  },
};

// The editor of one block of code. `ran` is called by Control and Enter, `left` by Escape.
class Editor {
  constructor(code, { name, label, ran, left }) {
    Object.assign(this, { code, label, ran, left, coloured: code.innerHTML });
    this.kept = new Kept(name, this.source);
    this.changed = () => {};
    code.addEventListener("input", () => {
      const deleted = 2 * this.source.length < this.kept.text.length; // most of it, so it is kept
      this.kept.set({ text: this.source, earlier: deleted ? version(this.kept.state) : [] });
      colours.show(code);
      this.number();
      this.changed();
    });
    code.addEventListener("keydown", (event) => this.open && this.typed(event));
    code.addEventListener("paste", (event) => {
      if (!this.open) return;
      event.preventDefault();
      this.insert(event.clipboardData.getData("text/plain"));
    });
  }

  // What is folded has no innerText.
  get source() {
    return (this.code.innerText || this.code.textContent).replaceAll("\u00a0", " ");
  }

  get edited() {
    return this.source !== this.kept.original;
  }

  // Open the editor; show the text of the last time.
  begin() {
    this.open = true;
    this.code.contentEditable = "true"; // for browsers that do not know the next line
    try {
      this.code.contentEditable = "plaintext-only";
    } catch {
      // An older browser.
    }
    this.code.spellcheck = false;
    const told = { role: "textbox", "aria-multiline": "true", autocapitalize: "off" };
    told["aria-label"] = `${this.label} ${say("Tab indents, Escape leaves, Control and Enter runs it.")}`;
    for (const [key, value] of Object.entries(told)) this.code.setAttribute(key, value);
    this.show(this.kept.text);
  }

  // Close, and show the original.
  end() {
    this.open = false;
    this.show(this.kept.original);
    this.kept.set({ text: null });
    this.code.contentEditable = "false";
    for (const key of ["role", "aria-multiline", "aria-label", "autocapitalize"]) {
      this.code.removeAttribute(key);
    }
  }

  // Replace the whole text; the browser can undo that.
  take(text) {
    this.code.focus();
    getSelection().selectAllChildren(this.code);
    this.insert(text);
  }

  show(text) {
    if (this.open) this.code.textContent = text;
    else this.code.innerHTML = this.coloured;
    colours.show(this.code);
    this.number();
  }

  // Number the lines: reports say "at line 19".
  numbered() {
    this.numbers = document.createElement("span");
    this.numbers.className = "line-numbers";
    this.numbers.setAttribute("aria-hidden", "true");
    this.code.before(this.numbers);
  }

  number() {
    if (!this.numbers) return;
    const { length } = this.source.replace(/\n$/, "").split("\n");
    this.numbers.textContent = Array.from({ length }, (_, i) => i + 1).join("\n");
  }

  // Put another text in the place of this one, which becomes an earlier text.
  replace(text) {
    this.kept.remember();
    this.kept.set({ text });
    this.show(this.kept.text);
    this.changed();
  }

  // --- keys -------------------------------------------------------------------------------------

  typed(event) {
    const does = {
      Enter: () => (event.ctrlKey || event.metaKey ? this.ran() : this.insert(`\n${this.margin}`)),
      Tab: () => this.indent(event.shiftKey),
      Backspace: this.inMargin && (() => this.indent(true)),
      Escape: () => this.left(),
    }[event.key];
    if (!does || event.isComposing) return;
    event.preventDefault();
    does();
  }

  // Old, but it keeps the browser's undo.
  insert(text) {
    document.execCommand(text ? "insertText" : "delete", false, text);
  }

  // Where the selection begins and ends in the text.
  get selected() {
    const range = getSelection().getRangeAt(0);
    const before = range.cloneRange();
    before.setStart(this.code, 0);
    const end = before.toString().length;
    return [end - range.toString().length, end];
  }

  select(start, end) {
    getSelection().removeAllRanges();
    getSelection().addRange(new Plain(this.code).range(start, end));
  }

  // The indentation of the next line: that of the caret's line, and more after a colon.
  get margin() {
    const [start] = this.selected;
    const line = this.source.slice(0, start).split("\n").pop();
    return line.match(/^ */)[0] + (/^[^#]*:\s*(#.*)?$/.test(line) ? "    " : "");
  }

  // Whether there is nothing but indentation between the caret and the beginning of its line.
  get inMargin() {
    const [start, end] = this.selected;
    return start === end && /(^|\n) +$/.test(this.source.slice(0, start));
  }

  // Indent or unindent the selected lines; without a selection, insert spaces at the caret.
  indent(back) {
    const [start, end] = this.selected;
    const text = this.source;
    const first = text.lastIndexOf("\n", start - 1) + 1;
    if (start === end && !back) return this.insert(" ".repeat(4 - ((start - first) % 4)));
    const lineEnd = text.indexOf("\n", Math.max(start, end - 1));
    const last = lineEnd < 0 ? text.length : lineEnd;
    const lines = text.slice(first, last);
    const moved = back ? lines.replace(/^ {1,4}/gm, "") : lines.replace(/^(?=.)/gm, "    ");
    if (moved === lines) return undefined;
    this.select(first, last);
    this.insert(moved);
    if (start < end) return this.select(first, first + moved.length);
    const caret = Math.max(first, start + moved.length - lines.length);
    return this.select(caret, caret);
  }
}
