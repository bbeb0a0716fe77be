// The Durable Object of tasks: calls and requests that go on without their clients. Each task is an object of its own; one more for each caller
// counts what runs. All are of this class. What they keep is sealed: only WebAssembly can read it. An alarm runs the steps, and it
// is stored like everything else: a task survives a restart at any time.
import { DurableObject } from "cloudflare:workers";

import { ask } from "./ask.js";

const TABLES = `
CREATE TABLE IF NOT EXISTS task (id INTEGER PRIMARY KEY, name TEXT NOT NULL, owner TEXT NOT NULL, job TEXT NOT NULL, memory TEXT,
  status TEXT NOT NULL, message TEXT, created INTEGER NOT NULL, updated INTEGER NOT NULL, expires INTEGER NOT NULL,
  round INTEGER NOT NULL, attempt INTEGER NOT NULL, due INTEGER NOT NULL, outcome TEXT);
CREATE TABLE IF NOT EXISTS questions (key TEXT PRIMARY KEY, question TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS running (name TEXT PRIMARY KEY, expires INTEGER NOT NULL) WITHOUT ROWID;`;

/** How long after a crash a step is begun again, in milliseconds. */
const RETRY = 500;

const WORKING = "working";
const INPUT_REQUIRED = "input_required";

/** `run` runs a step: JSON in, JSON out; nothing if WebAssembly has crashed. It does not throw. */
export const tasksThat = (run) =>
  class Tasks extends DurableObject {
    #storage;
    /** Whether there are tables. */
    #isOpen;
    /** Whether a step runs. */
    #isRunning = false;

    constructor(context, env) {
      super(context, env);
      this.#storage = context.storage;
      this.#isOpen = this.#rows("SELECT 1 FROM sqlite_master WHERE name = 'task'").length > 0;
    }

    /** Counts a task of this caller, unless `most` are running. */
    admit({ name, most, expires }) {
      return this.#write(() => {
        this.#rows("DELETE FROM running WHERE expires <= ?", Date.now());
        const isCounted = this.#rows("SELECT 1 FROM running WHERE name = ?", name).length > 0;
        if (!isCounted && this.#rows("SELECT 1 FROM running LIMIT ?", most).length >= most) return false;
        this.#rows("INSERT OR IGNORE INTO running VALUES (?, ?)", name, expires);
        this.#storage.setAlarm(expires);
        return true;
      });
    }

    /** A task of this caller has ended. */
    async release({ name }) {
      if (!this.#isOpen) return;
      this.#write(() => this.#rows("DELETE FROM running WHERE name = ?", name));
      if (this.#rows("SELECT 1 FROM running LIMIT 1").length === 0) await this.#delete();
    }

    /**
     * Stores a task, unless `most` of this caller are running; once, if it is asked again. It is counted from here: unlike a request,
     * an object does not end when the client goes, so no place is left behind that no task takes.
     */
    async create({ name, owner, most, job, draft, life_ms: life }) {
      const expires = Date.now() + life;
      if (!(await ask(this.env.TASKS, owner, (object) => object.admit({ name, most, expires })))) return null;
      const now = Date.now();
      this.#write(() => {
        this.#rows(
          "INSERT OR IGNORE INTO task VALUES (1, ?, ?, ?, NULL, ?, NULL, ?, ?, ?, 0, 0, ?, ?)",
          ...[name, owner, job, WORKING, now, now, expires, now, draft],
        );
        this.#storage.setAlarm(now);
      });
      return this.#record();
    }

    async get() {
      const task = this.#record();
      // Never, as far as the runtime keeps its promise to repeat an alarm whose handler did not return.
      if (task?.status === WORKING && !this.#isRunning && (await this.#storage.getAlarm()) === null) this.#storage.setAlarm(Date.now());
      return task;
    }

    answer({ answers }) {
      const task = this.#task();
      if (task?.status === INPUT_REQUIRED) {
        this.#write(() => {
          for (const [key, answer] of answers) {
            const asked = this.#rows("DELETE FROM questions WHERE key = ? RETURNING key", key);
            if (asked.length > 0) this.#rows("INSERT OR REPLACE INTO answers VALUES (?, ?)", key, answer);
          }
          if (this.#rows("SELECT 1 FROM questions LIMIT 1").length > 0) return;
          const now = Date.now();
          this.#rows("UPDATE task SET status = ?, due = ?, updated = ?", WORKING, now, now);
          this.#storage.setAlarm(now);
        });
      }
      return this.#record();
    }

    /** Cancels the task. A step that runs goes on, and counts until it ends. */
    async cancel() {
      const task = this.#task();
      if (task && isOpen(task)) {
        this.#write(() => this.#end("cancelled", null, task.message));
        if (!this.#isRunning) await this.#settle(task);
      }
      return this.#record();
    }

    /** Removes the task. A step that runs goes on and counts, but nothing of it is kept. */
    async remove() {
      const [task, record] = [this.#task(), this.#record()];
      if (!task) return null;
      await this.#delete();
      if (isOpen(task) && !this.#isRunning) await this.#settle(task);
      return record;
    }

    /** Runs the next step, or deletes what has expired. */
    async alarm() {
      const task = this.#task();
      if (!task) return this.#expire();
      const now = Date.now();
      if (task.status !== WORKING || task.due > now) return this.#storage.setAlarm(Math.min(task.status === WORKING ? task.due : task.expires, task.expires));
      // What is written here is on disk before the step can have an effect outside.
      this.#write(() => this.#rows("UPDATE task SET attempt = attempt + 1"));
      const answers = this.#rows("SELECT key, answer FROM answers").map(({ key, answer }) => [key, answer]);
      const { job, memory, round, attempt } = task;
      this.#isRunning = true;
      const report = await run(JSON.stringify({ job, memory, answers, round, attempt: attempt + 1 }), this.env);
      this.#isRunning = false;
      // It may have been cancelled or removed, or have expired.
      if (this.#task()?.status === WORKING) {
        this.#write(() => {
          if (report !== undefined) return this.#apply(JSON.parse(report));
          // Another step or request may have crashed the instance. A step that does it twice is at fault.
          if (attempt > 0) return this.#end("failed", null, null);
          this.#storage.setAlarm(now + RETRY);
        });
      }
      const after = this.#task();
      if (after && isOpen(after)) return;
      await this.#settle(task);
      if (!after) await this.#expire();
    }

    /** Stores what follows a step. */
    #apply({ then, memory, after_ms: after, questions, outcome, failed, message }) {
      const now = Date.now();
      if (then === "end") return this.#end(failed ? "failed" : "completed", outcome, message);
      const status = then === "ask" ? INPUT_REQUIRED : WORKING;
      const due = now + (after ?? 0);
      this.#rows("UPDATE task SET status = ?, memory = ?, message = coalesce(?, message), attempt = 0, due = ?, updated = ?", status, memory, message, due, now);
      if (then === "ask") {
        this.#rows("DELETE FROM answers");
        for (const [key, question] of questions) this.#rows("INSERT INTO questions VALUES (?, ?)", key, question);
        this.#rows("UPDATE task SET round = round + 1");
      }
      const { expires } = this.#task();
      this.#storage.setAlarm(status === WORKING ? Math.min(due, expires) : expires);
    }

    /** Ends the task. Nothing is kept of its call. Without an outcome, its draft stays. */
    #end(status, outcome, message) {
      this.#rows("DELETE FROM answers");
      this.#rows("DELETE FROM questions");
      this.#rows("UPDATE task SET status = ?, outcome = coalesce(?, outcome), message = coalesce(?, message), job = '', memory = NULL, updated = ?", status, outcome, message, Date.now());
      this.#storage.setAlarm(this.#rows("SELECT expires FROM task")[0].expires);
    }

    /** Tells the object of the caller that the task has ended. Without it, the task counts until it expires. */
    async #settle({ owner, name }) {
      try {
        await this.env.TASKS.get(this.env.TASKS.idFromName(owner)).release({ name });
      } catch (error) {
        console.error(JSON.stringify({ event: "tasks", problem: `a task that has ended still counts: ${error}` }));
      }
    }

    async #expire() {
      if (this.#isOpen) this.#write(() => this.#rows("DELETE FROM running WHERE expires <= ?", Date.now()));
      const [next] = this.#isOpen ? this.#rows("SELECT min(expires) AS expires FROM running") : [];
      if (next?.expires) return this.#storage.setAlarm(next.expires);
      await this.#delete();
    }

    /** The task, unless it has expired. */
    #task() {
      if (!this.#isOpen) return undefined;
      return this.#rows("SELECT * FROM task WHERE expires > ?", Date.now())[0];
    }

    /** The task as its owner may see it, still sealed; null if there is none. */
    #record() {
      if (!this.#isOpen) return null;
      const [task] = this.#rows("SELECT status, message, created, updated, expires, outcome FROM task WHERE expires > ?", Date.now());
      if (!task) return null;
      const { status, message, created, updated, expires, outcome } = task;
      const questions = this.#rows("SELECT key, question FROM questions").map(({ key, question }) => [key, question]);
      return { status, message, created_ms: created, updated_ms: updated, expires_ms: expires, questions, outcome };
    }

    #rows(query, ...values) {
      return this.#storage.sql.exec(query, ...values).toArray();
    }

    /** Runs a function that writes: completely, or not at all. */
    #write(operation) {
      const result = this.#storage.transactionSync(() => {
        if (!this.#isOpen) this.#storage.sql.exec(TABLES);
        return operation();
      });
      this.#isOpen = true;
      return result;
    }

    async #delete() {
      this.#isOpen = false;
      // Both begin before anything else can come in between.
      await Promise.all([this.#storage.deleteAlarm(), this.#storage.deleteAll()]);
    }
  };

const isOpen = ({ status }) => status === WORKING || status === INPUT_REQUIRED;
