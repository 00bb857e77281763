import { expect, it } from 'vitest'
import type { RowSort } from '../../../src/shared/run/results.ts'
import type { RowFilter } from '../../../src/shared/run/row-filters.ts'
import { startHeldAnswers } from '../../helpers/held-answers.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeRows } from './plans.ts'

const ROWS = 8

it('finds the position of a row in a list that grows before it while the run goes on', async () => {
  onlyInLongForm()
  const service = await startHeldAnswers()
  const { services } = withBridge()
  const { client } = await connectWindow('message port', services)
  const request = await createRequest(services, writeRows(ROWS), service.baseUrl, {
    pace: { kind: 'closed', concurrency: ROWS },
  })
  const { runId } = await client.runs.start({ request, apiKey: 'k' })
  await client.runs.awaitReady({ runId })
  await client.runs.begin({ runId })

  const lists: { filter: RowFilter; sort?: RowSort }[] = [
    { filter: { state: 'succeeded' } },
    { filter: { state: 'succeeded', search: 'hello' } },
    { filter: { state: 'succeeded' }, sort: { by: { kind: 'row' }, order: 'descending' } },
    { filter: { state: 'succeeded' }, sort: { by: { kind: 'latency' }, order: 'ascending' } },
  ]
  /** The row's offset in each list, once the lists have that many rows. */
  const findOffsets = async (row: number, rows: number) => {
    const offsets: (number | null)[] = []
    for (const list of lists) {
      const read = () => client.results.page({ runId, ...list, offset: 0, limit: 50 })
      await expect.poll(async () => (await read()).total, { timeout: 10_000 }).toBe(rows)
      const offset = await client.results.findOffset({ runId, ...list, row })
      expect(offset).toBe(toOffset(await read(), row))
      offsets.push(offset)
    }
    return offsets
  }
  service.release([5])
  expect(await findOffsets(5, 1)).toEqual([0, 0, 0, 0])
  expect(await findOffsets(4, 1)).toEqual([null, null, null, null])
  service.release([1, 2, 3, 7])
  expect((await findOffsets(5, 5)).slice(0, 3)).toEqual([3, 3, 1])
  service.release([4, 6, 8])
  await services.engine.runs.heldRun(runId)?.ended
  expect((await findOffsets(5, 8)).slice(0, 3)).toEqual([4, 4, 3])
})

function toOffset({ rows }: { rows: readonly { row: number }[] }, row: number): number | null {
  const offset = rows.findIndex((one) => one.row === row)
  return offset === -1 ? null : offset
}
