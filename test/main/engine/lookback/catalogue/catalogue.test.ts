import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { threadId } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { updateRunRecord } from '../../../../../src/main/engine/journal/run-record.ts'
import { SecondWriter } from '../../../../../src/main/engine/journal/seconds.ts'
import { Catalogue } from '../../../../../src/main/engine/lookback/catalogue/catalogue.ts'
import { toCatalogueFile } from '../../../../../src/main/engine/lookback/catalogue/catalogue-file.ts'
import { changeAnnotations } from '../../../../../src/main/engine/workspace/run-annotations.ts'
import {
  createWorkspaceFolders,
  toJournalFile,
  toRunFiles,
} from '../../../../../src/main/engine/workspace/workspace-files.ts'
import { LatencyMeter } from '../../../../../src/shared/load/latency-meter.ts'
import { NO_RETENTION } from '../../../../../src/shared/lookback/retention.ts'
import type { RunListQuery } from '../../../../../src/shared/lookback/run-list.ts'
import { holdLease } from '../../../../helpers/hold-lease.ts'
import { onlyInLongForm } from '../../../../helpers/long-form.ts'
import { takeFoundBack } from '../../../../helpers/older-journal.ts'
import { createTemporaryFolder } from '../../../../helpers/temporary-folder.ts'
import { openRun, type WrittenRun, writeRun } from '../../../../helpers/write-run.ts'

const CHILD = fileURLToPath(new URL('../../../../helpers/catalogue-child.ts', import.meta.url))

/** A workspace with these runs, and its catalogue. */
function openWorkspace(runs: readonly WrittenRun[]) {
  const workspace = createTemporaryFolder()
  createWorkspaceFolders(workspace)
  for (const run of runs) writeRun(workspace, run)
  // A minute after everything that the tests write, which makes it distinguishable by its time.
  const catalogue = new Catalogue(workspace, () => Date.now() + 60_000)
  const list = async (query: RunListQuery = {}) => {
    const { runs: found } = await catalogue.list(query, [])
    return found.map((run) => run.run_id)
  }
  return { workspace, catalogue, file: toCatalogueFile(workspace), list }
}

const THREE: readonly WrittenRun[] = ['run-1', 'run-2', 'run-3'].map((runId) => ({ runId }))

