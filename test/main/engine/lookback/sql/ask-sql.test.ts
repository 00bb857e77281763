import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ReaderPool, readRunFamily } from '../../../../../src/main/engine/journal/run-family.ts'
import { askSql } from '../../../../../src/main/engine/lookback/sql/ask-sql.ts'
import { readExportPages } from '../../../../../src/main/engine/run/export/export-rows.ts'
import { readRow } from '../../../../../src/main/engine/run/results/row-detail.ts'
import { toJournalFile } from '../../../../../src/main/engine/workspace/workspace-files.ts'
import { forkProcess } from '../../../../../src/main/own-process.ts'
import { SQL_PROCESS } from '../../../../../src/main/program-files.ts'
import { SQL_VIEWS } from '../../../../../src/shared/lookback/sql-views.ts'
import { toStateName } from '../../../../../src/shared/messages/state-name.ts'
import { planSchema } from '../../../../../src/shared/plan/plan.ts'
import { toRowNumber } from '../../../../../src/shared/plan/source-place.ts'
import type { ExportRow } from '../../../../../src/shared/run/results.ts'
import { copyGolden } from '../../../../golden/answers.ts'
import { startFaultServer } from '../../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../../helpers/in-process-runs.ts'
import { firstOf, onlyInLongForm } from '../../../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../../../helpers/temporary-folder.ts'
import { waitFor } from '../../../../helpers/wait-for.ts'

/** The journals of a golden workspace. */
function openGolden(name: string): string[] {
  const workspace = join(createTemporaryFolder(), 'workspace')
  copyGolden(name, workspace)
  const runs = join(workspace, 'runs')
  return readdirSync(runs)
    .filter((file) => file.endsWith('.journal'))
    .map((file) => join(runs, file))
}

async function ask(
  files: readonly string[],
  sql: string,
  timeoutMs = 60_000,
  startProcess = forkProcess,
): Promise<unknown[][]> {
  const rows: unknown[][] = []
  await askSql({
    processUrl: SQL_PROCESS,
    startProcess,
    files,
    sql,
    timeoutMs,
    onRow: async (row) => void rows.push(row),
  })
  return rows
}

const EVERYTHING = `
  SELECT 'row', json_array(record, row, state, status, error_code, task_id, duration_ms, attempts, answer) FROM rows
  UNION ALL SELECT 'score', json_array(record, class, score) FROM scores
  UNION ALL SELECT 'rule', json_array(record, rule_id, rule_name) FROM rules
  UNION ALL SELECT 'try', json_array(record, number, sent_in_run, sent_at, outcome, status) FROM tries
  UNION ALL SELECT 'answer', json_array(record, body) FROM answers`

/** The columns of a row in the views that an export has too. */
function toViews(row: ExportRow, all: ReadonlyMap<number, ExportRow>): [string, unknown[]][] {
  const record = row.row
  const first = row.exchangeInRow === null ? row : all.get(row.exchangeInRow.record)
  const body = first?.callbacks.find(({ effect }) => effect === 'settled')?.body ?? first?.response?.body
  return [
    [
      'row',
      [
        ...[record, toRowNumber(row.place), toStateName(row.state), row.status, row.errorCode, row.taskId],
        ...[row.durationMs, row.attempts, row.answer],
      ],
    ],
    ...row.classScores.map(({ className, score }): [string, unknown[]] => [
      'score',
      [record, className, score],
    ]),
    ...row.triggeredRules.map((one): [string, unknown[]] => ['rule', [record, one.ruleId, one.ruleName]]),
    ...row.tries.map((one): [string, unknown[]] => [
      'try',
      [record, one.number, one.runId, one.sentAt || null, one.outcome, one.status],
    ]),
    ...(body === undefined ? [] : ([['answer', [record, body]]] as [string, unknown[]][])),
  ]
}

test.each(firstOf(2, ['retried', 'corrected', 'watchlists', 'task-v2-async', 'killed']))(
  'the views of the runs in %s agree with an export on each row',
  async (name) => {
    for (const file of openGolden(name)) await compareWithExport(file)
  },
)

async function compareWithExport(file: string): Promise<void> {
  const pool = new ReaderPool()
  const family = readRunFamily(pool, file, () => false)
  if (family === null) throw new Error(`${file} has no run`)
  const rows = [...readExportPages(family, {}, { withRequests: true })].flat()
  pool.close()
  const all = new Map(rows.map((row) => [row.row, row]))
  const [, ...found] = await ask([file], EVERYTHING)
  const toTexts = (entries: readonly (readonly [unknown, unknown])[]) =>
    entries.map(([kind, values]) => {
      // SQLite writes integral reals with a decimal.
      const all = typeof values === 'string' ? JSON.parse(values) : values
      return `${kind} ${JSON.stringify(all)}`
    })
  const expected = rows.flatMap((row) => toViews(row, all))
  expect(toTexts(found as [string, string][]).toSorted()).toEqual(toTexts(expected).toSorted())
}

