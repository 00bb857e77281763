import { expect, test } from 'vitest'
import { startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { openReadyJournal, readRecord, readStates } from '../journal/test-journal.ts'
import { createTestSender, toTestRequest } from './test-sender.ts'
import { toJudgement } from './to-judgement.ts'

const startTakingService = () =>
  startFaultServer({ onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)) })

test('a defect in judging an answer ends the sending with that error, and the other rows are kept', async () => {
  const server = await startTakingService()
  const { sender, journal } = createTestSender({
    rows: 30,
    baseUrl: server.baseUrl,
    judge: () => {
      throw new Error('a defect in judging')
    },
  })
  await expect(sender.send()).rejects.toThrow('a defect in judging')
  // What was sent is covered by the watermark and is unknown; nothing else is.
  expect(readRecord(journal).claimed).toBe(server.requests.length)
  expect(sender.inFlight).toBe(0)
})

test('a defect in building a request ends the sending with that error; the row was not sent and is pending', async () => {
  const server = await startTakingService()
  const { sender, journal } = createTestSender({
    rows: 30,
    baseUrl: server.baseUrl,
    parts: { pace: { kind: 'closed', concurrency: 1 } },
    toRequest: ({ item }) => {
      if (item === 5) throw new Error('a defect in building')
      return toTestRequest(item)
    },
  })
  await expect(sender.send()).rejects.toThrow('a defect in building')
  expect(readStates(journal).items).toEqual({
    1: 'succeeded',
    2: 'succeeded',
    3: 'succeeded',
    4: 'succeeded',
  })
  expect(readRecord(journal).claimed).toBe(4)
})

test('a row whose mark for a further try found no room is pending and counted once', async () => {
  const server = await startFaultServer({ onRequest: (_, wire) => wire.send(503, '') })
  let answers = 0
  let failures = 0
  const journal = openReadyJournal(1, {
    onCommit: (when) => {
      if (when === 'after' || answers === 0 || failures > 0) return
      failures += 1
      throw new Error('the disk of the test')
    },
  })
  const { sender } = createTestSender({
    journal,
    baseUrl: server.baseUrl,
    judge: () => {
      answers += 1
      return toJudgement({ outcome: 'unknown', repeat: 'ambiguous', status: 503 })
    },
  })
  await expect(sender.send()).rejects.toThrow('the disk of the test')
  expect(readStates(journal)).toEqual({ items: { 1: 'pending' }, counted: { pending: 1 } })
})