describe('the list of runs', () => {
  it('comes in pages, newest first, with the total', async () => {
    const { catalogue } = openWorkspace(THREE)
    const page = await catalogue.list({ limit: 2, offset: 1 }, [])
    expect(page).toMatchObject({ total: 3, all: 3, unreadable: [] })
    expect(page.runs.map(({ run_id }) => run_id)).toEqual(['run-2', 'run-1'])
  })

  it('answers concurrent queries, even if one of them fails', async () => {
    const { workspace, catalogue } = openWorkspace(THREE)
    writeFileSync(join(workspace, 'baselines.json'), 'not JSON')
    const [prunable, page, found] = await Promise.allSettled([
      catalogue.findPrunable(NO_RETENTION, []),
      catalogue.list({}, []),
      catalogue.find('latest', []),
    ])
    expect(prunable).toMatchObject({ status: 'rejected' })
    expect(page).toMatchObject({ value: { total: 3 } })
    expect(found).toMatchObject({ value: { ids: ['run-3'] } })
  })

  it('is searched for words in ids, names, file names, tags, notes and connections, in either case', async () => {
    const connection = { name: 'Live-EU', baseUrl: 'https://api.example.com' }
    const { workspace, list } = openWorkspace([
      { runId: 'run-1', name: 'Große Prüfung' },
      { runId: 'run-2', plan: { source: { path: '/data/Tweets 2026.csv' } } },
      { runId: 'run-3', plan: { connection } },
      { runId: 'run-4' },
    ])
    changeAnnotations(workspace, 'run-4', { addTags: ['Nightly'], note: 'A “special” note, 100% sure_' })
    const found = { 'PRÜFUNG grosse': [], 'prüfung GROSSE': [], 'prüfung große': ['run-1'] }
    for (const [search, runs] of Object.entries(found)) expect(await list({ search })).toEqual(runs)
    expect(await list({ search: 'tweets 2026' })).toEqual(['run-2'])
    expect(await list({ search: 'live-eu' })).toEqual(['run-3'])
    expect(await list({ search: 'NIGHTLY' })).toEqual(['run-4'])
    expect(await list({ search: '100% sure_' })).toEqual(['run-4'])
    expect(await list({ search: 'run-1' })).toEqual(['run-1'])
    expect(await list({ search: 'data' })).toEqual([])
    expect(await list({ search: '  ' })).toHaveLength(4)
  })

  it('is filtered by properties of runs, all of which must match', async () => {
    const indexAdd = { operation: { kind: 'index-add', indexId: 'index-7' } } as const
    const load = { load: { pace: { kind: 'closed', concurrency: 1 }, requests: 5 } } as const
    const { workspace, list } = openWorkspace([
      { runId: 'run-1', createdAtMs: 1_000, plan: indexAdd },
      { runId: 'run-2', createdAtMs: 2_000, state: 'stopped', plan: indexAdd },
      { runId: 'run-3', createdAtMs: 3_000, plan: { connection: { baseUrl: 'https://other.example.com' } } },
      { runId: 'run-4', createdAtMs: 4_000, plan: load },
    ])
    for (const runId of ['run-1', 'run-3']) changeAnnotations(workspace, runId, { addTags: ['a', runId] })
    expect(await list({ product: 'load' })).toEqual(['run-4'])
    expect(await list({ operations: ['index-add', 'index-remove'], target: 'index-7' })).toEqual([
      'run-2',
      'run-1',
    ])
    expect(await list({ operations: ['index-add'], states: ['stopped', 'running'] })).toEqual(['run-2'])
    expect(await list({ connection: 'https://other.example.com' })).toEqual(['run-3'])
    expect(await list({ tags: ['a'] })).toEqual(['run-3', 'run-1'])
    expect(await list({ tags: ['a', 'run-1'] })).toEqual(['run-1'])
    expect(await list({ fromMs: 2_000, beforeMs: 4_000 })).toEqual(['run-3', 'run-2'])
  })

  it('finds the runs in which something went wrong', async () => {
    const { workspace, list } = openWorkspace([...THREE, { runId: 'run-4', state: 'stopped' }])
    const journal = openRun(workspace, { runId: 'run-2' })
    journal.transact('process', () => {
      updateRunRecord(journal.db, { rows_read: 2 })
      journal.db.exec("INSERT INTO facet VALUES ('state', 'rejected', 1), ('state', 'succeeded', 1)")
    })
    journal.close()
    expect(await list({ failed: true })).toEqual(['run-4', 'run-2'])
    expect(await list({ failed: false })).toEqual(['run-3', 'run-1'])
  })

  it('returns the available filters, the size of each run, and the course of its latency', async () => {
    const connection = { name: 'live', baseUrl: 'https://api.example.com' }
    const { workspace, catalogue } = openWorkspace([...THREE, { runId: 'run-4', plan: { connection } }])
    changeAnnotations(workspace, 'run-1', { addTags: ['nightly', 'eu'] })
    const journal = openRun(workspace, { runId: 'run-4' })
    const writer = new SecondWriter(journal)
    journal.transact('process', () => {
      for (let second = 0; second < 100; second += 1) {
        const latency = new LatencyMeter()
        latency.record('http_req_duration', second < 50 ? 20_000 : 80_000)
        const counts = { succeeded: 1, rejected: 0, failed: 0, unknown: 0 }
        writer.write({
          at: 1_000 + second,
          ...counts,
          eventLoopMaxUs: null,
          generatorLimited: false,
          latency,
        })
      }
    })
    journal.close()
    const { choices, figures } = await catalogue.list({}, [])
    expect(choices).toEqual({ tags: ['eu', 'nightly'], connections: ['https://api.example.com', 'live'] })
    expect(figures.map(({ courseMs }) => courseMs.length)).toEqual([30, 0, 0, 0])
    expect(figures.every(({ sizeBytes }) => sizeBytes > 1_000)).toBe(true)
    const [course = []] = figures.map(({ courseMs }) => courseMs.map(Math.round))
    expect([course[0], course[14], course[15], course[29]]).toEqual([20, 20, 80, 80])
  })

  it('names the runs of an operation, and unreadable runs', async () => {
    const indexAdd = { operation: { kind: 'index-add', indexId: 'index-7' } } as const
    const { workspace, catalogue } = openWorkspace([...THREE, { runId: 'run-4', plan: indexAdd }])
    truncateSync(toJournalFile(workspace, 'run-2'), 100)
    const found = await catalogue.listRunsOf(['index-add', 'index-remove'], [])
    expect(found.map(({ id }) => id)).toEqual(['run-2', 'run-4'])
  })

  it('is sorted by name, by rows and by age', async () => {
    const { list } = openWorkspace([
      { runId: 'run-1', name: 'beta', rows: 5 },
      { runId: 'run-2', name: 'Alpha', rows: 50 },
      { runId: 'run-3', name: 'gamma', rows: 7 },
    ])
    expect(await list({ order: 'name' })).toEqual(['run-2', 'run-1', 'run-3'])
    expect(await list({ order: 'rows' })).toEqual(['run-2', 'run-3', 'run-1'])
    expect(await list({ order: 'oldest' })).toEqual(['run-1', 'run-2', 'run-3'])
  })

  it('has a retry once its parent was deleted, and only the parent once it is back', async () => {
    const { workspace, list } = openWorkspace([{ runId: 'run-1' }])
    writeRun(workspace, { runId: 'run-2' })
    const retry = openRun(workspace, { runId: 'run-2' })
    retry.db.exec("UPDATE run SET parent_run_id = 'run-1'")
    retry.close()
    const parent = openRun(workspace, { runId: 'run-1' })
    parent.transact('process', () => updateRunRecord(parent.db, { superseded_by: 'run-2' }))
    parent.close()
    expect(await list()).toEqual(['run-1'])
    expect(await list({ search: 'run-2' })).toEqual(['run-1'])
    const file = toJournalFile(workspace, 'run-1')
    copyFileSync(file, join(workspace, 'kept'))
    for (const one of toRunFiles(workspace, 'run-1')) rmSync(one, { force: true })
    expect(await list()).toEqual(['run-2'])
    copyFileSync(join(workspace, 'kept'), file)
    expect(await list()).toEqual(['run-1'])
  })
})

