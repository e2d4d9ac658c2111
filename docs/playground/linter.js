// The linter as the page sees it: a question, an answer. A worker that hangs or ends is replaced by the next question.

/** Seconds after which a question is given up. */
const PATIENCE = 60;

export class Linter {
  #worker = null;
  #waiting = new Map();
  #number = 0;

  /** Asks, and waits. Throws an Error that says what happened, where there is no answer. */
  ask(request) {
    this.#worker ??= this.#started();
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      const late = setTimeout(
        () => this.#ended(`no answer within ${PATIENCE} seconds: it was stopped`),
        PATIENCE * 1000,
      );
      this.#waiting.set(id, { resolve, reject, late });
      this.#worker.postMessage({ id, request });
    });
  }

  #started() {
    const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => {
      if (data.fatal) this.#ended(data.fatal);
      else this.#answered(data.id, data.answer);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.#ended("it could not be loaded: this copy of the site is without it (`make site` puts it there)");
    };
    return worker;
  }

  #answered(id, answer) {
    const { resolve, reject, late } = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(late);
    if (answer.error) reject(new Error(answer.error));
    else resolve(answer);
  }

  #ended(why) {
    this.#worker.terminate();
    this.#worker = null;
    for (const { reject, late } of this.#waiting.values()) {
      clearTimeout(late);
      reject(new Error(why));
    }
    this.#waiting.clear();
  }
}
