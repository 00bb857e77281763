import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { toJournalFile } from '../src/main/engine/workspace/workspace-files.ts'
import { runChild } from './lib/child.ts'
import { printTable, toMedian, toText } from './lib/figures.ts'
import { withFolder, writeSource } from './lib/workspace.ts'

const ROWS = 1_000_000
const ROUNDS = 3

/** What is asked about a run, by name; see `children/lookback.ts`. */
const QUESTIONS = ['evaluate', 'evaluate with slices', 'sample by rule', 'sample by score'] as const

/**
 * Evaluation and samples of a run of 1,000,000 rows with rules and six scores each: the time of the engine's call, and
 * the peak memory of a process that asks nothing else.
 */
export async function runLookbackBench(): Promise<void> {
  await withFolder(async (folder) => {
    const path = join(folder, 'source.csv')
    writeSource(path, ROWS)
    const { value: prepared } = await runChild<{ runId: string }>('lookback', {
      kind: 'intake',
      folder,
      path,
    })
    answerAll(toJournalFile(folder, prepared.runId))
    const table = [['question', 'median', 'longest', 'peak memory']]
    for (const kind of QUESTIONS) {
      const found: { ms: number; mb: number }[] = []
      for (let round = 1; round <= ROUNDS; round += 1) {
        const { value, peakRssBytes } = await runChild<{ ms: number }>('lookback', {
          ...{ kind, folder, runId: prepared.runId },
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

/** Writes what a service would have answered: a rule on every seventh row, and a score of each class. */
function answerAll(file: string): void {
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
    INSERT INTO facet (kind, value, n) VALUES ('state', 'succeeded', ${ROWS});
    UPDATE run SET state = 'completed', claimed = ${ROWS}, claimed_rows = ${ROWS};
    COMMIT;
    PRAGMA wal_checkpoint(TRUNCATE)`)
  db.close()
}
