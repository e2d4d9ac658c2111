"use strict";

// The extension against stand-ins for VS Code and for the client library, so that no package is needed.

const assert = require("node:assert");
const Module = require("node:module");
const test = require("node:test");
const manifest = require("../package.json");

const defaults = Object.fromEntries(
  Object.entries(manifest.contributes.configuration.properties).map(([name, { default: value }]) => [name, value]),
);

/** Load the extension anew, with settings of a user, and a server that starts or fails. */
function loaded({ settings = {}, fails = false, folders = [{ uri: { fsPath: "/work" } }] } = {}) {
  const seen = { started: [], stopped: 0, errors: [], commands: {}, changed: undefined };
  const vscode = {
    workspace: {
      workspaceFolders: folders,
      getConfiguration: (section) => ({ get: (name) => ({ ...defaults, ...settings })[`${section}.${name}`] }),
      onDidChangeConfiguration: (listener) => void (seen.changed = listener),
    },
    window: { showErrorMessage: (message) => seen.errors.push(message) },
    commands: { registerCommand: (name, run) => void (seen.commands[name] = run) },
  };
  class LanguageClient {
    constructor(id, server, client) {
      Object.assign(this, { id, server, client });
    }
    async start() {
      if (fails) throw new Error("ENOENT");
      seen.started.push(this);
    }
    async stop() {
      seen.stopped += 1;
    }
  }
  const load = Module._load;
  Module._load = (name, ...rest) =>
    ({ vscode, "vscode-languageclient/node": { LanguageClient } })[name] ?? load(name, ...rest);
  delete require.cache[require.resolve("../extension.js")];
  try {
    return { ...require("../extension.js"), seen };
  } finally {
    Module._load = load;
  }
}

test("it starts the command of the settings in the folder of the workspace", async () => {
  const { activate, seen } = loaded({ settings: { "mfsdp-lint.command": ["/venv/bin/mfsdp-lint", "server"] } });
  await activate({ subscriptions: [] });
  const [{ server, client }] = seen.started;
  assert.deepStrictEqual(server, { command: "/venv/bin/mfsdp-lint", args: ["server"], options: { cwd: "/work" } });
  assert.deepStrictEqual(client.initializationOptions, { effectiveValues: false });
  assert.deepStrictEqual(
    client.documentSelector.map(({ language }) => `onLanguage:${language}`),
    manifest.activationEvents,
  );
});

test("a change of its settings restarts it, another one does not", async () => {
  const { activate, seen } = loaded();
  await activate({ subscriptions: [] });
  await seen.changed({ affectsConfiguration: (section) => section === "editor" });
  assert.deepStrictEqual([seen.started.length, seen.stopped], [1, 0]);
  await seen.changed({ affectsConfiguration: (section) => section === "mfsdp-lint" });
  assert.deepStrictEqual([seen.started.length, seen.stopped], [2, 1]);
});

test("a command that is not installed is an error that says what to do, and can be tried again", async () => {
  const { activate, deactivate, seen } = loaded({ fails: true, folders: undefined });
  await activate({ subscriptions: [] });
  assert.match(seen.errors[0], /mfsdp-lint did not start \(ENOENT\)\. Install it with the extra "lsp"/);
  await seen.commands["mfsdp-lint.restart"]();
  assert.strictEqual(seen.errors.length, 2);
  await deactivate();
  assert.strictEqual(seen.stopped, 0);
});

test("only a trusted workspace chooses the command that runs", () => {
  const { restrictedConfigurations, supported } = manifest.capabilities.untrustedWorkspaces;
  assert.deepStrictEqual([supported, restrictedConfigurations], ["limited", ["mfsdp-lint.command"]]);
});
