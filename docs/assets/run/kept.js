// What the reader has written, answered and opened: it stays in this browser, and nowhere else.
//
// Several tabs may have the same page. So a tab reads what is kept before it changes a part, and hears what
// another tab changes. Of two texts the newer one is shown, and the other is among the earlier ones.

"use strict";

// Records, by key. What the browser's storage does not take, since it is full or forbidden, lasts as long as
// the page.
const storage = {
  refused: new Map(),

  get(key) {
    if (storage.refused.has(key)) return storage.refused.get(key);
    try {
      return JSON.parse(localStorage.getItem(key)) ?? {};
    } catch {
      return {}; // No storage, or it holds something else.
    }
  },

  set(key, record) {
    const before = storage.refused.has(key);
    if (storage.takes(key, record)) storage.refused.delete(key);
    else storage.refused.set(key, record);
    if (storage.refused.has(key) !== before) dispatchEvent(new Event("refused"));
  },

  // Whether all of a record is stored. The text counts most: with fewer earlier ones it may fit.
  takes(key, record) {
    const { earlier = [] } = record;
    for (let gone = 0; gone <= earlier.length; gone += 1) {
      try {
        if (empty(record)) localStorage.removeItem(key);
        else localStorage.setItem(key, JSON.stringify({ ...record, earlier: earlier.slice(gone) }));
        return !gone;
      } catch {
        // It is full, or forbidden.
      }
    }
    return empty(record);
  },

  get keys() {
    try {
      return [...new Set([...Object.keys(localStorage), ...storage.refused.keys()])];
    } catch {
      return [...storage.refused.keys()];
    }
  },
};

// The browser asks before it leaves a page whose texts are nowhere else.
addEventListener("beforeunload", (event) => {
  if ([...storage.refused.values()].some(({ text, earlier }) => text || earlier)) event.preventDefault();
});

// Whether there is nothing of the reader in a record.
const empty = ({ text, earlier, checks, hints, answer, seen }) =>
  [text, checks, hints, answer, seen].every((value) => value == null) && !earlier?.length;

const MOST_EARLIER = 10;

// The last texts of two lists, each once, by the time when they were written. All tabs come to the same list.
function together(some, more) {
  const byText = new Map();
  for (const one of [...some, ...more].sort((a, b) => a.at - b.at || (a.text < b.text ? -1 : 1))) {
    const { checks } = byText.get(one.text) ?? {};
    byText.delete(one.text);
    byText.set(one.text, { ...one, checks: one.checks ?? checks });
  }
  return [...byText.values()].slice(-MOST_EARLIER);
}

// The text of a record and its time, as a list of earlier texts.
const version = ({ text, written = 0 }, at = written) => (text == null ? [] : [{ text, at }]);

// The record of a text, which was made from an original, or of an answer:
//   text, written (when), over (when the text was written that it replaced), earlier ([{ text, at, checks }]),
//   checks (how many passed, of how many), hints (how many are open), answer, seen. Null: not any more.
class Kept {
  static open = new Map(); // the records of this page, by key

  constructor(name, original, pathname = location.pathname) {
    Object.assign(this, { name, original, key: Kept.key(pathname, name), hash: Kept.hash(original) });
    this.heard = () => {}; // what another tab has changed
    this.state = this.valid(storage.get(this.key));
    Kept.open.set(this.key, this);
  }

  // The exercise that a page is about.
  static exercise = (pathname) => /exercises\/(\d\d_\w+)/.exec(pathname)?.[1];

  // Every version of the site has an address of its own, and the same exercises.
  static key = (pathname, name) => `gradcheck_ref ${Kept.exercise(pathname) ?? pathname} ${name}`;

  // The records of all exercises, by the name of the exercise.
  static exercises() {
    const named = storage.keys.map((key) => [/^gradcheck_ref (\d\d_\w+) exercise$/.exec(key)?.[1], key]);
    return Object.fromEntries(named.filter(([name]) => name).map(([name, key]) => [name, storage.get(key)]));
  }

