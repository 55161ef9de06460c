// What the scripts say to a reader, with values in place of {names}: in the language of the page where that
// has a translation (words.zh.js), and in English elsewhere.

"use strict";

const say = (text, values = {}) =>
  (globalThis.translations?.[text] ?? text).replace(/\{(\w+)\}/g, (_, name) => values[name]);
