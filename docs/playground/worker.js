// The linter, beside the page: Python in a worker of its own. Each message is a request (playground/python/answers.py).
import { loadPyodide } from "./runtime/pyodide.mjs";
import { loadGrammar } from "./grammar.js";

const RUNTIME = new URL("./runtime/", import.meta.url).href;
const PACKAGES = "/lib/python3.14/site-packages";

const TOO_DEEP =
  "Python ended here: the text is nested deeper than a browser lets it follow. The command line follows further.";

let python = null;
let broken = false; // what WebAssembly cannot go on after: its memory is not to be trusted any more
const asked = load();

/** Loads everything. The answer is a function: a request → its answer, both JSON. */
async function load() {
  const [loaded, archive, parseBash] = await Promise.all([
    loadPyodide({ indexURL: RUNTIME, env: { LIBCST_PARSER_TYPE: "pure" } }),
    fetched("linter.zip"),
    loadGrammar(RUNTIME),
  ]);
  python = loaded;
  python.unpackArchive(archive, "zip", { extractDir: PACKAGES });
  python.globals.set("parse_bash", (text) => {
    broken = true;
    const nodes = parseBash(text);
    broken = false;
    return nodes;
  });
  return python.runPython(`
    import os
    import tempfile

    import tree_sitter

    tree_sitter.parse_bash = parse_bash
    os.chdir(tempfile.mkdtemp())

    from answers import answer
    answer
  `);
}

async function fetched(name) {
  const response = await fetch(RUNTIME + name);
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}

asked.then(
  () => self.postMessage({ ready: true }),
  () => {}, // told to whoever asks
);

self.onmessage = async ({ data }) => {
  try {
    const answer = await asked;
    const text = answer(JSON.stringify(data.request));
    if (broken) throw new Error(TOO_DEEP);
    self.postMessage({ id: data.id, answer: JSON.parse(text) });
  } catch (error) {
    // Python itself has ended: what is asked next needs another worker.
    const last = String(error.message ?? error).trim().split("\n").at(-1);
    self.postMessage({ id: data.id, fatal: python === null ? `it could not be loaded: ${last}` : TOO_DEEP });
  }
};
