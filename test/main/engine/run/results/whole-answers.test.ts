import { renameSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { MIGRATIONS } from '../../../../../src/main/engine/journal/migrations.ts'
import { readRow } from '../../../../../src/main/engine/run/results/row-detail.ts'
import { toJournalFile } from '../../../../../src/main/engine/workspace/workspace-files.ts'
import type { WireRequest } from '../../../../helpers/fault-server.ts'
import { startFaultServer, toTaskAnswer } from '../../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../../helpers/in-process-runs.ts'
import { onlyInLongForm } from '../../../../helpers/long-form.ts'
import { createRunPlan, openTestFolder } from '../../../../helpers/test-folder.ts'
import { toRow } from '../wire-record.ts'

const folder = openTestFolder()
const MIB = 1024 * 1024

/** A run with one row for each answer from `toAnswer`. */
async function runAnswers(rows: number, toAnswer: (request: WireRequest) => string) {
  const runs = createInProcessRuns(folder)
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toAnswer(request)),
  })
  const { run_id: runId } = await runs.start(createRunPlan(folder, rows, server.baseUrl)).ended
  return { runs, runId, read: (row: number) => runs.read(runId, (view) => readRow(view, row)) }
}

test('an answer of a megabyte is shown in full, including its end', async () => {
  const text = 'Grüße, "Welt" 🌍 '.repeat(60_000)
  const answers = new Map<number, string>()
  const { read } = await runAnswers(3, (request) => {
    const answer = JSON.stringify({ ...toTaskAnswer(request), text, from_cache: true })
    answers.set(toRow(request), answer)
    return answer
  })
  for (const row of [1, 2, 3]) {
    expect(read(row)).toMatchObject({ responseBody: answers.get(row), responseCutFrom: null })
  }
})

test('an answer of more than 4 MiB is cut between characters, and says how long it was', async () => {
  const answers = new Map<number, string>()
  const { read } = await runAnswers(2, (request) => {
    const padding = toRow(request) === 1 ? '🌍'.repeat(MIB) : ''
    const answer = JSON.stringify({ ...toTaskAnswer(request), padding })
    answers.set(toRow(request), answer)
    return answer
  })
  const whole = answers.get(1) ?? ''
  const { responseBody, responseCutFrom } = read(1)
  expect(responseCutFrom).toEqual({ bytes: Buffer.byteLength(whole) })
  expect(whole.startsWith(responseBody ?? 'nothing')).toBe(true)
  expect(Buffer.byteLength(responseBody ?? '')).toBeGreaterThan(4 * MIB - 4)
  expect(Buffer.byteLength(responseBody ?? '')).toBeLessThanOrEqual(4 * MIB)
  expect(read(2)).toMatchObject({ responseBody: answers.get(2), responseCutFrom: null })
})

test('long repetitive answers take a fraction of their size in the journal', async () => {
  const findings = Array.from({ length: 200 }, (_, n) => ({
    start_char_index: n,
    classes: [{ class: 'hate', score: 0 }],
  }))
  const { runs, runId } = await runAnswers(40, (request) =>
    JSON.stringify({ ...toTaskAnswer(request), findings }),
  )
  const sizeBytes = runs.read(runId, ({ db }) => {
    const { bytes } = db.prepare('SELECT sum(length(content)) AS bytes FROM long_answer').get() ?? {}
    return Number(bytes)
  })
  expect(sizeBytes).toBeGreaterThan(0)
  expect(sizeBytes).toBeLessThan((40 * JSON.stringify(findings).length) / 4)
})

test('the short answer to a later try replaces a long one', async () => {
  const runs = createInProcessRuns(folder)
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (request.number === 1) wire.send(503, `"${'busy '.repeat(10_000)}"`)
      else wire.send(200, toTaskAnswer(request))
    },
  })
  const { run_id: runId } = await runs.start(createRunPlan(folder, 1, server.baseUrl)).ended
  const { responseBody, attempts } = runs.read(runId, (view) => readRow(view, 1))
  expect(attempts).toHaveLength(2)
  expect(JSON.parse(responseBody ?? '')).toMatchObject({ triggered_rules: [] })
})

