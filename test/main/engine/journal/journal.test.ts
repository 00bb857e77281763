import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { Journal, openJournal, openJournalReader } from '../../../../src/main/engine/journal/journal.ts'
import { MIGRATIONS } from '../../../../src/main/engine/journal/migrations.ts'
import { readRunRecord } from '../../../../src/main/engine/journal/run-record.ts'
import { isLeaseHeld, takeLease } from '../../../../src/main/engine/workspace/lease.ts'
import { holdLease } from '../../../helpers/hold-lease.ts'
import { takeFoundBack } from '../../../helpers/older-journal.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { insertTestRun, openTestJournal } from './test-journal.ts'

const toUrl = (path: string) => new URL(`../../../../src/main/engine/${path}`, import.meta.url).href
const READER_URL = toUrl('journal/journal.ts')

/** Reads a journal repeatedly, with a new reader each time, from the moment its file exists. */
const READER = `
  const { existsSync } = require('node:fs')
  const { parentPort, workerData } = require('node:worker_threads')
  void import(workerData).then(
    ({ hasSchema, openJournalReader }) => {
      parentPort.on('message', (file) => {
        while (!existsSync(file));
        try {
          for (let run; run === undefined; ) {
            const db = openJournalReader(file)
            run = hasSchema(db) ? db.prepare('SELECT run_id FROM run').get() : undefined
            db.close()
          }
          parentPort.postMessage('seen')
        } catch (error) {
          parentPort.postMessage(error.message)
        }
      })
      parentPort.postMessage('ready')
    },
  )`

const toCounts = (journal: Journal) => Object.fromEntries(journal.counters.entries('state'))

test('counts of a transaction are on disk with it', () => {
  const journal = openTestJournal()
  journal.transact('process', () => journal.counters.add('state', 'succeeded', 3))
  journal.counters.add('state', 'succeeded', 2)
  journal.transact('power', () => journal.counters.add('state', 'unknown', 1))
  const { file } = journal
  journal.close()
  expect(toCounts(openTestJournal({ file }))).toEqual({ succeeded: 5, unknown: 1 })
})

test('a failed transaction undoes its rows and counts, and keeps earlier counts', () => {
  const journal = openTestJournal()
  journal.transact('process', () => journal.counters.add('state', 'succeeded', 1))
  journal.counters.add('state', 'failed', 7)
  expect(() =>
    journal.transact('process', () => {
      journal.counters.add('state', 'succeeded', 10)
      journal.counters.add('state', 'succeeded', -4)
      journal.db.exec('INSERT INTO row (id, cells) VALUES (1, 2)')
      throw new Error('the disk of the test')
    }),
  ).toThrow('the disk of the test')
  expect(toCounts(journal)).toEqual({ succeeded: 1, failed: 7 })
  expect(journal.db.prepare('SELECT count(*) AS n FROM row').get()?.['n']).toBe(0)
  expect(journal.db.isTransaction).toBe(false)
  journal.transact('process', () => {})
  const { file } = journal
  journal.close()
  expect(toCounts(openTestJournal({ file }))).toEqual({ succeeded: 1, failed: 7 })
})

test('a separate transaction writes its own counts, and leaves those that wait for the transaction of their rows', () => {
  const journal = openTestJournal()
  const readStored = () =>
    Object.fromEntries(
      openJournalReader(journal.file)
        .prepare('SELECT value, n FROM facet')
        .all()
        .map(({ value, n }) => [String(value), n]),
    )
  journal.counters.add('state', 'succeeded', 7)
  journal.transact('process', () => journal.counters.add('state', 'pending', 2), true)
  expect(readStored()).toEqual({ pending: 2 })
  expect(toCounts(journal)).toEqual({ succeeded: 7, pending: 2 })
  journal.transact('process', () => {})
  expect(readStored()).toEqual({ succeeded: 7, pending: 2 })
})

test('a sync writes commits to disk while the thread continues', async () => {
  const journal = openTestJournal()
  journal.transact('process', () => journal.counters.add('state', 'succeeded', 1))
  let hasGoneOn = false
  const synced = journal.sync().then(() => expect(hasGoneOn).toBe(true))
  hasGoneOn = true
  await synced
  await journal.sync()
  journal.transact('process', () => journal.counters.add('state', 'succeeded', 1))
  const { file } = journal
  journal.close()
  expect(toCounts(openTestJournal({ file }))).toEqual({ succeeded: 2 })
})

