import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createRunId, toJournalFile } from '../src/main/engine/workspace/workspace-files.ts'
import { runHistoryBench } from './history.ts'
import { runChild } from './lib/child.ts'
import { printTable, toMedian, toText } from './lib/figures.ts'
import { withFolder, writeSource } from './lib/workspace.ts'

const ROWS = 1_000_000
const ROUNDS = 3

/** Rows of each of the many runs that are listed. */
const SMALL_ROWS = 20

/** What is asked about a run, by name; see `children/lookback.ts`. */
const QUESTIONS = [
  'evaluate',
  'evaluate with slices',
  'sample by rule',
  'sample by score',
  'compare by row',
  'compare by content',
  'export',
  'export of all columns',
  'report',
] as const

/**
 * The list of many small runs; evaluation, samples, comparison, exports and a report of runs of 1,000,000 rows with rules
 * and six scores each: the time of the engine's call, and the peak memory of a process that asks nothing else.
 */
export async function runLookbackBench(): Promise<void> {
  await withFolder(async (folder) => {
    const { runId } = await prepareRun(folder, SMALL_ROWS)
    await runHistoryBench(join(folder, 'many'), toJournalFile(folder, runId))
  })
  await withFolder(async (folder) => {
    const prepared = await prepareRun(folder, ROWS)
    const laterRunId = createRunId()
    answerDifferently(toJournalFile(folder, prepared.runId), toJournalFile(folder, laterRunId), laterRunId)
    const table = [['question', 'median', 'longest', 'peak memory']]
    for (const kind of QUESTIONS) {
      const found: { ms: number; mb: number }[] = []
      for (let round = 1; round <= ROUNDS; round += 1) {
        const { value, peakRssBytes } = await runChild<{ ms: number }>('lookback', {
          ...{ kind, folder, runId: prepared.runId, laterRunId },
        })
        found.push({ ms: value.ms, mb: peakRssBytes / 1_000_000 })
      }
      const times = found.map(({ ms }) => ms / 1000)
      table.push([
        kind,
        `${toText(toMedian(times), 2)} s`,
        `${toText(Math.max(...times), 2)} s`,
        `${toText(Math.max(...found.map(({ mb }) => mb)))} MB`,
      ])
    }
    printTable(table)
  })
}

/** A run of so many rows, all of them answered. */
export async function prepareRun(folder: string, rows: number): Promise<{ runId: string }> {
  const path = join(folder, 'source.csv')
  writeSource(path, rows)
  const { value } = await runChild<{ runId: string }>('lookback', { kind: 'intake', folder, path })
  answerAll(toJournalFile(folder, value.runId), rows)
  return value
}

/** Writes what a service would have answered: a rule on every seventh row, and a score of each class. */
function answerAll(file: string, rows: number): void {
  const db = new DatabaseSync(file)
  const classes = ['sexual', 'hate', 'violence', 'bullying', 'spam', 'promotions']
  const values = classes.map((name, index) => `('${name}', ${index})`).join(', ')
  db.exec(`
    PRAGMA synchronous = OFF;
    BEGIN;
    INSERT INTO result (row, state, attempts, status, task_id, duration_us)
      SELECT id, 'succeeded', 1, 200, 'task-' || id, 1000 FROM row;
    INSERT INTO rule (id, rule_id, rule_name) VALUES (1, 'rule-spam', 'Likely spam'), (2, 'rule-link', 'A link');
    INSERT INTO row_rule (rule, row) SELECT 1, id FROM row WHERE id % 7 = 0;
    INSERT INTO row_rule (rule, row) SELECT 2, id FROM row WHERE id % 11 = 0;
    INSERT INTO row_class (row, class, score)
      SELECT row.id, class.column1, (row.id * (7 + class.column2)) % 997 / 997.0 FROM row, (VALUES ${values}) AS class;
    INSERT INTO facet (kind, value, n) VALUES ('state', 'succeeded', ${rows});
    UPDATE run SET state = 'completed', claimed = ${rows}, claimed_rows = ${rows};
    COMMIT;
    PRAGMA wal_checkpoint(TRUNCATE)`)
  db.close()
}

/** A later run with the same rows, of which a tenth triggers other rules, and a tenth has other scores. */
function answerDifferently(file: string, laterFile: string, runId: string): void {
  copyFileSync(file, laterFile)
  const db = new DatabaseSync(laterFile)
  db.exec(`
    PRAGMA synchronous = OFF;
    BEGIN;
    UPDATE run SET run_id = '${runId}', run_token = '${runId}';
    DELETE FROM row_rule WHERE row % 10 = 3;
    INSERT OR IGNORE INTO row_rule (rule, row) SELECT 1, id FROM row WHERE id % 20 = 3;
    UPDATE row_class SET score = score + 0.001 WHERE row % 10 = 5;
    COMMIT;
    PRAGMA wal_checkpoint(TRUNCATE)`)
  db.close()
}