describe('a reference', () => {
  it('is the id of a run or retry, the beginning of one, or latest', async () => {
    const { catalogue } = openWorkspace(THREE)
    const find = (reference: string) => catalogue.find(reference, [])
    expect(await find('run-2')).toEqual({
      ids: ['run-2'],
      matching: 1,
      newest: 'run-3',
      unreadable: 0,
    })
    expect(await find('run-')).toMatchObject({ ids: ['run-3', 'run-2', 'run-1'], matching: 3 })
    expect(await find('latest')).toMatchObject({ ids: ['run-3'] })
    expect(await find('')).toMatchObject({ ids: [], matching: 0 })
    expect(await find('%')).toMatchObject({ ids: [], matching: 0 })
  })
})

describe('the catalogue', () => {
  it.each<[string, (file: string) => void]>([
    ['lost', (file) => rmSync(file)],
    ['empty', (file) => truncateSync(file)],
    ['overwritten', (file) => writeFileSync(file, 'this is not a database'.repeat(1_000))],
    ['cut off', (file) => truncateSync(file, 4_096 * 3)],
    ['from another version', (file) => execute(file, 'PRAGMA user_version = 999')],
    ['from another release', (file) => execute(file, "UPDATE made_by SET version = '0.0.0-old'")],
    ['without a table', (file) => execute(file, 'DROP TABLE summary')],
    [
      'a folder',
      (file) => {
        rmSync(file)
        mkdirSync(file)
      },
    ],
  ])('that is %s is rebuilt from the journals', async (_, damage) => {
    const { catalogue, file } = openWorkspace(THREE)
    const before = await catalogue.list({}, [])
    damage(file)
    expect(await catalogue.list({}, [])).toEqual(before)
    writeRun(join(file, '..'), { runId: 'run-4' })
    expect((await catalogue.list({}, [])).total).toBe(4)
  })

  it('that cannot be written hides no run', async () => {
    const { workspace, list, file } = openWorkspace(THREE)
    mkdirSync(`${file}.lease`)
    expect(await list()).toHaveLength(3)
    writeRun(workspace, { runId: 'run-4' })
    expect(await list()).toHaveLength(4)
  })

  it('follows journals that other processes wrote, added, replaced or deleted', async () => {
    const { workspace, catalogue, list } = openWorkspace(THREE)
    const other = openWorkspace([
      { runId: 'run-0', name: 'dropped in' },
      { runId: 'run-2', name: 'replaced' },
    ])
    expect(await list()).toHaveLength(3)
    copyFileSync(toJournalFile(other.workspace, 'run-0'), toJournalFile(workspace, 'run-0'))
    copyFileSync(toJournalFile(other.workspace, 'run-2'), toJournalFile(workspace, 'run-2'))
    rmSync(toJournalFile(workspace, 'run-3'))
    const { runs } = await catalogue.list({}, [])
    expect(runs.map(({ name }) => name)).toEqual(['replaced', 'run-1', 'dropped in'])
  })

  it('keeps nothing of a deleted run', async () => {
    const secret = 'a-name-that-nobody-else-has'
    const runs = Array.from({ length: 40 }, (_, i) => ({ runId: `run-${i + 10}`, name: `${secret}-${i}` }))
    const { workspace, list, file } = openWorkspace([...runs, { runId: 'run-99', name: 'stays' }])
    changeAnnotations(workspace, 'run-20', { note: `${secret} in a note`, addTags: [secret] })
    expect(await list()).toHaveLength(41)
    expect(readFileSync(file).includes(secret)).toBe(true)
    for (const { runId } of runs) {
      for (const one of toRunFiles(workspace, runId)) rmSync(one, { force: true })
    }
    expect(await list()).toEqual(['run-99'])
    expect(readFileSync(file).includes(secret)).toBe(false)
    expect(readdirSync(workspace).filter((name) => name.startsWith('catalogue'))).toEqual([
      'catalogue',
      'catalogue.lease',
    ])
  })

  it('rereads no unchanged journal', async () => {
    const { workspace, list } = openWorkspace(THREE)
    await list()
    const listOpened = () => readdirSync(join(workspace, 'runs')).filter((name) => name.endsWith('-shm'))
    expect(listOpened()).toHaveLength(3)
    for (const name of listOpened()) rmSync(join(workspace, 'runs', name))
    changeAnnotations(workspace, 'run-2', { name: 'changed' })
    expect(await list({ search: 'changed' })).toEqual(['run-2'])
    expect(listOpened()).toEqual(['run-2.journal-shm'])
  })

  it('rereads a journal that was written just now, since more may follow in the same tick', async () => {
    const { workspace } = openWorkspace(THREE)
    const catalogue = new Catalogue(workspace)
    await catalogue.list({}, [])
    for (const id of ['run-1', 'run-2', 'run-3']) rmSync(`${toJournalFile(workspace, id)}-shm`)
    await catalogue.list({}, [])
    expect(existsSync(`${toJournalFile(workspace, 'run-1')}-shm`)).toBe(true)
  })

  it('names an unreadable journal until it can be read', async () => {
    const { workspace, catalogue } = openWorkspace(THREE)
    const file = toJournalFile(workspace, 'run-2')
    const whole = readFileSync(file)
    writeFileSync(file, 'this is no database at all'.repeat(100))
    const damaged = await catalogue.list({}, [])
    expect(damaged).toMatchObject({ total: 2, unreadable: [{ runId: 'run-2', message: expect.any(String) }] })
    writeFileSync(file, whole)
    expect(await catalogue.list({}, [])).toMatchObject({ total: 3, unreadable: [] })
  })

  it('keeps a run whose notes are unreadable', async () => {
    const { workspace, list } = openWorkspace(THREE)
    writeFileSync(join(workspace, 'runs', 'run-2.annotations'), '{"name":')
    expect(await list()).toHaveLength(3)
    expect(() => changeAnnotations(workspace, 'run-2', { note: 'x' })).toThrow(/run-2\.annotations/)
  })
})