  // The text kept under the address of a page, of the newest version first. It stays there for old versions.
  static carryOver() {
    for (const old of storage.keys.sort().reverse()) {
      const [, pathname, name] = /^gradcheck_ref (\S*\/\S*) (.+)/.exec(old) ?? [];
      const key = Kept.exercise(pathname) && Kept.key(pathname, name);
      if (key && !storage.keys.includes(key)) storage.set(key, storage.get(old));
    }
  }

  // FNV-1a, of 32 bits.
  static hash(text) {
    let hash = 0x811c9dc5;
    for (const unit of text) hash = Math.imul(hash ^ unit.codePointAt(0), 0x01000193);
    return hash >>> 0;
  }

  // A text or an answer whose original has changed does not count; in an exercise the reader's file does.
  valid({ hash, before, ...state }) {
    if (this.name !== "exercise") return hash === this.hash ? state : {};
    // Older pages had one earlier text.
    return before ? { ...state, earlier: together(state.earlier ?? [], [{ text: before, at: 0 }]) } : state;
  }

  get text() {
    return this.state.text ?? this.original;
  }

  // Change some parts; texts are added to the earlier ones. The other parts are as the last tab has left them.
  set({ earlier = [], ...changes }) {
    const { text } = this.state;
    const missed = this.join(this.valid(storage.get(this.key)));
    if ("text" in changes) {
      const { written } = this.state;
      if (this.state.text !== text) this.add(version(this.state)); // of another tab, and not shown here
      Object.assign(this.state, { written: Math.max(Date.now(), (written ?? 0) + 1), over: written });
    }
    Object.assign(this.state, changes);
    if (this.state.text === this.original) this.state.text = null;
    this.add(earlier);
    storage.set(this.key, { ...this.state, hash: this.hash });
    if (missed) this.heard(this.state.text !== text && !("text" in changes));
  }

  // Put the text among the earlier ones, if there is one.
  remember(checks) {
    this.set({ earlier: version(this.state, Date.now()).map((one) => ({ ...one, checks })) });
  }

  // Only exercises have earlier texts.
  add(earlier) {
    if (this.name !== "exercise" || !earlier.length) return;
    this.state.earlier = together(this.state.earlier ?? [], earlier);
  }

  // Take over a record; return whether anything in it is new. The newer text counts. If it was not written over
  // the other one, that becomes an earlier text.
  join(theirs) {
    const mine = this.state;
    const [here, there] = [mine.written ?? 0, theirs.written ?? 0];
    const newer = there > here || (there === here && (theirs.text ?? "") > (mine.text ?? ""));
    const { text, written, over } = newer ? theirs : mine;
    const lost = newer ? mine : theirs;
    const hints = Math.max(mine.hints ?? 0, theirs.hints ?? 0) || undefined;
    this.state = { ...mine, ...theirs, text, written, over, hints, earlier: mine.earlier };
    this.add(theirs.earlier ?? []);
    if (lost.text !== text && !(newer && (over ?? 0) === here)) this.add(version(lost));
    return JSON.stringify(this.state) !== JSON.stringify(mine);
  }

  // Hear of a record that another tab has written. If both wrote at once, the storage has only one of them:
  // the other is in what is heard.
  hear(record) {
    const { text: shown } = this.state;
    const { text, written, over, earlier } = this.valid(record);
    const stored = this.valid(storage.get(this.key));
    const news = [this.join({ text, written, over, earlier }), this.join(stored)];
    if (!news.includes(true)) return;
    const texts = ({ text = null, earlier = [] }) => JSON.stringify([text, earlier]);
    if (texts(this.state) !== texts(stored)) {
      storage.set(this.key, { ...this.state, hash: this.hash });
    }
    this.heard(this.state.text !== shown);
  }
}

// What another tab has removed stays here until the page is left.
addEventListener("storage", ({ key, newValue }) => newValue && Kept.open.get(key)?.hear(JSON.parse(newValue)));
// A page that comes back from the browser's memory has heard nothing meanwhile.
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) for (const [key, kept] of Kept.open) kept.hear(storage.get(key));
});
document$.subscribe(() => Kept.open.clear());

Kept.carryOver();