test('a try that was in flight when its process died is in the views, the export and the row before it is recorded', async () => {
  onlyInLongForm()
  const [file = ''] = openGolden('killed')
  await compareWithExport(file)
  const lost = "SELECT record, number, sent_at, message FROM tries WHERE outcome = 'unknown' ORDER BY record"
  const [, ...found] = await ask([file], lost)
  const counted = await ask(
    [file],
    "SELECT record, attempts, NULL, message FROM rows WHERE state = 'unknown' ORDER BY record",
  )
  expect(found.length).toBeGreaterThan(0)
  expect(found).toEqual(counted.slice(1))
  const pool = new ReaderPool()
  const family = readRunFamily(pool, file, () => false)
  const [first = []] = found
  const detail = family && readRow(family, Number(first[0]))
  expect(detail?.attempts.at(-1)).toMatchObject({ number: first[1], sentAt: null, message: first[3] })
  expect(detail?.attempts).toHaveLength(detail?.result.attempts ?? 0)
  pool.close()
})

test('the views have the answers and the tries of each term that a retry sent again', async () => {
  onlyInLongForm()
  const folder = createTemporaryFolder()
  let failing = ['a', 'c', 'e']
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const { watchlist, terms } = JSON.parse(request.body) as {
        watchlist: string
        terms: { term: string }[]
      }
      const isFailing = ({ term }: { term: string }) => failing.includes(term)
      const lists = {
        added_terms: terms.filter((one) => !isFailing(one)),
        pre_existing_terms: [],
        failed_terms: terms.filter(isFailing),
      }
      wire.send(200, JSON.stringify({ message: `of ${terms.length}`, watchlist, ...lists }))
    },
  })
  const path = join(folder, 'terms.csv')
  writeFileSync(path, 'term\na\nb\nc\nd\ne\n')
  const plan = planSchema.parse({
    connection: { baseUrl: server.baseUrl },
    source: { path },
    operation: { kind: 'watchlist-add', watchlist: 'slurs', termsPerRequest: 3 },
  })
  const runs = createInProcessRuns(join(folder, 'work'))
  const { run_id: runId } = await runs.start(plan).ended
  failing = ['c']
  await runs.retry(runId).ended
  const file = toJournalFile(runs.workspace, runId)
  await compareWithExport(file)
  const told = await ask(
    [file],
    `SELECT record, json_extract(body, '$.message'), (SELECT count(*) FROM tries WHERE tries.record = answers.record)
     FROM answers ORDER BY record`,
  )
  expect(told.slice(1)).toEqual([
    [1, 'of 2', 2],
    [2, 'of 3', 1],
    [3, 'of 2', 2],
    [4, 'of 2', 1],
    [5, 'of 1', 2],
  ])
})

test.each([
  { what: 'all of which have a result', leavesOut: true, states: { succeeded: 2, left_out: 1 } },
  { what: 'one of which is invalid', leavesOut: false, states: { invalid: 1, succeeded: 2 } },
])('the views agree with an export on rows, $what', async ({ leavesOut, states }) => {
  const folder = createTemporaryFolder()
  const server = await startFaultServer({
    onRequest: (_request, wire) => wire.send(200, JSON.stringify({ task_id: 't', triggered_rules: [] })),
  })
  const path = join(folder, 'posts.csv')
  writeFileSync(path, 'post_id,user_id,text_data\np1,u1,hello\np2,,nobody\np3,u3,bye\n')
  const plan = planSchema.parse({
    connection: { baseUrl: server.baseUrl },
    source: { path },
    operation: { kind: 'task' },
    fixes: leavesOut ? [{ kind: 'leave_out', problem: 'required', field: 'user_id' }] : [],
  })
  const runs = createInProcessRuns(join(folder, 'work'))
  const { run_id: runId } = await runs.start(plan).ended
  const file = toJournalFile(runs.workspace, runId)
  await compareWithExport(file)
  const told = await ask([file], 'SELECT state, count(*) FROM rows GROUP BY state')
  expect(Object.fromEntries(told.slice(1) as [string, number][])).toEqual(states)
})

test('rows of several runs are distinguishable', async () => {
  const [first = ''] = openGolden('task-v1-sync')
  const [second = ''] = openGolden('task-legacy')
  const rows = await ask([first, second], 'SELECT run, count(*), count(text_data) FROM rows GROUP BY run')
  expect(rows[0]).toEqual(['run', 'count(*)', 'count(text_data)'])
  expect(rows).toHaveLength(3)
})