describe('a run under way', () => {
  it('is shown in its current state, and as interrupted once its process has died', async () => {
    const { workspace, catalogue } = openWorkspace([{ runId: 'run-1', state: 'running' }])
    const look = async () => (await catalogue.list({}, [])).runs[0]
    expect(await look()).toMatchObject({ state: 'interrupted' })
    const holder = await holdLease(toJournalFile(workspace, 'run-1'))
    expect(await look()).toMatchObject({ state: 'running' })
    await holder.kill()
    expect(await look()).toMatchObject({ state: 'interrupted' })
  })

  it('grows in the list with each commit', async () => {
    const { workspace, catalogue } = openWorkspace([{ runId: 'run-1', state: 'running' }])
    const look = async () => (await catalogue.list({}, ['run-1'])).runs[0]
    const journal = openRun(workspace, { runId: 'run-1' })
    onTestFinished(() => journal.close())
    for (const rows of [10, 11, 12]) {
      journal.transact('process', () => updateRunRecord(journal.db, { rows_read: rows }))
      expect(await look()).toMatchObject({ state: 'running', rows: { read: rows } })
    }
  })
})

/** Journals that were opened since {@link forgetOpened}: SQLite leaves a file beside each. */
const listOpened = (workspace: string) =>
  readdirSync(join(workspace, 'runs')).flatMap((name) =>
    name.endsWith('.journal-shm') ? [name.slice(0, -12)] : [],
  )

