"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const LANGUAGES = ["python", "yaml", "shellscript"];

let client;

/** Start the server in the first folder of the workspace, with the settings as they are now. */
async function start() {
  const settings = vscode.workspace.getConfiguration("mfsdp-lint");
  const [command, ...args] = settings.get("command");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  client = new LanguageClient(
    "mfsdp-lint",
    { command, args, options: { cwd: folder } },
    {
      documentSelector: LANGUAGES.map((language) => ({ scheme: "file", language })),
      initializationOptions: { effectiveValues: settings.get("effectiveValues") },
    },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    vscode.window.showErrorMessage(
      `mfsdp-lint: ${command} did not start (${error.message}). Install it with the extra "lsp", or set mfsdp-lint.command.`,
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function restart() {
  await stop();
  await start();
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("mfsdp-lint.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("mfsdp-lint") && restart()),
  );
  await start();
};

exports.deactivate = stop;
