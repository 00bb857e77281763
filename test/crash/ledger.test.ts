import { expect, inject, test } from 'vitest'
import { listRunIds } from '../../src/main/engine/workspace/workspace-files.ts'
import { type Kill, runKilled } from '../helpers/crash/kill.ts'
import { expectFaultless, recordService } from '../helpers/history/expect-faultless.ts'
import { createRecording } from '../helpers/history/recording.ts'
import { RUN_KEY } from '../helpers/in-process-runs.ts'
import { onlyInLongForm } from '../helpers/long-form.ts'
import { openLedgerWorkspace } from '../main/engine/lookback/ledger-workspace.ts'

const ADD = { kind: 'index-add', indexId: 'sandbox-index' } as const
const REMOVE = { kind: 'index-remove', indexId: 'sandbox-index' } as const

const toImages = (name: string, count: number) =>
  `url\n${Array.from({ length: count }, (_, i) => `https://media.example.com/${name}-${i}.png\n`).join('')}`

/** A workspace whose runs are killed, and a comparison of its index ledger with the sandbox. */
async function openKilled() {
  const recording = createRecording()
  const options = { apiKeys: [RUN_KEY, 'key'], latency: '4ms' }
  const opened = await openLedgerWorkspace(options, (to) => recordService(to, recording))
  const { workspace, sandbox, toPlan, read } = opened
  return {
    ...opened,
    /** Starts a run in a process of its own and kills it; returns the run's id. */
    async sendKilled(operation: typeof ADD | typeof REMOVE, source: string, kill: Kill): Promise<string> {
      const plan = toPlan(operation, source)
      expect(await runKilled({ workspace, work: { kind: 'start', plan } }, kill)).toBe(true)
      return listRunIds(workspace)[0] ?? ''
    },
    /** Judges all runs together and returns the outcomes of their rows. */
    judge: () => expectFaultless(workspace, listRunIds(workspace), recording),
    async resume(runId: string, onUnknown: 'resend' | 'skip', kill: Kill | null = null): Promise<boolean> {
      return runKilled({ workspace, work: { kind: 'resume', runId, onUnknown } }, kill)
    },
    /** Ids in alphabetical order, since rows that are in flight together arrive in any order. */
    async compare() {
      const ids = async (state: 'known' | 'removal_unknown') =>
        (await read('index', { states: [state] })).entries
          .map((entry) => entry.custom_index_item_id ?? '')
          .sort()
      const held = (await sandbox.indexItems('sandbox-index')).map((item) => item.custom_index_item_id).sort()
      const { counts } = await read('index')
      return { counts, held, known: await ids('known'), removing: await ids('removal_unknown') }
    },
  }
}

test('the ledger of an index matches the sandbox after adds, removals, kill -9 and a resume', async () => {
  onlyInLongForm()
  const { send, exportTo, sendKilled, resume, compare, judge, sandbox } = await openKilled()
  await send(ADD, toImages('first', 120))
  await send(ADD, toImages('kept', 5))
  const some = await exportTo('index', 'some.csv', { search: 'first-1' })
  await send(REMOVE, some.file)
  await send(ADD, toImages('first-1', 20))
  const all = await exportTo('index', 'all.csv', { search: 'first' })
  const runId = await sendKilled(REMOVE, all.file, { kind: 'commit', at: 'before:8' })
  const cut = await compare()
  // Items with no recorded outcome may be gone or not; the known ones are there.
  expect(cut.removing.length).toBeGreaterThan(0)
  expect(cut.held).toEqual(expect.arrayContaining(cut.known))
  expect([...cut.known, ...cut.removing]).toEqual(expect.arrayContaining(cut.held))
  expect(await resume(runId, 'resend')).toBe(false)
  const { counts, held, known } = await compare()
  expect(counts).toEqual({ known: 5, removed: 140 })
  expect(known).toEqual(held)
  expect((await sandbox.indexItems('sandbox-index')).every(({ url }) => url.includes('kept'))).toBe(true)
  // 145 items were added and 140 removed.
  expect(judge()).toEqual({ ok: 285, info: 0, fail: 0 })
}, 60_000)

test.runIf(inject('isLong')).each([5, 6, 7, 8, 9, 10])(
  'adds cut off by kill -9 before commit %i are unknown items, and no other item is missing',
  async (commit) => {
    const { sendKilled, resume, compare, judge, read } = await openKilled()
    const runId = await sendKilled(ADD, toImages('cut', 150), { kind: 'commit', at: `before:${commit}` })
    const check = async () => {
      const { counts, held, known } = await compare()
      expect(held).toEqual(expect.arrayContaining(known))
      expect(held.length - known.length).toBeLessThanOrEqual(counts['add_unknown'] ?? 0)
      return counts
    }
    const cut = await check()
    expect(await resume(runId, 'skip')).toBe(false)
    // Resuming sends the rest and learns nothing about the adds that were cut off.
    const { entries } = await read('index', { states: ['add_unknown'] })
    expect(await check()).toEqual({
      known: 150 - entries.length,
      ...(cut['add_unknown'] === undefined ? {} : { add_unknown: cut['add_unknown'] }),
    })
    expect(judge()).toEqual({ ok: 150 - entries.length, info: entries.length, fail: 0 })
  },
  60_000,
)