function forgetOpened(workspace: string): void {
  for (const id of listOpened(workspace)) rmSync(`${toJournalFile(workspace, id)}-shm`)
}

describe('a look at a catalogue', () => {
  it('opens only the journals on a page, and all changed ones for a search', async () => {
    const { workspace, catalogue, list } = openWorkspace(THREE)
    await list()
    for (const runId of ['run-1', 'run-2', 'run-3']) {
      const journal = openRun(workspace, { runId })
      journal.transact('process', () => journal.db.exec(`UPDATE run SET name = 'changed ${runId}'`))
      journal.close()
    }
    forgetOpened(workspace)
    const page = await catalogue.list({ limit: 1 }, [])
    expect(page.runs.map(({ name }) => name)).toEqual(['changed run-3'])
    expect(listOpened(workspace)).toEqual(['run-3'])
    expect((await catalogue.list({ limit: 1, offset: 1 }, [])).runs[0]).toMatchObject({
      name: 'changed run-2',
    })
    expect(listOpened(workspace)).toEqual(['run-2', 'run-3'])
    expect(await list({ search: 'changed' })).toEqual(['run-3', 'run-2', 'run-1'])
  })

  it('shows the change of a page after one of its runs was replaced', async () => {
    const { workspace, catalogue } = openWorkspace(THREE)
    await catalogue.list({}, [])
    const retry = openRun(workspace, { runId: 'run-3' })
    retry.transact('process', () => retry.db.exec("UPDATE run SET parent_run_id = 'run-2'"))
    retry.close()
    const parent = openRun(workspace, { runId: 'run-2' })
    parent.transact('process', () => updateRunRecord(parent.db, { superseded_by: 'run-3' }))
    parent.close()
    const page = await catalogue.list({ limit: 2 }, [])
    expect(page).toMatchObject({ total: 2, runs: [{ run_id: 'run-2' }, { run_id: 'run-1' }] })
  })

  it('notices added, removed and unreadable runs on any page', async () => {
    const { workspace, catalogue } = openWorkspace(THREE)
    await catalogue.list({}, [])
    writeRun(workspace, { runId: 'run-0' })
    rmSync(toJournalFile(workspace, 'run-1'))
    writeFileSync(toJournalFile(workspace, 'run-3'), 'no database'.repeat(1_000))
    const page = await catalogue.list({ limit: 1 }, [])
    expect(page).toMatchObject({
      total: 2,
      all: 2,
      runs: [{ run_id: 'run-2' }],
      unreadable: [{ runId: 'run-3' }],
    })
  })

  it('does not reread a journal with unreadable content until it changes', async () => {
    const { workspace, catalogue, list } = openWorkspace(THREE)
    const file = toJournalFile(workspace, 'run-2')
    execute(file, 'CREATE VIEW other AS SELECT 1')
    const message = expect.stringContaining('it has the view other')
    expect(await catalogue.list({}, [])).toMatchObject({
      total: 2,
      unreadable: [{ runId: 'run-2', message }],
    })
    forgetOpened(workspace)
    expect(await catalogue.list({}, [])).toMatchObject({
      total: 2,
      unreadable: [{ runId: 'run-2', message }],
    })
    expect(listOpened(workspace)).toEqual([])
    execute(file, 'DROP VIEW other')
    expect(await list()).toEqual(['run-3', 'run-2', 'run-1'])
  })

  it('rereads a run whose retry was unreadable once that can be read', async () => {
    const { workspace, catalogue, list } = openWorkspace(THREE)
    const parent = openRun(workspace, { runId: 'run-1' })
    parent.transact('process', () => updateRunRecord(parent.db, { superseded_by: 'run-2' }))
    parent.close()
    const retry = openRun(workspace, { runId: 'run-2' })
    retry.db.exec("UPDATE run SET parent_run_id = 'run-1'")
    retry.close()
    const file = toJournalFile(workspace, 'run-2')
    const whole = readFileSync(file)
    writeFileSync(file, 'no database'.repeat(1_000))
    const { unreadable } = await catalogue.list({}, [])
    expect(unreadable.map(({ runId }) => runId)).toEqual(['run-2', 'run-1'])
    expect(unreadable.every(({ message }) => message.includes(file))).toBe(true)
    writeFileSync(file, whole)
    expect(await list()).toEqual(['run-3', 'run-1'])
  })
})

