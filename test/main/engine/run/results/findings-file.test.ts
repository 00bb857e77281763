import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  ReaderPool,
  type RunFamily,
  readRunFamily,
} from '../../../../../src/main/engine/journal/run-family.ts'
import { readAnsweredSteps } from '../../../../../src/main/engine/lookback/answered-rows.ts'
import { storeVerdicts } from '../../../../../src/main/engine/run/journal/verdict-store.ts'
import { RowFindings } from '../../../../../src/main/engine/run/results/row-findings.ts'
import { RowIndex } from '../../../../../src/main/engine/run/results/row-search.ts'
import {
  listFindingsDrafts,
  toFindingsFile,
  toJournalFile,
} from '../../../../../src/main/engine/workspace/workspace-files.ts'
import type { RowFilter } from '../../../../../src/shared/run/row-filters.ts'
import { startCallbackService } from '../../../../helpers/callback-service.ts'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../../helpers/in-process-runs.ts'
import { onlyInLongForm } from '../../../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../../../helpers/temporary-folder.ts'
import { openEngine, untilSnapshot } from '../../../../helpers/test-engine.ts'
import { createRunPlan } from '../../../../helpers/test-folder.ts'
import { toRow } from '../wire-record.ts'

const ROWS = 60

/** A row whose answer waits for the test. */
const HELD_ROW = 21

/** Offset of the length of the file's head. */
const HEAD_LENGTH_AT = 12

const toScore = (row: number, isRetry: boolean) => (isRetry ? 0.9 : row / 1_000)

/**
 * A service that refuses every tenth row until told to accept it, and answers with languages, models and
 * scores.
 */
async function startService() {
  const service = { isRetry: false, held: Promise.resolve() }
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const row = toRow(request)
      if (row % 10 === 0 && !service.isRetry) return wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'no'))
      const rules = row % 3 === 0 ? [{ rule_id: 'r3', rule_name: 'Threefold' }] : []
      const response = {
        input: { model: `model-${row % 2}` },
        language: service.isRetry ? 'FR' : 'DE',
        output: [{ classes: [{ class: 'spam', score: toScore(row, service.isRetry) }] }],
      }
      const status = [{ status: { code: '0', message: 'SUCCESS' }, response }]
      const answer = () => wire.send(200, { ...toTaskAnswer(request, rules), code: 200, status })
      if (row === HELD_ROW) void service.held.then(answer)
      else answer()
    },
  })
  return { service, server }
}

function openReader(folder: string): (runId: string) => RunFamily {
  const pool = new ReaderPool()
  onTestFinished(() => pool.close())
  return (runId) => readRunFamily(pool, toJournalFile(folder, runId), () => false) ?? expect.fail('no run')
}

/** A process that stores the findings of a journal until it is killed, and reports once it has begun. */
const STORE_AGAIN_AND_AGAIN = `
  const load = (file) => import(new URL(file, '${new URL('../../../../../src/main/engine/', import.meta.url).href}').href)
  const { ReaderPool, readRunFamily } = await load('journal/run-family.ts')
  const { JournalFindings, readFingerprint } = await load('run/results/journal-findings.ts')
  const { storeFindings } = await load('run/results/findings-file.ts')
  const run = readRunFamily(new ReaderPool(), process.env.JOURNAL, () => false)
  const findings = JournalFindings.build(run, readFingerprint(run))
  process.stdout.write('begun')
  for (;;) storeFindings(run, findings)`

/** Reads findings from the journals and stores them, replacing stored ones. */
function store(family: RunFamily): RowFindings {
  const findings = new RowFindings(null, 1)
  while (!findings.isComplete) findings.step(family)
  return findings
}

/** Reads findings from the journals only. */
function readAnew(family: RunFamily): RowFindings {
  const files = family.whole.map(({ record }) => toFindingsFile(family.workspace, record.runId))
  const kept = files.filter((file) => existsSync(file)).map((file) => [file, readFileSync(file)] as const)
  for (const [file] of kept) truncateSync(file)
  const findings = RowFindings.build(family)
  for (const [file, bytes] of kept) writeFileSync(file, bytes)
  return findings
}

/** All findings of each row, and whether it was answered. */
function describeRows(family: RunFamily, findings: RowFindings) {
  const answered = readAnsweredSteps(family).flatMap((step) =>
    Array.from(step.owner, (owner, place) => ({
      owner,
      row: step.rowAt(place),
      isAnswered: step.answered[place] === 1,
      ruleIds: [...step.ruleIdsAt(place)],
    })).filter(({ owner }) => owner !== 0),
  )
  return [...answered].map(({ owner, row, isAnswered, ruleIds }) => ({
    owner,
    row,
    isAnswered,
    ruleIds,
    language: findings.valuesOf('language').at(row),
    model: findings.valuesOf('model').at(row),
    variant: findings.valuesOf('variant').at(row),
    score: findings.scoresOf('spam')?.at(row),
    latency: findings.latencies[row],
    attempts: findings.attempts[row],
  }))
}

