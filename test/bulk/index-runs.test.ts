import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Papa from 'papaparse'
import { expect, test } from 'vitest'
import { planSchema } from '../../src/shared/plan/plan.ts'
import { startCallbackService } from '../helpers/callback-service.ts'
import { expectFaultless } from '../helpers/history/expect-faultless.ts'
import { openEngine } from '../helpers/test-engine.ts'
import { openTestFolder } from '../helpers/test-folder.ts'

const ROWS = 1_000

const folder = openTestFolder()

test('items with lost acknowledgements are settled by their callbacks, added once, and removed with the export', async () => {
  const service = await startCallbackService(({ index }) => ({ isLost: index % 100 === 42 }))
  const engine = openEngine(join(folder, 'workspace'))
  const path = join(folder, 'items.csv')
  const lines = Array.from({ length: ROWS }, (_, i) => `https://media.example.com/${i + 1}.png,${i % 7}`)
  writeFileSync(path, `url,metadata.shelf\n${lines.join('\n')}\n`)
  const add = planSchema.parse({
    connection: { baseUrl: service.baseUrl },
    source: { path },
    operation: { kind: 'index-add', mode: 'async', indexId: 'shelves' },
    pace: { kind: 'closed', concurrency: 16 },
    callback: { timeoutMs: 5_000 },
  })
  const added = await (await engine.runs.startRun(add, { apiKey: 'key' })).ended
  expect(added).toMatchObject({
    state: 'completed',
    rows: { read: ROWS, succeeded: ROWS, unknown: 0 },
    requests: { sent: ROWS, unknown: 10, retried: 0 },
    items: { added: ROWS, removed: 0 },
  })
  expect(service.taken.size).toBe(ROWS)
  expect([...service.taken.values()].every((n) => n === 1)).toBe(true)

  const file = join(folder, 'added.csv')
  await engine.results.exportRun(added.run_id, { file })
  const records = Papa.parse<Record<string, string>>(readFileSync(file, 'utf8'), {
    header: true,
    skipEmptyLines: true,
  }).data
  const ids = records.map((record) => record['sluice_custom_index_item_id'])
  expect(new Set(ids.filter((id) => /^item-\d+$/.test(id ?? ''))).size).toBe(ROWS)

  const remove = planSchema.parse({
    ...add,
    source: { path: file },
    operation: { kind: 'index-remove', mode: 'async', indexId: 'shelves' },
  })
  const removed = await (await engine.runs.startRun(remove, { apiKey: 'key' })).ended
  expect(removed).toMatchObject({
    state: 'completed',
    rows: { read: ROWS, succeeded: ROWS },
    items: { added: 0, removed: ROWS },
  })
  expect(ids.every((id) => service.taken.has(id ?? ''))).toBe(true)
  const judged = expectFaultless(join(folder, 'workspace'), [added.run_id, removed.run_id], service.recording)
  expect(judged).toEqual({ ok: 2 * ROWS, info: 0, fail: 0 })
}, 60_000)