test('the run’s own row is committed under FULL, outcomes and marks under NORMAL', () => {
  const journal = openTestJournal()
  const levels: unknown[] = []
  const note = (): void => {
    levels.push(journal.db.prepare('PRAGMA synchronous').get()?.['synchronous'])
  }
  for (const durability of ['process', 'power', 'power', 'process'] as const)
    journal.transact(durability, note)
  expect(levels).toEqual([1, 2, 2, 1])
  expect(journal.db.prepare('PRAGMA journal_mode').get()?.['journal_mode']).toBe('wal')
})

test('every commit is reported immediately before and after it, with its number', () => {
  const told: string[] = []
  const journal = openTestJournal({ onCommit: (when, number) => told.push(`${when} ${number}`) })
  journal.transact('process', () => {})
  journal.transact('power', () => {})
  expect(told).toEqual(['before 1', 'after 1', 'before 2', 'after 2'])
})

test('a full disk is reported as such, and the journal can be written again when there is space', () => {
  const journal = openTestJournal()
  insertTestRun(journal)
  const { page_count } = journal.db.prepare('PRAGMA page_count').get() ?? {}
  journal.db.exec(`PRAGMA max_page_count = ${Number(page_count)}`)
  const fill = () =>
    journal.transact('process', () => {
      journal.counters.add('state', 'invalid', 1)
      journal.db.prepare('INSERT INTO row (id, cells) VALUES (1, ?)').run('x'.repeat(100_000))
    })
  expect(fill).toThrow(
    expect.objectContaining({
      code: 'DISK_FULL',
      exitCode: 1,
      message: expect.stringContaining(journal.file),
      hint: expect.stringContaining('Free some space'),
    }),
  )
  expect(toCounts(journal)).toEqual({ invalid: 0 })
  journal.db.exec('PRAGMA max_page_count = 4294967294')
  fill()
  expect(toCounts(journal)).toEqual({ invalid: 1 })
})

test('a reader sees what the writer has committed, and cannot write', () => {
  const journal = openTestJournal()
  insertTestRun(journal)
  const reader = openJournalReader(journal.file)
  expect(readRunRecord(reader)).toMatchObject({ runId: 'run-1', state: 'intake', plan: { version: 1 } })
  expect(() => reader.exec("UPDATE run SET state = 'ready'")).toThrow(/readonly/)
  reader.close()
})

test('a journal has one holder at a time, and is free when it is closed', () => {
  const journal = openTestJournal()
  expect(isLeaseHeld(journal.file)).toBe(true)
  expect(() => new Journal(journal.file, { runId: 'run-1' })).toThrow(
    expect.objectContaining({ code: 'RUN_BUSY', message: 'run run-1 is in use by another process' }),
  )
  journal.close()
  expect(isLeaseHeld(journal.file)).toBe(false)
})

test('the lease of a killed process is taken over', async () => {
  const file = join(createTemporaryFolder(), 'run.journal')
  const holder = await holdLease(file)
  expect(isLeaseHeld(file)).toBe(true)
  await holder.kill()
  expect(isLeaseHeld(file)).toBe(false)
  const lease = takeLease(file, 'the run')
  expect(isLeaseHeld(file)).toBe(true)
  lease.release()
})

test('checking a lease does not release it', () => {
  const file = join(createTemporaryFolder(), 'run.journal')
  const lease = takeLease(file, 'the run')
  expect([isLeaseHeld(file), isLeaseHeld(file), isLeaseHeld(file)]).toEqual([true, true, true])
  lease.release()
})

test('a journal that cannot be opened releases its lease', () => {
  const file = join(createTemporaryFolder(), 'run.journal')
  writeFileSync(file, 'this is no database, and long enough to be told from one'.repeat(20))
  expect(() => new Journal(file, { runId: 'run-1' })).toThrow(
    expect.objectContaining({
      code: 'WORKSPACE_UNUSABLE',
      message: expect.stringContaining(`cannot be read from ${file}: file is not a database`),
    }),
  )
  expect(isLeaseHeld(file)).toBe(false)
})

