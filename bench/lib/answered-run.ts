import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ApiKey } from '../../src/main/engine/secrets/bound-secret.ts'
import { toJournalFile } from '../../src/main/engine/workspace/workspace-files.ts'
import { planSchema } from '../../src/shared/plan/plan.ts'
import { createBenchEngine, writeSource } from './workspace.ts'

/**
 * A run of this many rows, all answered: every seventh row with a rule, and all with scores of six classes.
 */
export async function prepareRun(folder: string, rows: number): Promise<{ runId: string }> {
  const path = join(folder, 'source.csv')
  writeSource(path, rows)
  const runId = await readIntoJournal(folder, path)
  answerAll(toJournalFile(folder, runId), rows)
  return { runId }
}

/** A run that is held before it sends anything. */
async function readIntoJournal(folder: string, path: string): Promise<string> {
  const engine = createBenchEngine(folder)
  const plan = planSchema.parse({
    connection: { baseUrl: 'http://127.0.0.1:9' },
    source: { path },
    operation: { kind: 'task' },
  })
  const run = await engine.runs.startRun(plan, {
    apiKey: ApiKey.create('key', plan.connection, 'of the benchmark'),
    hold: true,
  })
  await run.ready
  run.stop()
  await run.ended
  await engine.close()
  return run.runId
}

const COUNT_RULES = `INSERT OR REPLACE INTO facet (kind, value, n)
      SELECT 'rule', rule_id, count(*) FROM found JOIN term ON term.kind = 'rules' AND term.id = found.rules
      JOIN json_each(term.value) AS own JOIN rule ON rule.id = own.value GROUP BY rule_id;`

/** Writes a service's answers. */
function answerAll(file: string, rows: number): void {
  const db = new DatabaseSync(file)
  const classes = ['sexual', 'hate', 'violence', 'bullying', 'spam', 'promotions']
  const columns = classes.map((_, index) => `s${index + 1}`)
  const scores = classes.map((_, index) => `(id * (7 + ${index})) % 997 / 997.0`)
  db.exec(`
    PRAGMA synchronous = OFF;
    BEGIN;
    INSERT INTO result (row, state, attempts, status, task_id, duration_us)
      SELECT id, 'succeeded', 1, 200, 'task-' || id, 1000 FROM row;
    INSERT INTO rule (id, rule_id, rule_name) VALUES (1, 'rule-spam', 'Likely spam'), (2, 'rule-link', 'A link');
    INSERT INTO term (kind, id, value) VALUES ('rules', 1, '[1]'), ('rules', 2, '[2]'), ('rules', 3, '[1,2]');
    ${classes.map((name, index) => `INSERT INTO term (kind, id, value) VALUES ('class', ${index + 1}, '${name}');`).join('\n')}
    ${columns.map((column) => `ALTER TABLE found ADD COLUMN ${column} REAL;`).join('\n')}
    INSERT INTO found (row, rules, ${columns.join(', ')})
      SELECT id, (id % 7 = 0) + 2 * (id % 11 = 0), ${scores.join(', ')} FROM row;
    INSERT INTO facet (kind, value, n) VALUES ('state', 'succeeded', ${rows});
    ${COUNT_RULES}
    UPDATE run SET state = 'completed', claimed = ${rows}, claimed_rows = ${rows};
    COMMIT;
    PRAGMA wal_checkpoint(TRUNCATE)`)
  db.close()
}

/** A later run with the same rows; a tenth of them trigger other rules, and a tenth have other scores. */
export function answerDifferently(file: string, laterFile: string, runId: string): void {
  copyFileSync(file, laterFile)
  const db = new DatabaseSync(laterFile)
  db.exec(`
    PRAGMA synchronous = OFF;
    BEGIN;
    UPDATE run SET run_id = '${runId}', run_token = '${runId}';
    UPDATE found SET rules = (row % 20 = 3) WHERE row % 10 = 3;
    UPDATE found SET s1 = s1 + 0.001, s2 = s2 + 0.001, s3 = s3 + 0.001, s4 = s4 + 0.001, s5 = s5 + 0.001, s6 = s6 + 0.001
      WHERE row % 10 = 5;
    ${COUNT_RULES}
    COMMIT;
    PRAGMA wal_checkpoint(TRUNCATE)`)
  db.close()
}

/** Gives each row an answer that names a language and a model, and its own latency. */
export function addAnswers(file: string): void {
  const db = new DatabaseSync(file)
  db.exec(`
    PRAGMA synchronous = OFF;
    UPDATE result SET duration_us = 1000 * (row * 7919 % 3000), response = '{"user_id":"u' || row ||
      '","status":[{"status":{"code":"0"},"response":{"input":{"model":"model-' || (row % 3) ||
      '","text":"what was sent"},"language":"' || (CASE row % 4 WHEN 0 THEN 'DE' WHEN 1 THEN 'FR' ELSE 'EN' END) ||
      '","pii_entities":[],"urls":[],"output":[{"time":0,"classes":[{"class":"hate","score":1}]}]}}]}';
    INSERT INTO term (kind, id, value) VALUES ('language', 1, '["DE"]'), ('language', 2, '["FR"]'),
      ('language', 3, '["EN"]'), ('model', 1, '["model-0"]'), ('model', 2, '["model-1"]'), ('model', 3, '["model-2"]');
    UPDATE found SET model = row % 3 + 1, language = CASE row % 4 WHEN 0 THEN 1 WHEN 1 THEN 2 ELSE 3 END;
    PRAGMA wal_checkpoint(TRUNCATE)`)
  db.close()
}
