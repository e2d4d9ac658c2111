// Shell, parsed by tree-sitter as the page has it. Python reads the nodes (playground/python/tree_sitter.py).
import { Language, Parser } from "./runtime/web-tree-sitter.js";

/** Loads the grammar. The answer is a function: a script → its nodes as JSON, parents first. */
export async function loadGrammar(runtime) {
  await Parser.init({ locateFile: (name) => new URL(name, runtime).href });
  const parser = new Parser();
  parser.setLanguage(await Language.load(new URL("tree-sitter-bash.wasm", runtime).href));
  return (text) => {
    const tree = parser.parse(text);
    const cursor = tree.walk();
    try {
      return JSON.stringify(nodesOf(cursor));
    } finally {
      cursor.delete(); // left to the garbage collector it takes away what another cursor uses
      tree.delete();
    }
  };
}

function nodesOf(cursor) {
  const nodes = [];
  const parents = [-1];
  for (;;) {
    nodes.push([
      cursor.nodeType,
      cursor.nodeIsNamed,
      cursor.nodeIsMissing,
      cursor.currentNode.hasError,
      cursor.startIndex,
      cursor.endIndex,
      cursor.currentFieldName,
      parents.at(-1),
    ]);
    const here = nodes.length - 1;
    if (cursor.gotoFirstChild()) {
      parents.push(here);
      continue;
    }
    while (!cursor.gotoNextSibling()) {
      if (!cursor.gotoParent()) return nodes;
      parents.pop();
    }
  }
}