/** The kind of each row, as in an index. */
function describeKinds(index: RowIndex) {
  const { ids, kindOf } = index.rows
  return [...ids].map((id, at) => {
    const { rows: _rows, ...kind } = index.kinds[kindOf[at] ?? -1] ?? expect.fail('no kind')
    return { id, kind }
  })
}

function expectSameKinds(family: RunFamily, findings: RowFindings): void {
  const index = RowIndex.ofFindings(family, findings)
  const scanned = RowIndex.build(family)
  expect(describeKinds(index)).toEqual(describeKinds(scanned))
  expect(index.isComplete).toBe(true)
  const filters: RowFilter[] = [{}, { state: 'succeeded' }, { unsuccessful: true }, { ruleIds: ['r3'] }]
  for (const filter of filters) {
    expect(index.count(filter)).toBe(scanned.count(filter))
  }
  const among = Uint32Array.of(2, 3, 40)
  const some = RowIndex.ofFindings(family, findings, among)
  expect(describeKinds(some)).toEqual(describeKinds(RowIndex.build(family, '', among)))
}

describe('stored findings', () => {
  it('agree with the journals, also after a retry has answered some rows, and when there are verdicts', async () => {
    const folder = createTemporaryFolder()
    const { service, server } = await startService()
    const runs = createInProcessRuns(folder)
    const operation = { kind: 'task', legacy: true } as const
    const { run_id: runId } = await runs.start(createRunPlan(folder, ROWS, server.baseUrl, { operation }))
      .ended
    const read = openReader(folder)
    expect(RowFindings.load(read(runId))).toBeNull()
    store(read(runId))
    const first = RowFindings.load(read(runId)) ?? expect.fail('not stored')
    const described = describeRows(read(runId), first)
    expect(described).toEqual(describeRows(read(runId), readAnew(read(runId))))
    expectSameKinds(read(runId), first)
    expect(described[2]).toMatchObject({
      ruleIds: ['r3'],
      language: ['DE'],
      score: 0.003,
      attempts: 1,
    })
    expect(described[9]).toMatchObject({ isAnswered: false, language: [], score: Number.NaN })

    storeVerdicts(read(runId), [
      { row: 1, verdict: 'agree', rule: null, note: null, stratum: null, stratum_rows: null },
    ])
    expect(RowFindings.load(read(runId))).not.toBeNull()

    service.isRetry = true
    const { run_id: retryId } = await runs.retryAsChild(runId).ended
    // The retry is small, so its rows are read at once.
    const second = RowFindings.load(read(runId)) ?? expect.fail('not stored')
    expect(existsSync(toFindingsFile(read(runId).workspace, retryId))).toBe(false)
    expectSameKinds(read(runId), second)
    const retried = describeRows(read(runId), second)
    expect(retried).toEqual(describeRows(read(runId), readAnew(read(runId))))
    expect(retried[9]).toMatchObject({
      isAnswered: true,
      language: ['FR'],
      score: 0.9,
      attempts: 2,
    })
    expect(retried.filter(({ row }) => row % 10 !== 0)).toEqual(described.filter(({ row }) => row % 10 !== 0))
  })

  it('are not trusted once a stopped run went on', async () => {
    const folder = createTemporaryFolder()
    const { service, server } = await startService()
    const hold = Promise.withResolvers<void>()
    service.held = hold.promise
    const runs = createInProcessRuns(folder)
    const run = runs.start(
      createRunPlan(folder, ROWS, server.baseUrl, { pace: { kind: 'closed', concurrency: 1 } }),
    )
    await run.until(({ requests }) => requests.sent > 5)
    run.command({ kind: 'stop' })
    hold.resolve()
    await run.ended
    const read = openReader(folder)
    store(read(run.runId))
    const before = RowFindings.load(read(run.runId)) ?? expect.fail('not stored')
    expectSameKinds(read(run.runId), before)
    const unanswered = describeRows(read(run.runId), before).filter(({ attempts }) => attempts === 0)
    expect(unanswered.length).toBeGreaterThan(0)
    await runs.resume(run.runId).ended
    expect(RowFindings.load(read(run.runId))).toBeNull()
    const after = describeRows(read(run.runId), store(read(run.runId)))
    expect(after).toEqual(describeRows(read(run.runId), readAnew(read(run.runId))))
    expect(after.every(({ attempts }) => attempts === 1)).toBe(true)
  })

  it('are not stored before the source has been read', async () => {
    const folder = createTemporaryFolder()
    const { server } = await startService()
    const { run_id: runId } = await createInProcessRuns(folder).start(
      createRunPlan(folder, ROWS, server.baseUrl),
    ).ended
    const journal = new DatabaseSync(toJournalFile(folder, runId))
    journal.exec("UPDATE run SET state = 'intake'")
    journal.close()
    const family = openReader(folder)(runId)
    expect(store(family).isComplete).toBe(true)
    expect(RowFindings.areStored(family)).toBe(false)
  })

  it('are not trusted once a late callback has settled a row, and are deleted with the run', {
    timeout: 30_000,
  }, async () => {
    onlyInLongForm()
    const folder = createTemporaryFolder()
    const service = await startCallbackService(({ index }) => ({ isLate: index === 0 }))
    const workspace = join(folder, 'workspace')
    const engine = openEngine(workspace)
    const plan = createRunPlan(folder, 3, service.baseUrl, {
      operation: { kind: 'task', mode: 'async' },
      callback: { timeoutMs: 60_000 },
    })
    const run = await engine.runs.startRun(plan, { apiKey: 'key' })
    await untilSnapshot(run, ({ phase, rows }) => phase === 'awaiting' && rows.succeeded === 2)
    run.stop()
    await run.ended
    const read = openReader(workspace)
    store(read(run.runId))
    const count = (findings: RowFindings) =>
      describeRows(read(run.runId), findings).filter(({ isAnswered }) => isAnswered).length
    expect(count(RowFindings.load(read(run.runId)) ?? expect.fail('not stored'))).toBe(2)
    service.releaseLate()
    await service.untilDelivered()
    await engine.runs.settleLate(run.runId)
    expect(RowFindings.load(read(run.runId))).toBeNull()
    expect(count(store(read(run.runId)))).toBe(3)
    expect(existsSync(toFindingsFile(workspace, run.runId))).toBe(true)
    await engine.runs.deleteRun(run.runId)
    expect(existsSync(toFindingsFile(workspace, run.runId))).toBe(false)
  })

  it('are complete or not trusted after processes were killed while they stored them', {
    timeout: 60_000,
  }, async () => {
    onlyInLongForm()
    const folder = createTemporaryFolder()
    const { server } = await startService()
    const runs = createInProcessRuns(folder)
    const { run_id: runId } = await runs.start(createRunPlan(folder, ROWS, server.baseUrl)).ended
    const read = openReader(folder)
    const described = describeRows(read(runId), readAnew(read(runId)))
    for (let turn = 0; turn < 3; turn += 1) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', STORE_AGAIN_AND_AGAIN], {
        env: { ...process.env, JOURNAL: toJournalFile(folder, runId) },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const exited = once(child, 'exit')
      await once(child.stdout, 'data')
      child.kill('SIGKILL')
      await exited
      const found = RowFindings.load(read(runId))
      if (found !== null) expect(describeRows(read(runId), found)).toEqual(described)
      const left = readdirSync(join(folder, 'runs')).filter((name) => name.includes('.findings'))
      expect(left.filter((name) => name !== `${runId}.findings`).length).toBeLessThanOrEqual(1)
    }
    const draft = join(folder, 'runs', `.${runId}.findings.0123456789.part`)
    writeFileSync(draft, 'half of what was found')
    expect(listFindingsDrafts(folder, runId)).toContain(draft)
    rmSync(toFindingsFile(folder, runId), { force: true })
    store(read(runId))
    expect(describeRows(read(runId), RowFindings.load(read(runId)) ?? expect.fail('not stored'))).toEqual(
      described,
    )
    expect(listFindingsDrafts(folder, runId)).toEqual([])
  })

  it('are not trusted if the file was truncated or a byte of it changed', async () => {
    const folder = createTemporaryFolder()
    const { server } = await startService()
    const runs = createInProcessRuns(folder)
    const { run_id: runId } = await runs.start(createRunPlan(folder, ROWS, server.baseUrl)).ended
    const read = openReader(folder)
    store(read(runId))
    const file = toFindingsFile(folder, runId)
    const whole = readFileSync(file)
    for (let length = 0; length < whole.length; length += 97) {
      writeFileSync(file, whole.subarray(0, length))
      expect(RowFindings.load(read(runId)), `${length} bytes`).toBeNull()
    }
    for (let at = 0; at < whole.length; at += 89) {
      const changed = Buffer.from(whole)
      changed[at] = (changed[at] ?? 0) ^ 0x10
      writeFileSync(file, changed)
      expect(RowFindings.load(read(runId)), `byte ${at}`).toBeNull()
    }
    // More than the file has, than is read at once, and than memory may hold.
    for (const length of [whole.length, 0x8000_0000, 0xffff_ffff]) {
      const changed = Buffer.from(whole)
      changed.writeUInt32LE(length, HEAD_LENGTH_AT)
      writeFileSync(file, changed)
      expect(RowFindings.load(read(runId)), `a head of ${length} bytes`).toBeNull()
    }
    writeFileSync(file, whole)
    expect(RowFindings.load(read(runId))).not.toBeNull()

    // A link in their place is replaced, and its target is unchanged.
    const other = join(folder, 'other.txt')
    writeFileSync(other, 'of somebody')
    rmSync(file)
    symlinkSync(other, file)
    store(read(runId))
    expect(readFileSync(other, 'utf8')).toBe('of somebody')
    expect(RowFindings.load(read(runId))).not.toBeNull()
  })
})
