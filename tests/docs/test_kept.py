"""What several tabs keep of one text (docs/assets/run/kept.js), in thousands of orders of events.

Each tab has its own copy of the storage, as a browser's processes have: a write of another one
arrives later, and not if it was made before an own one.
"""

import shutil
from pathlib import Path

import pytest
from beside import ran

KEPT = Path(__file__).parents[2] / "docs" / "assets" / "run" / "kept.js"

TABS = """
const vm = require("vm");
const script = new vm.Script(process.argv[1] + ";globalThis.Kept = Kept;");
let seed = 1;
const random = (n) => ((seed = (seed * 1103515245 + 12345) % 2 ** 31), (seed >>> 9) % n);

function opened(world) {
  const tab = { events: [], mine: 0 };
  const copy = new Map();
  const listeners = {};
  const localStorage = new Proxy(
    {
      getItem: (key) => copy.get(key) ?? null,
      setItem(key, newValue) {
        copy.set(key, newValue);
        tab.mine += 1;
        world.last = newValue;
        for (const other of world.tabs) other.events.push({ key, newValue, tab });
      },
      removeItem: (key) => copy.delete(key),
    },
    { ownKeys: () => [], getOwnPropertyDescriptor: () => ({ configurable: true }) },
  );
  const page = { localStorage, location: { pathname: "/exercises/01_forward/" }, Event: class {} };
  page.addEventListener = (name, heard) => (listeners[name] = heard);
  page.dispatchEvent = () => {};
  page.document$ = { subscribe() {} };
  page.Date = { now: () => world.clock };
  script.runInNewContext(page);
  tab.kept = new page.Kept("exercise", "start");
  tab.hear = () => {
    const event = tab.events.shift();
    if (!event) return;
    if (event.tab === tab) return void (tab.mine -= 1);
    if (!tab.mine) copy.set(event.key, event.newValue);
    listeners.storage(event);
  };
  return tab;
}

for (let run = 0; run < 300; run += 1) {
  const world = { tabs: [], clock: 1000 };
  for (let n = 2 + random(2); n > 0; n -= 1) world.tabs.push(opened(world));
  const some = () => world.tabs[random(world.tabs.length)];
  const owed = new Set(); // texts over which nobody wrote who saw them
  for (let step = 0; step < 10; step += 1) {
    const { kept, hear } = some();
    world.clock += random(2);
    const does = [() => kept.set({ hints: random(3) }), () => kept.remember([1, 6]), hear, hear];
    does.push(() => {
      owed.delete(kept.text);
      kept.set({ text: `text ${step}` });
      owed.add(`text ${step}`);
    });
    does[random(5)]();
  }
  for (let n = 0; world.tabs.some(({ events }) => events.length); n += 1) {
    if (n > 5000) throw new Error(`${run}: the tabs never come to an end`);
    some().hear();
  }
  const { text = "start", earlier = [] } = JSON.parse(world.last ?? "{}");
  const there = new Set([text, ...earlier.map((one) => one.text)]);
  for (const one of owed) if (!there.has(one)) throw new Error(`${run}: ${one} is lost`);
  for (const { kept } of world.tabs) if (kept.text !== text) throw new Error(`${run}: they differ`);
}
"""


def outcome_of(source):
    """Run the tabs with a script; return what went wrong."""
    node = shutil.which("node") or pytest.skip("needs node")
    return ran(node, "-e", TABS, source).stderr


def test_no_order_of_events_loses_a_text_and_all_tabs_show_the_same():
    assert outcome_of(KEPT.read_text(encoding="utf-8")) == ""


def test_a_tab_that_forgets_the_other_text_is_found_out():
    source = KEPT.read_text(encoding="utf-8")
    assert "this.add(version(lost))" in source
    assert "is lost" in outcome_of(source.replace("this.add(version(lost))", ""))