/**
 * A service with a different answer to every request, and the answers each row got; it breaks if `toStatus`
 * is null.
 */
async function startTellingService(toStatus: (nth: number) => number | null) {
  const given = new Map<number, (string | null)[]>()
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const row = toRow(request)
      const own = given.get(row) ?? []
      given.set(row, own)
      const status = toStatus(own.length + 1)
      // Every second one is long enough to be compressed.
      const answer = { ...toTaskAnswer(request), nth: own.length, padding: 'x'.repeat((row % 2) * 2_000) }
      own.push(status === null ? null : JSON.stringify(answer))
      if (status === null) wire.reset()
      else wire.send(status, JSON.stringify(answer))
    },
  })
  return { server, given }
}

/** The answers to a row's tries; the last is the row's own. */
function readAnswers(runs: ReturnType<typeof createInProcessRuns>, runId: string, row: number) {
  const { attempts, responseBody } = runs.read(runId, (view) => readRow(view, row))
  const answers = attempts.map(({ response }) => response?.body ?? null)
  return [...answers.slice(0, -1), answers.at(-1) ?? responseBody]
}

test('every try of a row keeps its own answer, the last one as the answer of the row', async () => {
  onlyInLongForm()
  const runs = createInProcessRuns(folder)
  const { server, given } = await startTellingService((nth) => (nth === 2 ? null : nth < 4 ? 503 : 200))
  const plan = createRunPlan(folder, 120, server.baseUrl)
  const { run_id: runId, rows } = await runs.start(plan).ended
  expect(rows.succeeded).toBe(120)
  for (let row = 1; row <= 120; row += 1) {
    expect(given.get(row)).toHaveLength(4)
    expect(readAnswers(runs, runId, row)).toEqual(given.get(row))
  }
})

test('resending rows by resuming or retrying leaves their earlier answers', async () => {
  const runs = createInProcessRuns(folder)
  const { server, given } = await startTellingService((nth) => [503, 503, 200][nth - 1] ?? 200)
  const plan = createRunPlan(folder, 3, server.baseUrl, { retry: { limit: 0 } })
  const { run_id: runId, rows } = await runs.start(plan).ended
  expect(rows.unknown).toBe(3)
  expect((await runs.resume(runId, 'resend').ended).rows.unknown).toBe(3)
  expect((await runs.retryAsChild(runId, 'resend').ended).rows.succeeded).toBe(3)
  for (const row of [1, 2, 3]) expect(readAnswers(runs, runId, row)).toEqual(given.get(row))
})

test('an answer that an earlier version cut without notice is marked as cut', async () => {
  const { runs, runId } = await runAnswers(2, (request) => JSON.stringify(toTaskAnswer(request)))
  const file = toJournalFile(folder, runId)
  const now = `${file}.now`
  renameSync(file, now)
  const db = new DatabaseSync(file)
  db.exec(`${MIGRATIONS[0]}; PRAGMA user_version = 1`)
  db.prepare('ATTACH ? AS now').run(now)
  for (const table of ['run', 'row', 'result', 'attempt']) {
    const columns = db.prepare(`SELECT name FROM pragma_table_info('${table}', 'main')`).all()
    const names = columns.map(({ name }) => String(name)).join(', ')
    db.exec(`INSERT INTO main.${table} (${names}) SELECT ${names} FROM now.${table}`)
  }
  db.prepare('UPDATE result SET response = ? WHERE row = 1').run('x'.repeat(65_536))
  db.close()
  const read = (row: number) => runs.read(runId, (view) => readRow(view, row))
  expect(read(1)).toMatchObject({ responseBody: 'x'.repeat(65_536), responseCutFrom: { bytes: null } })
  expect(read(2)).toMatchObject({ responseCutFrom: null, result: { cells: ['text 2', 'user1'] } })
})
