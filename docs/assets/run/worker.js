// Python for one page, in a thread of its own: the page can go on, and can end it.
//
// In:  { pyodide, package } once, then any number of tasks: { sources }, the examples to run,
//      or { exercise, archives, columns, language }, to check; with { files }, what the reader wrote in
//      exercises.
// Out: { doing } while it goes on, { text } for what is printed, { drawn }, what `plot` was given,
//      { checked }, what the checks say (see exercises/in_page.py), and in the end { done }, a last sentence or "". If Python does not load or
//      has ended: { failed }, a sentence. Sentences are for `say` (words.js): [text, what stands in it].

const PLACE = "/page"; // on Python's path by its full name: the working folder may change
const SIGALRM = 14;
const MOST = 100_000; // characters of output: an endless loop that prints must not fill the memory

let python; // a promise; everything waits for it
let printed = 0;
let waiting = [];
let lastSent = 0;
let told = Infinity; // when the page last got a line about the progress
const PATIENCE = 5000; // milliseconds, before the page shows which line runs

function send() {
  if (waiting.length) postMessage({ text: waiting.join("") });
  waiting = [];
  lastSent = Date.now();
}

function print(text) {
  if (!text || printed > MOST) return;
  const shown = text.slice(0, MOST - printed);
  printed += text.length;
  waiting.push(printed > MOST ? `${shown}\n... and more, which is not shown\n` : text);
  sendInTime();
}

function sendInTime() {
  if (Date.now() - lastSent > 100) send();
}

// Python often looks here for the number of a signal. This is the moment to send the output, even of
// an endless loop, and to give `driver.tell_what_runs` an alarm.
const signals = {
  get 0() {
    sendInTime();
    if (Date.now() - told < PATIENCE) return 0;
    told = Date.now();
    return SIGALRM;
  },
  set 0(_) {},
};

function writer() {
  const decoder = new TextDecoder();
  return {
    write(bytes) {
      print(decoder.decode(bytes, { stream: true }));
      return bytes.length;
    },
  };
}

async function bytesOf(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response.arrayBuffer();
}

// Have each fetch tell the page how much is there.
function countFetched() {
  const fetched = fetch;
  let [bytes, told] = [0, 0];
  globalThis.fetch = async (...asked) => {
    const { body, headers, status, statusText } = await fetched(...asked);
    const counted = new TransformStream({
      transform(chunk, out) {
        bytes += chunk.length;
        if (bytes - told > 1e5) {
          told = bytes;
          postMessage({ doing: ["Loading Python ... {got} MB are there", { got: (bytes / 1e6).toFixed(1) }] });
        }
        out.enqueue(chunk);
      },
    });
    return new Response(body?.pipeThrough(counted), { headers, status, statusText });
  };
  return () => (globalThis.fetch = fetched);
}

async function start(place) {
  const stopCounting = countFetched();
  postMessage({ doing: ["Loading Python ..."] });
  const { loadPyodide } = await import(`${place.pyodide}pyodide.mjs`);
  const pyodide = await loadPyodide({ indexURL: place.pyodide });
  pyodide.setStdout(writer());
  pyodide.setStderr(writer());
  pyodide.setStdin({ error: true });
  // Without NumPy, plain Python still runs; an example that needs NumPy says so when it runs.
  await pyodide.loadPackage("numpy", { messageCallback() {}, errorCallback() {} }).catch(() => {});
  stopCounting();
  pyodide.unpackArchive(await bytesOf(place.package), "wheel", { extractDir: PLACE });
  const source = await bytesOf(new URL("driver.py", import.meta.url));
  pyodide.FS.writeFile(`${PLACE}/driver.py`, new Uint8Array(source));
  pyodide.runPython(`import sys; sys.path[:0] = ["${PLACE}", "/course"]`);
  const driver = pyodide.pyimport("driver");
  driver.tell_what_runs((line) => postMessage({ doing: ["Still running, {line} (Stop ends it)", { line }] }));
  pyodide.setInterruptBuffer(signals);
  return { pyodide, driver, archives: new Map() };
}

// Do a task; return [the error that ended it, the module that was missing], or empty texts.
async function done({ pyodide, driver, archives }, task) {
  if (task.files) driver.write("/course", pyodide.toPy(task.files));
  told = Date.now();
  if (task.sources) {
    const ended = driver.run(task.sources).toJs();
    postMessage({ drawn: JSON.parse(driver.drawn()) });
    return ended;
  }
  for (const archive of task.archives) {
    if (!archives.has(archive)) archives.set(archive, await bytesOf(archive));
    // Each time: another exercise may have been here meanwhile.
    pyodide.unpackArchive(archives.get(archive), "zip", { extractDir: "/course" });
  }
  postMessage({ doing: ["Checking ..."] });
  told = Date.now();
  const said = JSON.parse(driver.check("/course", task.exercise, task.columns, task.language));
  if (!said.missing) postMessage({ checked: said });
  return ["", said.missing ?? ""];
}

async function run(task) {
  let ready;
  try {
    ready = await python;
  } catch (error) {
    const why = error.message;
    if (!navigator.onLine) {
      return { failed: ["You are offline, and Python is not loaded yet. The page can be read without."] };
    }
    return { failed: ["Python could not be loaded ({why}). The page can be read without.", { why }] };
  }
  postMessage({ doing: ["Running ..."] });
  printed = 0;
  let error, missing;
  try {
    [error, missing] = await done(ready, task);
  } catch (reason) {
    // The driver reports errors of the reader's code: this is an error of Python itself.
    const why = reason.message;
    return { failed: ["Python was ended by what it ran ({why}). The next time it is started again.", { why }] };
  } finally {
    told = Infinity;
    send();
  }
  const [, other] = /^work\.(\d\d)/.exec(missing) ?? [];
  const sentence = other
    ? ["Nothing is written in exercise {other} yet: this needs it.", { other }]
    : ["{missing} could not be loaded, so this cannot run here.", { missing }];
  if (missing === "numpy") return { failed: sentence }; // it may be there the next time
  return { done: missing ? sentence : error && ["Ended by {error}.", { error }] };
}

onmessage = async ({ data }) => {
  if (data.pyodide) python = start(data);
  else postMessage(await run(data));
};
