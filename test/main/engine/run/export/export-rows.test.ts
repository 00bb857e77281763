import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  ReaderPool,
  type RunFamily,
  readRunFamily,
} from '../../../../../src/main/engine/journal/run-family.ts'
import { readExportPages } from '../../../../../src/main/engine/run/export/export-rows.ts'
import { storeVerdicts } from '../../../../../src/main/engine/run/journal/verdict-store.ts'
import { readRow } from '../../../../../src/main/engine/run/results/row-detail.ts'
import type { ExportRow } from '../../../../../src/shared/run/results.ts'
import type { RowFilter } from '../../../../../src/shared/run/row-filters.ts'
import { copyGolden } from '../../../../golden/answers.ts'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../../helpers/in-process-runs.ts'
import { createTemporaryFolder } from '../../../../helpers/temporary-folder.ts'
import { createRunPlan, openTestFolder } from '../../../../helpers/test-folder.ts'
import { toRow } from '../wire-record.ts'

const folder = openTestFolder()

function readAll(family: RunFamily, filter: RowFilter = {}): ExportRow[] {
  return [...readExportPages(family, filter, { withRequests: true })].flat()
}

function toNoise(length: number): string {
  return Array.from({ length: length / 40 }, (_, index) =>
    createHash('sha1').update(String(index)).digest('hex'),
  ).join('')
}

/** Compares exports, which read many rows together, with the details of each row read alone. */
function expectDetails(family: RunFamily, rows: readonly ExportRow[]): void {
  for (const row of rows) {
    const { result, attempts, callbacks, corrections, ...detail } = readRow(family, row.row)
    // For appeals an export has the full text; for split records, each half has its own post_id.
    const { message: _prose, postId: _own, ...shown } = result
    expect(row).toMatchObject(shown)
    expect(row.tries).toEqual(attempts)
    expect(row.corrections).toEqual(corrections)
    if (row.exchangeInRow !== null) continue
    expect(row.response?.body ?? null).toBe(detail.responseBody)
    expect(callbacks).toEqual(expect.arrayContaining(row.callbacks))
    if (row.request !== null) {
      expect(row.request).toEqual({
        method: detail.requestMethod,
        url: detail.requestUrl,
        body: detail.requestBody,
      })
    }
  }
}

test.each(['retried', 'corrected', 'watchlists', 'task-v2-async', 'overdue', 'killed', 'folder', 'appeals'])(
  'an export of the runs in %s agrees with the details of each row',
  (name) => {
    const workspace = join(createTemporaryFolder(), 'workspace')
    copyGolden(name, workspace)
    const pool = new ReaderPool()
    try {
      const files = readdirSync(join(workspace, 'runs')).filter((file) => file.endsWith('.journal'))
      expect(files).not.toEqual([])
      for (const file of files) {
        const family = readRunFamily(pool, join(workspace, 'runs', file), () => false)
        if (family === null) throw new Error(`${file} has no run`)
        const rows = readAll(family)
        expect(rows).toHaveLength(family.record.rowsRead)
        expectDetails(family, rows)
      }
    } finally {
      pool.close()
    }
  },
)

test('an export of a run and its retries agrees on each row, whichever others are written with it', async () => {
  const runs = createInProcessRuns(folder)
  const tries = new Map<number, number>()
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const row = toRow(request)
      const number = (tries.get(row) ?? 0) + 1
      tries.set(row, number)
      const rules = row % 3 === 0 ? [{ rule_id: 'r3', rule_name: 'Threefold' }] : []
      // Every second long answer is long when compressed, too.
      const padding = row % 40 === 8 ? toNoise(12_000) : 'x'.repeat(3_000)
      const long = row % 20 === 8 ? { padding } : {}
      if (row % 5 === 1 && number < 3) wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'not allowed'))
      else wire.send(200, { ...toTaskAnswer(request, rules), ...long })
    },
  })
  const texts = Array.from({ length: 330 }, (_, index) => (index % 11 === 5 ? '' : `text ${index}`))
  const first = await runs.start(createRunPlan(folder, texts, server.baseUrl)).ended
  const second = await runs.retryAsChild(first.run_id).ended
  await runs.retryAsChild(second.run_id).ended
  runs.read(first.run_id, (family) => {
    storeVerdicts(family, [
      { row: 170, verdict: 'agree', rule: null, note: null, stratum: null, stratum_rows: null },
    ])
    const rows = readAll(family)
    expect(rows.map(({ row }) => row)).toEqual(texts.map((_, index) => index + 1))
    // A step of seven saves a few seconds, and includes each of the small pages.
    expectDetails(
      family,
      rows.filter(({ row }) => row % 7 === 3 || row % 20 === 8),
    )
    expect(rows.filter(({ verdicts = [] }) => verdicts.length > 0).map(({ row }) => row)).toEqual([170])
    for (const filter of [{ state: 'succeeded' }, { state: 'invalid' }, { search: '7' }] as const) {
      const found = readAll(family, filter)
      expect(found.length).toBeGreaterThan(20)
      const wanted = new Set(found.map(({ row }) => row))
      expect(found).toEqual(rows.filter(({ row }) => wanted.has(row)))
    }
  })
  runs.read(second.run_id, (family) => expectDetails(family, readAll(family).slice(-30)))
})
