// Python for one page, in a thread of its own: the page can go on, and can end it.
//
// In:  { pyodide, package } once, then as often as one likes a task: { sources }, the examples to run,
//      or { exercise, archives, source, columns }, a file to check.
// Out: { doing } while it goes on, { text } for what is printed, { checked }, how many checks passed and
//      how many there are, and in the end { done }, the sentence that is left to say, or "". Where Python
//      is not there, or not any more: { failed }, a sentence.

const PLACE = "/page"; // on Python's path by its full name: the folder one works in may change
const MOST = 100_000; // characters of output: an endless loop that prints must not fill the memory

let python; // what is waited for before anything is run
let printed = 0;
let waiting = [];
let lastSent = 0;

function send() {
  if (waiting.length) postMessage({ text: waiting.join("") });
  waiting = [];
  lastSent = Date.now();
}

function print(text) {
  if (printed > MOST) return;
  printed += text.length;
  waiting.push(printed > MOST ? "\n... and more, which is not shown\n" : text);
  if (Date.now() - lastSent > 100) send();
}

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

async function start(place) {
  postMessage({ doing: "Loading Python ..." });
  const { loadPyodide } = await import(`${place.pyodide}pyodide.mjs`);
  const pyodide = await loadPyodide({ indexURL: place.pyodide });
  pyodide.setStdout(writer());
  pyodide.setStderr(writer());
  pyodide.setStdin({ error: true });
  postMessage({ doing: "Loading NumPy ..." });
  // Without NumPy plain Python still runs; an example that needs it says so when it is run.
  await pyodide.loadPackage("numpy", { messageCallback() {}, errorCallback() {} }).catch(() => {});
  pyodide.unpackArchive(await bytesOf(place.package), "wheel", { extractDir: PLACE });
  const driver = await bytesOf(new URL("driver.py", import.meta.url));
  pyodide.FS.writeFile(`${PLACE}/driver.py`, new Uint8Array(driver));
  pyodide.runPython(`import sys; sys.path.insert(0, "${PLACE}")`);
  return { pyodide, driver: pyodide.pyimport("driver"), unpacked: new Set() };
}

// Do a task; return [the error that ended it, the module that was missing], or empty texts.
async function done({ pyodide, driver, unpacked }, task) {
  if (task.sources) return driver.run(task.sources).toJs();
  for (const archive of task.archives) {
    if (unpacked.has(archive)) continue;
    pyodide.unpackArchive(await bytesOf(archive), "zip", { extractDir: "/course" });
    unpacked.add(archive);
  }
  postMessage({ doing: "Checking ..." });
  const [checks, missing] = driver.check("/course", task.exercise, task.source, task.columns).toJs();
  if (!missing) postMessage({ checked: checks });
  return ["", missing];
}

async function run(task) {
  let ready;
  try {
    ready = await python;
  } catch (error) {
    const failed = `Python could not be loaded (${error.message}). The page can be read without.`;
    return { failed };
  }
  postMessage({ doing: "Running ..." });
  printed = 0;
  let error, missing;
  try {
    [error, missing] = await done(ready, task);
  } catch (reason) {
    // Errors of the reader's code are told by the driver: this is the end of Python itself.
    return { failed: `Python was ended by what it ran (${reason.message}). The next time it is started again.` };
  } finally {
    send();
  }
  const sentence = `${missing} could not be loaded, so this cannot run here.`;
  if (missing === "numpy") return { failed: sentence }; // it may be there the next time
  return { done: missing ? sentence : error && `Ended by ${error}.` };
}

onmessage = async ({ data }) => {
  if (data.pyodide) python = start(data);
  else postMessage(await run(data));
};