describe('many journals that the catalogue does not know', () => {
  const MANY = Array.from({ length: 120 }, (_, i) => ({ runId: `run-${i + 100}` }))
  const NEWEST = MANY.map(({ runId }) => runId).reverse()

  /** Answers after each journal. */
  const openHasty = (workspace: string) =>
    new Catalogue(workspace, () => Date.now() + 60_000, { patienceMs: 0, sliceMs: 0 })

  it('are read newest first, and a page that does not wait for the rest says how many are left', async () => {
    onlyInLongForm()
    const { workspace } = openWorkspace(MANY)
    const catalogue = openHasty(workspace)
    const waiting = catalogue.list({ limit: 2 }, [])
    const soFar = await catalogue.listSoFar({ limit: 2 }, [])
    expect(soFar).toMatchObject({ unread: 119, total: 1, runs: [{ run_id: NEWEST[0] }] })
    const found = await catalogue.listSoFar({ search: 'run-100' }, [])
    expect(found).toMatchObject({ total: 0, unread: expect.any(Number) })
    expect(found.unread).toBeGreaterThan(0)
    expect(await waiting).toMatchObject({
      unread: 0,
      total: 120,
      runs: [{ run_id: NEWEST[0] }, { run_id: NEWEST[1] }],
    })
    expect(await catalogue.listSoFar({ search: 'run-100' }, [])).toMatchObject({ total: 1, unread: 0 })
  })

  it('are not shown with their old state', async () => {
    onlyInLongForm()
    const { workspace, list } = openWorkspace(MANY)
    await list()
    for (const { runId } of MANY) changeAnnotations(workspace, runId, { note: 'new' })
    const catalogue = openHasty(workspace)
    const waiting = catalogue.list({}, [])
    const soFar = await catalogue.listSoFar({}, [])
    expect(soFar).toMatchObject({ unread: 119, runs: [{ run_id: NEWEST[0], note: 'new' }] })
    expect((await waiting).runs.map(({ note }) => note)).toEqual(MANY.map(() => 'new'))
  })
})

describe('a run that has ended', () => {
  it('writes its line even if nobody has asked for the list', async () => {
    const { workspace, catalogue, file } = openWorkspace(THREE)
    catalogue.keep('run-2', [])
    const db = new DatabaseSync(file, { readOnly: true })
    onTestFinished(() => db.close())
    expect(db.prepare('SELECT id, state FROM whole').all()).toEqual([{ id: 'run-2', state: 'completed' }])
    forgetOpened(workspace)
    expect(await catalogue.list({}, [])).toMatchObject({ total: 3 })
    expect(listOpened(workspace)).toEqual(['run-1', 'run-3'])
  })

  it('completes the lines of runs whose journals had just been written when they ended', async () => {
    const { workspace, catalogue } = openWorkspace(THREE)
    const meanwhile = new Catalogue(workspace)
    for (const id of ['run-1', 'run-2']) meanwhile.keep(id, [])
    catalogue.keep('run-3', [])
    forgetOpened(workspace)
    expect(await catalogue.list({}, [])).toMatchObject({ total: 3 })
    expect(listOpened(workspace)).toEqual([])
  })
})

