// The linter as the page sees it: a question, an answer. A worker that hangs or ends is replaced by the next question.

/** Seconds after which a question is given up; loading may take as long as the network needs. */
const PATIENCE = 60;

const ABSENT = "it could not be loaded: this copy of the site is without it (`make site` puts it there)";

export class Linter {
  #worker = null;
  #ready = false;
  #waiting = new Map();
  #number = 0;

  /** Asks, and waits. Throws an Error that says what happened, where there is no answer. */
  ask(request) {
    this.#worker ??= this.#started();
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      const question = { resolve, reject, late: null };
      this.#waiting.set(id, question);
      if (this.#ready) this.#limit(question);
      this.#worker.postMessage({ id, request });
    });
  }

  #started() {
    const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => {
      if (data.ready) this.#isReady();
      else if (data.fatal) this.#ended(data.fatal);
      else this.#answered(data.id, data.answer);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.#ended(ABSENT);
    };
    return worker;
  }

  #isReady() {
    this.#ready = true;
    for (const question of this.#waiting.values()) this.#limit(question);
  }

  #limit(question) {
    question.late = setTimeout(() => this.#ended(`no answer within ${PATIENCE} seconds: it was stopped`), PATIENCE * 1000);
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
    this.#ready = false;
    for (const { reject, late } of this.#waiting.values()) {
      clearTimeout(late);
      reject(new Error(why));
    }
    this.#waiting.clear();
  }
}
