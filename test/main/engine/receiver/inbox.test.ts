import { statSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type InboxEntry,
  InboxReader,
  openInbox,
  SELF_TEST_PREFIX,
  toInboxFile,
} from '../../../../src/main/engine/receiver/inbox.ts'
import { InboxWriter } from '../../../../src/main/engine/receiver/inbox-writer.ts'
import { holdLease } from '../../../helpers/hold-lease.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'

function openWriter(workspace: string): InboxWriter {
  const writer = InboxWriter.open(workspace)
  if (writer === null) throw new Error('the inbox is held')
  onTestFinished(() => writer.close())
  return writer
}

function openReader(workspace: string): InboxReader {
  const reader = new InboxReader(workspace)
  onTestFinished(() => reader.close())
  return reader
}

function toEntry(
  item: number,
  parts: Partial<Omit<InboxEntry, 'body'>> & { body?: string } = {},
): InboxEntry {
  const { body = `{"item":${item}}`, ...rest } = parts
  return { runToken: 'run-1', item, receivedAtUs: item * 10, ...rest, body: Buffer.from(body) }
}

function store(writer: InboxWriter, entry: InboxEntry): Promise<Error | null> {
  return new Promise((resolve) => writer.store(entry, resolve))
}

describe('the inbox', () => {
  it('is empty before it exists', () => {
    const reader = openReader(createTemporaryFolder())
    expect(reader.readAfter('run-1', 0, 10)).toEqual([])
    expect(reader.readCounts()).toEqual({ received: 0, refused: {} })
    expect(reader.readRunTokens()).toEqual([])
    expect(reader.readAddress()).toBeNull()
  })

  it('gives each run its callbacks in order of arrival, by page', async () => {
    const workspace = createTemporaryFolder()
    const [writer, reader] = [openWriter(workspace), openReader(workspace)]
    const entries = [toEntry(3), toEntry(1, { runToken: 'run-2' }), toEntry(1), toEntry(3)]
    await Promise.all(entries.map((entry) => store(writer, entry)))
    expect(reader.readAfter('run-1', 0, 2)).toEqual([
      { id: 1, item: 3, receivedAtUs: 30, body: '{"item":3}' },
      { id: 3, item: 1, receivedAtUs: 10, body: '{"item":1}' },
    ])
    expect(reader.readAfter('run-1', 3, 2).map(({ id }) => id)).toEqual([4])
    expect(reader.readAfter('run-1', 4, 2)).toEqual([])
    expect(reader.readAfter('run-3', 0, 2)).toEqual([])
    expect(reader.readRunTokens()).toEqual(['run-1', 'run-2'])
  })

  it('marks callbacks with bytes that are not UTF-8', async () => {
    const workspace = createTemporaryFolder()
    const [writer, reader] = [openWriter(workspace), openReader(workspace)]
    await store(writer, { ...toEntry(1), body: Buffer.from('"Größe"', 'latin1') })
    await store(writer, { ...toEntry(2), body: Buffer.from('"\uFFFD"') })
    expect(reader.readAfter('run-1', 0, 2)).toEqual([
      { id: 1, item: 1, receivedAtUs: 10, body: '"Gr\uFFFD\uFFFDe"', isDamaged: true },
      { id: 2, item: 2, receivedAtUs: 20, body: '"\uFFFD"' },
    ])
  })

  it('commits everything that waits at once, before it confirms any', async () => {
    const workspace = createTemporaryFolder()
    const writer = openWriter(workspace)
    const observer = new DatabaseSync(toInboxFile(workspace), { readOnly: true })
    onTestFinished(() => observer.close())
    const count = observer.prepare('SELECT count(*) AS n FROM callback')
    const seen: unknown[] = []
    await new Promise<void>((resolve) => {
      for (let item = 1; item <= 50; item += 1) {
        writer.store(toEntry(item), () => {
          seen.push(count.get()?.['n'])
          if (seen.length === 50) resolve()
        })
      }
      expect(count.get()?.['n']).toBe(0)
    })
    expect(seen).toEqual(Array(50).fill(50))
  })

  it('survives a power cut with every commit', () => {
    const db = openInbox(toInboxFile(createTemporaryFolder()))
    onTestFinished(() => db.close())
    expect(db.prepare('PRAGMA journal_mode').get()?.['journal_mode']).toBe('wal')
    const FULL = 2
    expect(db.prepare('PRAGMA synchronous').get()?.['synchronous']).toBe(FULL)
  })

  it('keeps bodies byte for byte, and returns them as text without a byte order mark', async () => {
    const workspace = createTemporaryFolder()
    const [writer, reader] = [openWriter(workspace), openReader(workspace)]
    const bodies = [Buffer.from('\ufeff{"a":"é"}'), Buffer.from([0x7b, 0xff, 0x00, 0x7d]), Buffer.alloc(0)]
    for (const [i, body] of bodies.entries()) await store(writer, { ...toEntry(i + 1), body })
    expect(reader.readAfter('run-1', 0, 9).map(({ body }) => body)).toEqual(['{"a":"é"}', '{\ufffd\0}', ''])
    const db = new DatabaseSync(toInboxFile(workspace), { readOnly: true })
    onTestFinished(() => db.close())
    const kept = db.prepare('SELECT body FROM callback ORDER BY id').all()
    expect(kept.map(({ body }) => Buffer.from(body as Uint8Array))).toEqual(bodies)
  })

  it('returns large bodies a few at a time', async () => {
    const workspace = createTemporaryFolder()
    const [writer, reader] = [openWriter(workspace), openReader(workspace)]
    const body = 'x'.repeat(7 * 1024 * 1024)
    await Promise.all([1, 2, 3].map((item) => store(writer, toEntry(item, { body }))))
    expect(reader.readAfter('run-1', 0, 100).map(({ id }) => id)).toEqual([1, 2])
    expect(reader.readAfter('run-1', 2, 100).map(({ id }) => id)).toEqual([3])
    await store(writer, toEntry(4, { body: 'y'.repeat(17 * 1024 * 1024) }))
    expect(reader.readAfter('run-1', 3, 100).map(({ id }) => id)).toEqual([4])
  })

  it('counts what it stores and refuses over the life of the workspace', async () => {
    const workspace = createTemporaryFolder()
    const [first, reader] = [openWriter(workspace), openReader(workspace)]
    const slow = { atMs: 2_000, sizeBytes: null }
    first.countRefusal('forged', { atMs: 1_000, sizeBytes: 12 })
    await store(first, toEntry(1))
    first.countRefusal('slow', slow)
    expect(first.counts()).toEqual({ received: 1, refused: { forged: 1, slow: 1 } })
    expect(reader.readCounts().received).toBe(1)
    first.close()
    expect(reader.readCounts()).toEqual({ received: 1, refused: { forged: 1, slow: 1 } })
    expect(reader.readLastRefused()).toEqual({ forged: { atMs: 1_000, sizeBytes: 12 }, slow })
    const second = openWriter(workspace)
    second.countRefusal('forged', { atMs: 3_000, sizeBytes: 0 })
    expect(second.counts()).toEqual({ received: 1, refused: { forged: 2, slow: 1 } })
    await store(second, toEntry(2))
    expect(reader.readAfter('run-1', 1, 9).map(({ id }) => id)).toEqual([2])
    second.close()
    expect(reader.readLastRefused()).toEqual({ forged: { atMs: 3_000, sizeBytes: 0 }, slow })
  })

  it('has one holder at a time, and is free when that process is gone', async () => {
    const workspace = createTemporaryFolder()
    const holder = await holdLease(toInboxFile(workspace))
    expect(InboxWriter.open(workspace)).toBeNull()
    await holder.kill()
    const writer = openWriter(workspace)
    expect(InboxWriter.open(workspace)).toBeNull()
    writer.publish({ baseUrl: 'http://127.0.0.1:1', host: '127.0.0.1', port: 1 })
    expect(openReader(workspace).readAddress()).toEqual({
      baseUrl: 'http://127.0.0.1:1',
      host: '127.0.0.1',
      port: 1,
    })
    writer.close()
    expect(openReader(workspace).readAddress()).toBeNull()
  })

  it('stores waiting callbacks when it is closed', async () => {
    const workspace = createTemporaryFolder()
    const writer = openWriter(workspace)
    const stored = store(writer, toEntry(1))
    writer.close()
    expect(await stored).toBeNull()
    expect(openReader(workspace).readAfter('run-1', 0, 9)).toHaveLength(1)
  })

  it('deletes the callbacks of runs, and reuses no id', async () => {
    const workspace = createTemporaryFolder()
    const [writer, reader] = [openWriter(workspace), openReader(workspace)]
    const many = Array.from({ length: 1_200 }, (_, i) => toEntry(i + 1, { runToken: 'gone' }))
    await Promise.all([toEntry(1), ...many].map((entry) => store(writer, entry)))
    await writer.forget(['gone', 'never was'])
    expect(reader.readRunTokens()).toEqual(['run-1'])
    expect(reader.readAfter('gone', 0, 9)).toEqual([])
    await store(writer, toEntry(7, { runToken: 'gone' }))
    expect(reader.readAfter('gone', 0, 9).map(({ id }) => id)).toEqual([1_202])
    expect(reader.readCounts().received).toBe(1_202)
  })

  it('frees the space of deleted callbacks', async () => {
    const workspace = createTemporaryFolder()
    const writer = openWriter(workspace)
    const body = 'x'.repeat(2 * 1024 * 1024)
    await Promise.all(Array.from({ length: 10 }, (_, i) => store(writer, toEntry(i + 1, { body }))))
    await store(writer, toEntry(1, { runToken: 'run-2' }))
    await writer.forget(['run-1'])
    writer.close()
    const fullBytes = statSync(toInboxFile(workspace)).size
    openWriter(workspace)
    expect(fullBytes).toBeGreaterThan(20_000_000)
    expect(statSync(toInboxFile(workspace)).size).toBeLessThan(100_000)
    expect(openReader(workspace).readAfter('run-2', 0, 9)).toHaveLength(1)
  })

  it('neither counts nor keeps self-tests', async () => {
    const workspace = createTemporaryFolder()
    const [writer, reader] = [openWriter(workspace), openReader(workspace)]
    const runToken = `${SELF_TEST_PREFIX}1`
    await store(writer, toEntry(1, { runToken }))
    expect(reader.readAfter(runToken, 0, 1)).toHaveLength(1)
    expect(reader.readRunTokens()).toEqual([])
    expect(writer.counts().received).toBe(0)
    writer.close()
    openWriter(workspace)
    expect(reader.readAfter(runToken, 0, 1)).toEqual([])
  })

  it('says so if nothing can be stored, and stores again when it can', async () => {
    const workspace = createTemporaryFolder()
    const [writer, reader] = [openWriter(workspace), openReader(workspace)]
    await store(writer, toEntry(1))
    const intruder = new DatabaseSync(toInboxFile(workspace))
    onTestFinished(() => intruder.close())
    intruder.exec("CREATE TRIGGER full BEFORE INSERT ON callback BEGIN SELECT RAISE(ROLLBACK, 'full'); END")
    const failed = [store(writer, toEntry(2)), store(writer, toEntry(3, { runToken: 'run-2' }))]
    expect((await Promise.all(failed)).map((error) => error?.message)).toEqual(['full', 'full'])
    expect(writer.counts().received).toBe(1)
    intruder.exec('DROP TRIGGER full')
    expect(await store(writer, toEntry(3, { runToken: 'run-2' }))).toBeNull()
    expect(reader.readAfter('run-2', 0, 9).map(({ id }) => id)).toEqual([2])
  })

  it('keeps the others if SQLite rejects one of them', async () => {
    const workspace = createTemporaryFolder()
    const [writer, reader] = [openWriter(workspace), openReader(workspace)]
    const intruder = new DatabaseSync(toInboxFile(workspace))
    onTestFinished(() => intruder.close())
    intruder.exec(
      "CREATE TRIGGER picky BEFORE INSERT ON callback WHEN new.item = 2 BEGIN SELECT RAISE(ABORT, 'no'); END",
    )
    const errors = await Promise.all([1, 2, 3].map((item) => store(writer, toEntry(item))))
    expect(errors.map((error) => error?.message ?? 'stored')).toEqual(['stored', 'no', 'stored'])
    intruder.exec('DROP TRIGGER picky')
    expect(reader.readAfter('run-1', 0, 9).map(({ item }) => item)).toEqual([1, 3])
  })

  it('refuses a file that is not an inbox, or that a newer version wrote', async () => {
    const workspace = createTemporaryFolder()
    writeFileSync(toInboxFile(workspace), 'x'.repeat(5_000))
    expect(() => InboxWriter.open(workspace)).toThrow(/cannot open the callback inbox/)
    expect(() => openReader(workspace).readRunTokens()).toThrow(/cannot open the callback inbox/)
    const newer = createTemporaryFolder()
    openWriter(newer).close()
    const db = new DatabaseSync(toInboxFile(newer))
    db.exec('PRAGMA user_version = 99')
    db.close()
    expect(() => InboxWriter.open(newer)).toThrow(/version 99/)
    expect(() => openReader(newer).readCounts()).toThrow(/version 99/)
  })
})