describe('a journal whose reading does not end', () => {
  /** The id of an ended process. */
  const endProcess = () => spawnSync(process.execPath, ['--version']).pid

  it('is left out and named once two processes ended while they read it, until it changes', async () => {
    const { workspace, catalogue } = openWorkspace(THREE)
    const leave = (text: string) =>
      writeFileSync(join(workspace, `catalogue.reading-${endProcess()}-1`), text)
    leave('run-2')
    expect(await catalogue.list({}, [])).toMatchObject({ total: 3, unreadable: [] })
    changeAnnotations(workspace, 'run-2', { note: 'changed' })
    leave('run-2 again')
    const message = expect.stringContaining(
      `${toJournalFile(workspace, 'run-2')}: twice, reading it did not end`,
    )
    for (let look = 0; look < 2; look += 1) {
      expect(await catalogue.list({}, [])).toMatchObject({
        total: 2,
        unreadable: [{ runId: 'run-2', message }],
      })
    }
    expect(readdirSync(workspace).filter((name) => name.startsWith('catalogue.reading'))).toEqual([])
    changeAnnotations(workspace, 'run-2', { note: 'changed again' })
    expect(await catalogue.list({}, [])).toMatchObject({ total: 3, unreadable: [] })
  })

  it('of an earlier version is migrated, however often a process ended meanwhile', async () => {
    const { workspace, catalogue } = openWorkspace(THREE)
    expect(await catalogue.list({}, [])).toMatchObject({ total: 3 })
    const db = new DatabaseSync(toJournalFile(workspace, 'run-2'))
    takeFoundBack(db)
    db.close()
    writeFileSync(join(workspace, `catalogue.reading-${endProcess()}-1`), 'run-2 again')
    expect(await catalogue.list({}, [])).toMatchObject({ total: 3, unreadable: [] })
  })

  it('is detected by the processes that are killed while they read it', async () => {
    onlyInLongForm()
    const { workspace, catalogue } = openWorkspace(THREE)
    crowd(toJournalFile(workspace, 'run-2'))
    for (const told of ['run-2', 'run-2 again']) {
      const child = spawn(process.execPath, [CHILD, workspace], { stdio: ['ignore', 'ignore', 'inherit'] })
      const exited = once(child, 'exit')
      const mark = join(workspace, `catalogue.reading-${child.pid}-0`)
      const isReading = () => existsSync(mark) && readFileSync(mark, 'utf8') === told
      while (!isReading()) await new Promise((resolve) => setImmediate(resolve))
      child.kill('SIGKILL')
      await exited
      expect(readFileSync(mark, 'utf8')).toBe(told)
    }
    const { runs, unreadable } = await catalogue.list({}, [])
    expect(runs.map(({ run_id }) => run_id)).toEqual(['run-3', 'run-1'])
    expect(unreadable).toMatchObject([{ runId: 'run-2' }])
  })

  it.skipIf(process.platform === 'win32')('is noted in no file that a link leads to', async () => {
    const { workspace, catalogue } = openWorkspace(THREE)
    const other = join(workspace, 'other')
    symlinkSync(other, join(workspace, `catalogue.reading-${process.pid}-${threadId}`))
    expect(await catalogue.list({}, [])).toMatchObject({ total: 3 })
    expect(existsSync(other)).toBe(false)
  })

  it('is not blamed while a process still reads it', async () => {
    const { workspace, catalogue } = openWorkspace(THREE)
    const mark = join(workspace, `catalogue.reading-${process.ppid}-1`)
    writeFileSync(mark, 'run-2 again')
    expect(await catalogue.list({}, [])).toMatchObject({ total: 3, unreadable: [] })
    expect(existsSync(mark)).toBe(true)
  })
})

describe('two processes', () => {
  it('use the catalogue at once, and one that is killed while it writes leaves it intact', async () => {
    onlyInLongForm()
    const runs = Array.from({ length: 12 }, (_, i) => ({ runId: `run-${i + 10}` }))
    const { catalogue, list, workspace } = openWorkspace(runs)
    const child = spawn(process.execPath, [CHILD, workspace], { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(child, 'exit')
    await once(child.stdout, 'data')
    for (let turn = 0; turn < 5; turn += 1) expect(await list()).toHaveLength(12)
    child.kill('SIGKILL')
    await exited
    const { runs: after, unreadable } = await catalogue.list({}, [])
    expect(unreadable).toEqual([])
    for (const run of after) {
      const { note } = JSON.parse(readFileSync(join(workspace, 'runs', `${run.run_id}.annotations`), 'utf8'))
      expect(run.note).toBe(note)
    }
    expect(after).toHaveLength(12)
    expect(existsSync(toCatalogueFile(workspace))).toBe(true)
  })
})

function execute(file: string, sql: string): void {
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
}

/** Gives a journal so many tables that SQLite needs seconds to load them and cannot be interrupted. */
function crowd(file: string): void {
  const db = new DatabaseSync(file, { defensive: false })
  db.exec(`PRAGMA writable_schema = 1;
    WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 150000)
    INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)
    SELECT 'table', 't' || n, 't' || n, 2, 'CREATE TABLE t' || n || ' (a)' FROM number`)
  db.close()
}
