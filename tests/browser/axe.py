"""What axe-core finds wrong with an open page, and how a page becomes dark."""

from .conftest import node_module

OURS = [".md-content"]  # the rest of the page is Material's


# Whether one can read it, and tell a link from the text around it, is asked of the first text in
# each way of looking: that takes longest, and most texts look like one that was seen before. All
# other questions are asked of everything.
FIRST = """(good) => {
  const grounds = new Map([[null, ""]]);
  function ground(one) {
    if (!grounds.has(one)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(one);
      const own = [backgroundColor, backgroundImage, opacity].join();
      const clear = own === "rgba(0, 0, 0, 0),none,1";
      grounds.set(one, ground(one.parentElement) + (clear ? "" : `/${own}`));
    }
    return grounds.get(one);
  }
  const seen = new Set(good);
  const ways = [];
  for (const one of document.querySelectorAll(".md-content *")) {
    const texts = [...one.childNodes].filter((node) => node.nodeType === 3 && node.data.trim());
    const link = one.matches("a[href]");
    one.removeAttribute("data-first");
    if ((texts.length || link) && one.getClientRects().length) {
      const style = getComputedStyle(one);
      const { color, fontSize, fontWeight, visibility, textShadow } = style;
      const way = [color, fontSize, fontWeight, visibility, textShadow, ground(one)];
      if (link) {
        let around = one.parentElement;
        while (getComputedStyle(around).display === "inline") around = around.parentElement;
        const alone = around.textContent.trim() === one.textContent.trim();
        way.push(alone, getComputedStyle(around).color, style.textDecorationLine, style.border);
      }
      if (seen.has(way.join())) continue;
      one.setAttribute("data-first", "");
      seen.add(way.join());
      ways.push(way.join());
    }
  }
  return ways;
}"""
CONTRAST, HIDDEN = "color-contrast", "link-in-text-block"


def faults_of(tab, good=None):
    """Return what axe-core finds serious in our part of an open page."""
    others = {rule: {"enabled": False} for rule in (CONTRAST, HIDDEN)}
    return [*asked_of_axe(tab, OURS, rules=others), *contrast_faults_of(tab, good)]


def contrast_faults_of(tab, good=None):
    """Return texts with too little contrast for people with weak eyes, and links that hide.

    Nothing is asked about ways of looking that are in the list of good ones, which learns others.
    """
    good = [] if good is None else good
    ways = tab.evaluate(FIRST, good)
    faults = asked_of_axe(tab, ["[data-first]"], runOnly=[CONTRAST, HIDDEN]) if ways else []
    if not faults:
        good += ways
    return faults


def asked_of_axe(tab, where, **options):
    """Return what axe-core finds serious somewhere in an open page."""
    options |= {"resultTypes": ["violations"], "preload": False}  # half of the time goes without
    if not tab.evaluate("'axe' in window"):
        node_module("axe-core")
        tab.add_script_tag(url="/axe-core/axe.min.js")
    found = tab.evaluate("([where, how]) => axe.run({include: where}, how)", [where, options])
    return [
        f"{fault['id']}: {node['target']} {node['html'][:200]}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


# As Material's button does it, but at once: colours fade otherwise. Returns the ground it puts.
DARK = """() => {
  document.body.dataset.mdColorScheme = "slate";
  for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();
  return getComputedStyle(document.body).backgroundColor;
}"""
