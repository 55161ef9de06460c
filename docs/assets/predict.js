// Questions before what they ask about: the reader answers, then sees. There is no score; an answer stays
// in this browser, until the reader is asked again or the question changes.
//
// In Markdown, and without scripts, it is a question and a folded answer (exercises/new_exercise.md).
// Options are a list; a number is marked between data-from and data-to; else the reader writes. The first
// words in bold of the answer are the truth. A list at its end has a reply to each wrong option, "option: why",
// and a hint for who does not know. With data-folds, the next part is folded until the question is answered.

"use strict";

(() => {
  const { element } = running;
  const OPEN = say("I do not know");
  const NEXT = say("The next part of this page is folded until you have answered.");
  const REST = say("The rest of this page is folded until you have answered.");

  // --- three ways to answer -----------------------------------------------------------------------

  // Each has: node, the answer as text (undefined: none yet), ready, show(truth, revealed).

  function choice(list, name, answered) {
    const node = element("fieldset", { className: "predict-options" });
    const inputs = [];
    for (const [i, item] of [...list.children, element("li", {}, OPEN)].entries()) {
      const text = item.textContent.trim();
      const input = element("input", { type: "radio", name, value: text, id: `${name}-${i}` });
      const label = element("label", { htmlFor: input.id }, ...item.childNodes);
      input.addEventListener("change", answered);
      inputs.push(input);
      node.append(element("div", {}, input, label, element("span", { className: "predict-mark" })));
    }
    list.replaceWith(node);
    return {
      node,
      get answer() {
        return inputs.find(({ checked }) => checked)?.value;
      },
      set answer(text) {
        for (const input of inputs) input.checked = input.value === text;
      },
      show(truth, revealed) {
        for (const input of inputs) {
          input.disabled = revealed;
          const marks = [input.value === truth && say("✓ true"), input.checked && say("your answer")];
          const shown = revealed ? marks.filter(Boolean).join(say(", ")) : "";
          input.parentElement.querySelector(".predict-mark").textContent = shown;
          input.parentElement.classList.toggle("predict-true", revealed && input.value === truth);
        }
      },
    };
  }

  // A place on a scale, by default of powers of ten, with two marks above it in the end.
  function scale({ from, to, linear }, label, answered) {
    const STEPS = 200;
    const measure = linear === undefined ? Math.log10 : Number;
    const [low, high] = [measure(from), measure(to)];
    const part = (value) => (measure(value) - low) / (high - low);
    const value = (place) => {
      const at = low + (place / STEPS) * (high - low);
      return linear === undefined ? 10 ** at : at;
    };
    const input = element("input", { type: "range", min: 0, max: STEPS, value: STEPS / 2 });
    input.setAttribute("aria-label", label);
    const said = element("span", { className: "predict-value" });
    const marks = element("div", { className: "predict-scale" });
    const ends = element("div", { className: "predict-ends" }, element("span", {}, from), said, element("span", {}, to));
    const tell = () => {
      said.textContent = figures.short(value(Number(input.value)));
      input.setAttribute("aria-valuetext", said.textContent);
    };
    input.addEventListener("input", () => (tell(), answered()));
    tell();
    const mark = (name, at) => {
      const one = element("span", { className: `predict-at ${name}`, textContent: name === "truth" ? say("true") : say("yours") });
      one.style.left = `${100 * Math.max(0, Math.min(1, part(at)))}%`;
      return one;
    };
    return {
      node: element("div", { className: "predict-range" }, marks, input, ends),
      get answer() {
        return said.textContent;
      },
      set answer(text) {
        if (text !== undefined) input.value = Math.round(part(Number(text)) * STEPS);
        tell();
      },
      show(truth, revealed) {
        input.disabled = revealed;
        const all = [mark("truth", parseFloat(truth)), mark("yours", Number(said.textContent))];
        marks.replaceChildren(...(revealed ? all : []));
      },
    };
  }

  function writing(label, answered) {
    const node = element("textarea", { className: "predict-text", rows: 1, spellcheck: false });
    node.setAttribute("aria-label", label);
    node.placeholder = say("Your answer, in a few words");
    node.addEventListener("input", answered);
    return {
      node,
      get answer() {
        return node.value.trim() || undefined;
      },
      set answer(text) {
        node.value = text ?? "";
      },
      show() {},
    };
  }

  // --- a question ---------------------------------------------------------------------------------

  class Question {
    constructor(block) {
      const { name, from } = block.dataset;
      this.block = block;
      block.classList.add("asked");
      this.details = block.querySelector(":scope > details");
      const list = block.querySelector(":scope > ul");
      const asked = block.querySelector(":scope > p");
      asked.id = `predict-${name}`;
      this.kept = new Kept(`predict ${name}`, `${asked.textContent}${list?.textContent ?? ""}`);
      this.replies = [...this.details.querySelectorAll(":scope > ul:last-child > li")];
      this.truth = this.details.querySelector("strong")?.textContent.trim().replace(/[.。]$/, "");
      const answered = () => this.offer();
      if (list) this.way = choice(list, `predict-${name}`, answered);
      else if (from) this.way = scale(block.dataset, asked.textContent, answered);
      else this.way = writing(asked.textContent, answered);
      this.way.node.setAttribute("aria-labelledby", asked.id);
      if (list) this.way.node.setAttribute("role", "radiogroup");
      else this.details.before(this.way.node);
      this.button = element("button", { type: "button", className: "run-button" });
      this.button.addEventListener("click", () => (this.revealed ? this.ask() : this.reveal()));
      this.status = element("span", { className: "predict-status", role: "status" });
      this.hint = element("p", { className: "predict-hint", ariaLive: "polite", hidden: true });
      this.hint.append(...(this.replyTo(OPEN)?.cloneNode(true).childNodes ?? []));
      const [first] = this.hint.childNodes;
      if (first) first.data = first.data.slice(OPEN.length + 1).trimStart();
      this.details.before(this.hint, element("div", { className: "run-bar" }, this.button, this.status));
      this.fold();
      this.kept.heard = () => this.recall();
      this.recall();
    }

    // Show what is kept.
    recall() {
      const { answer, seen } = this.kept.state;
      this.way.answer = answer ?? undefined;
      this.show(Boolean(seen));
    }

    // Written as "option: reply", in any language.
    replyTo(answer) {
      return this.replies.find(({ textContent }) => [":", "："].some((colon) => textContent.startsWith(answer + colon)));
    }

    // Mark where the part ends that follows the question: with its section, or with the next one if nothing
    // else follows; data-folds="end" folds the rest of the page.
    fold() {
      const { folds } = this.block.dataset;
      if (folds === undefined) return;
      let end = folds === "end" ? null : this.block.nextElementSibling?.nextElementSibling;
      while (end && !end.matches("h2")) end = end.nextElementSibling;
      end?.classList.add("fold-end");
      const unfold = () => {
        const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
        if (!target?.checkVisibility || target.checkVisibility()) return;
        this.block.classList.remove("folds");
        target.scrollIntoView();
      };
      addEventListener("hashchange", unfold);
      setTimeout(unfold);
    }

    // While the reader has no answer, there is nothing to see.
    offer() {
      this.kept.set({ answer: this.way.answer ?? null });
      this.ready();
    }

    ready() {
      const { answer } = this.way;
      this.button.disabled = !this.revealed && answer === undefined;
      this.hint.hidden = this.revealed || answer !== OPEN || !this.hint.firstChild;
    }

    reveal() {
      this.kept.set({ answer: this.way.answer, seen: true });
      this.show(true);
      this.sets();
      this.status.textContent = this.compared;
    }

    // What a screen reader says. Two answers in words are for the reader to compare.
    get compared() {
      const { answer } = this.way;
      if (this.way.node.matches("textarea")) return "";
      const { truth } = this;
      return answer === truth
        ? say("You said so: {answer}.", { answer })
        : say("You said {answer}. True is {truth}.", { answer, truth });
    }

    ask() {
      this.kept.set({ answer: null, seen: null });
      this.way.answer = undefined;
      this.show(false);
      this.way.node.querySelector("input")?.focus();
    }

    show(revealed) {
      this.revealed = revealed;
      this.details.hidden = !revealed;
      this.details.open = revealed;
      this.button.textContent = revealed ? say("Ask me again") : say("See");
      const { folds } = this.block.dataset;
      const told = folds === undefined ? "" : folds === "end" ? REST : NEXT;
      this.status.textContent = revealed ? this.compared : told;
      this.way.show(this.truth, revealed);
      for (const reply of this.replies) reply.hidden = reply !== this.replyTo(this.way.answer ?? "");
      this.block.classList.toggle("folds", !revealed && folds !== undefined);
      this.ready();
    }

    // Put controls of a live figure on the page where the answer has them: "Claim=right, Step=3".
    sets() {
      for (const one of (this.block.dataset.sets ?? "").split(",").filter(Boolean)) {
        const [label, value] = one.split("=").map((part) => part.trim());
        const named = [...document.querySelectorAll(".figure-control label")];
        const control = named.find(({ textContent }) => textContent === say(label))?.control;
        if (!control) continue;
        control.value = value;
        control.dispatchEvent(new Event(control.matches("select") ? "change" : "input"));
      }
    }
  }

  document$.subscribe(({ body }) => {
    for (const block of body.querySelectorAll(".predict")) new Question(block);
  });
})();