test('a damaged lease is reported as a file that can be deleted', () => {
  const file = join(createTemporaryFolder(), 'run.journal')
  writeFileSync(`${file}.lease`, 'no database'.repeat(1_000))
  for (const look of [() => isLeaseHeld(file), () => takeLease(file, 'run 1')]) {
    expect(look).toThrow(
      expect.objectContaining({
        code: 'WORKSPACE_UNUSABLE',
        message: `cannot lock ${file}.lease: file is not a database`,
        hint: expect.stringContaining('Delete that file: it only marks who writes'),
      }),
    )
  }
})

test('a lease that cannot be written is not reported as held', () => {
  const file = join(createTemporaryFolder(), 'run.journal')
  mkdirSync(`${file}.lease`)
  const refusal = expect.objectContaining({
    code: 'WORKSPACE_UNUSABLE',
    message: expect.stringContaining(`cannot lock ${file}.lease`),
  })
  expect(() => takeLease(file, 'the run')).toThrow(refusal)
  expect(() => isLeaseHeld(file)).toThrow(refusal)
})

test('a journal in a missing folder is refused with an understandable message', () => {
  const file = join(createTemporaryFolder(), 'missing', 'run.journal')
  expect(() => new Journal(file, { runId: 'run-1' })).toThrow(
    expect.objectContaining({ code: 'WORKSPACE_UNUSABLE' }),
  )
})

test('an empty file gets every step of the schema', () => {
  const file = join(createTemporaryFolder(), 'run.journal')
  writeFileSync(file, '')
  const db = openJournal(file)
  expect(db.prepare('PRAGMA user_version').get()?.['user_version']).toBe(MIGRATIONS.length)
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all()
  expect(tables.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'attempt',
      'callback',
      'facet',
      'problem',
      'result',
      'row',
      'rule',
      'run',
      'second',
    ]),
  )
  db.close()
  // Applying them again changes nothing.
  openJournal(file).close()
})

test('a journal of a newer version is refused by writers and readers, and left unchanged', () => {
  const file = join(createTemporaryFolder(), 'run.journal')
  const db = openJournal(file)
  db.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`)
  db.close()
  const refusal = expect.objectContaining({
    code: 'WORKSPACE_UNUSABLE',
    message: `${file} has journal version ${MIGRATIONS.length + 1}, but this copy of Sluice reads versions up to ${MIGRATIONS.length}`,
  })
  expect(() => new Journal(file, { runId: 'run-1' })).toThrow(refusal)
  expect(() => openJournalReader(file)).toThrow(refusal)
  expect(isLeaseHeld(file)).toBe(false)
})

test('a journal is not read while another process migrates it from an earlier version', () => {
  const runs = join(createTemporaryFolder(), 'runs')
  mkdirSync(runs)
  const file = join(runs, 'run-1.journal')
  const journal = new Journal(file, { runId: 'run-1' })
  insertTestRun(journal)
  journal.close()
  const db = openJournal(file)
  takeFoundBack(db)
  db.close()
  const lease = takeLease(file, 'the journal')
  expect(() => openJournalReader(file)).toThrow(expect.objectContaining({ code: 'RUN_BUSY' }))
  lease.release()
  const reader = openJournalReader(file)
  expect(reader.prepare('SELECT count(*) AS n FROM found').get()).toEqual({ n: 0 })
  reader.close()
})

test('other threads can read a journal while its own thread creates it', async () => {
  const folder = createTemporaryFolder()
  const readers = Array.from({ length: 2 }, () => new Worker(READER, { eval: true, workerData: READER_URL }))
  const untilAnswers = () =>
    Promise.all(readers.map((reader) => new Promise((resolve) => reader.once('message', resolve))))
  try {
    await untilAnswers()
    for (let round = 0; round < 8; round += 1) {
      const file = join(folder, `${round}.journal`)
      const answers = untilAnswers()
      // The readers begin as soon as the file exists.
      for (const reader of readers) reader.postMessage(file)
      const journal = new Journal(file, { runId: 'run-1' })
      insertTestRun(journal)
      expect(await answers).toEqual(['seen', 'seen'])
      journal.close()
    }
  } finally {
    await Promise.all(readers.map((reader) => reader.terminate()))
  }
})