test.each([
  ['SELECT plan FROM journal_0.run', 'no such table: journal_0.run'],
  ['WITH rows AS (SELECT plan FROM journal_0.run) SELECT * FROM rows', 'no such table: journal_0.run'],
  ['WITH answers AS (SELECT plan FROM run) SELECT * FROM answers', 'no such table: main.run'],
  ['SELECT count(*) FROM attempt', 'no such table: main.attempt'],
  ['SELECT plan FROM (SELECT 0 AS plan) FULL JOIN run USING (plan)', 'no such table: main.run'],
  [
    'SELECT plan FROM (SELECT 0 AS plan) FULL JOIN journal_0.run USING (plan)',
    'no such table: journal_0.run',
  ],
  ['SELECT count(*) FROM sqlite_temp_schema', 'does more than read the views'],
  ['SELECT * FROM (SELECT sql FROM sqlite_temp_schema) AS sluice_shown_0_0', 'does more than read the views'],
  ["ATTACH '/tmp/other' AS other", 'does more than read the views'],
  ['PRAGMA query_only = OFF', 'does more than read the views'],
  ['DELETE FROM rows', 'cannot modify rows'],
  ['SELECT 1; SELECT 2', 'more than one statement'],
  ["SELECT load_extension('other')", 'not authorized'],
  ['SELECT zeroblob(1000000000)', 'too much memory'],
])('%s is refused', async (sql, reason) => {
  await expect(ask(openGolden('task-v1-sync').slice(0, 1), sql)).rejects.toMatchObject({
    code: 'BAD_USAGE',
    message: expect.stringContaining(reason),
  })
})

test('a statement can name its own tables like those of a journal', async () => {
  const [file = ''] = openGolden('task-v1-sync')
  const sql = 'WITH attempt AS (SELECT record FROM rows LIMIT 2) SELECT count(*) AS n FROM attempt'
  expect(await ask([file], sql)).toEqual([['n'], [2]])
})

test('a damaged cell that a statement reads is named', async () => {
  const [file = ''] = openGolden('task-v1-sync')
  const sql = 'SELECT text_data FROM rows'
  // The first statement migrates the journal to its newest schema.
  await ask([file], sql)
  const db = new DatabaseSync(file)
  db.exec(`UPDATE row SET cells = '["cut off' WHERE id = 3`)
  db.close()
  await expect(ask([file], sql)).rejects.toMatchObject({
    code: 'WORKSPACE_UNUSABLE',
    message: expect.stringContaining('the cells of record 3 cannot be read'),
  })
})

test('an endless statement is stopped at its time limit', async () => {
  const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'
  await expect(ask(openGolden('task-v1-sync').slice(0, 1), endless, 2_000)).rejects.toThrow(
    'took longer than 2 s and was stopped',
  )
})

test('an endless answer is streamed until nobody waits any more', async () => {
  const [file = ''] = openGolden('task-v1-sync')
  const sql =
    'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, hex(zeroblob(500)) FROM n'
  const controller = new AbortController()
  const onRow = async (_values: unknown[], index: number) => {
    if (index === 1_000) controller.abort(new Error('given up'))
  }
  const place = { processUrl: SQL_PROCESS, startProcess: forkProcess, files: [file] }
  const asking = askSql({ ...place, sql, timeoutMs: 60_000, signal: controller.signal, onRow })
  await expect(asking).rejects.toThrow('given up')
})

test('docs/sql.md lists every column of every view', () => {
  const page = readFileSync(new URL('../../../../../docs/sql.md', import.meta.url), 'utf8')
  for (const [view, columns] of Object.entries(SQL_VIEWS)) {
    const line = page.split('\n').find((one) => one.startsWith(`| \`${view}\` |`))
    const listed = [...(line?.split('|')[3] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name)
    expect(listed, view).toEqual([...columns])
  }
})

test('a statement ends with the process that started it, however that ends', async () => {
  const [file = ''] = openGolden('task-v1-sync')
  const sql = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'
  const asker = spawn(process.execPath, ['--input-type=module', '-e', ASKER], {
    env: {
      ...process.env,
      ENTRY: fileURLToPath(SQL_PROCESS),
      QUESTION: JSON.stringify({ files: [file], sql }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(asker.stdout, 'data')
  const statement = Number(String(line))
  expect(isAlive(statement)).toBe(true)
  asker.kill('SIGKILL')
  await waitFor(() => expect(isAlive(statement)).toBe(false))
})

const ASKER = `import { fork } from 'node:child_process'
  const child = fork(process.env.ENTRY, { execArgv: ['--disable-warning=ExperimentalWarning'] })
  child.send({ ...JSON.parse(process.env.QUESTION), askedBy: process.pid }, () => console.log(child.pid))`

/** An ended process that was not waited for does not count as alive. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}
