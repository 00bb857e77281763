import { expect, onTestFinished, test } from 'vitest'
import { SluiceError } from '../../../../src/shared/messages/errors.ts'
import { openReadyJournal, readRecord, readStates } from '../journal/test-journal.ts'
import { createHeldClient, createTestSender, endAll, untilHeld } from './test-sender.ts'

/** A journal whose syncs the test completes one by one. */
function openSlowJournal(rows: number) {
  const journal = openReadyJournal(rows)
  const syncs: PromiseWithResolvers<void>[] = []
  journal.sync = () => {
    const sync = Promise.withResolvers<void>()
    syncs.push(sync)
    return sync.promise
  }
  return { journal, syncs }
}

function sendHeld(rows: number) {
  const { journal, syncs } = openSlowJournal(rows)
  const held: (() => void)[] = []
  const { sender } = createTestSender({
    journal,
    parts: { pace: { kind: 'closed', concurrency: 4 } },
    createClient: () => createHeldClient(held),
  })
  const ended = sender.send()
  // The test checks a failure when it gets there.
  ended.catch(() => {})
  onTestFinished(() => sender.stop())
  return { sender, journal, syncs, held, ended }
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

test('nothing goes out before the marks that cover it are on disk', async () => {
  const { journal, syncs, held, ended } = sendHeld(10)
  await turns(5)
  expect(syncs).toHaveLength(1)
  expect(readRecord(journal).claimed).toBe(4)
  expect(held).toHaveLength(0)
  syncs.shift()?.resolve()
  await untilHeld(held, 4)
  while (held.length > 0) held.shift()?.()
  await turns(5)
  // The next block is marked, and waits for the disk as the first did.
  expect(readRecord(journal).claimed).toBe(8)
  expect(held).toHaveLength(0)
  journal.sync = () => Promise.resolve()
  syncs.shift()?.resolve()
  expect(await endAll(held, ended)).toMatchObject({ kind: 'done' })
  expect(readStates(journal).counted).toEqual({ succeeded: 10 })
})

test('a disk that rejects marks ends the sending; the rows they covered did not go out and are pending', async () => {
  const { journal, syncs, held, ended } = sendHeld(10)
  await turns(5)
  const full = new SluiceError({ id: 'journal_disk_full', file: 'run.sqlite', reason: 'no space' })
  syncs.shift()?.reject(full)
  await expect(ended).rejects.toBe(full)
  expect(held).toHaveLength(0)
  expect(readRecord(journal)).toMatchObject({ claimed: 0, claimedRows: 0 })
})

test('a run that is stopped while marks are being written takes them back', async () => {
  const { sender, journal, syncs, held, ended } = sendHeld(10)
  await turns(5)
  sender.stop()
  await turns(5)
  syncs.shift()?.resolve()
  expect(await ended).toMatchObject({ kind: 'stopped' })
  expect(held).toHaveLength(0)
  expect(readRecord(journal)).toMatchObject({ claimed: 0, claimedRows: 0 })
})
