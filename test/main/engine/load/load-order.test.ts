import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { LoadInput } from '../../../../src/shared/load/load.ts'
import { startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'
import { createLoadRuns } from './load-runs.ts'

const folder = openTestFolder()
const loads = createLoadRuns(folder)

const LOAD = { pace: { kind: 'closed', concurrency: 1 }, requests: 40, firstRequest: 'check' } as const

/** Sends rows with these weights, and returns the texts that the service received after the first request. */
async function send(weights: readonly string[], load: Partial<LoadInput>) {
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  const path = join(folder, `weights-${weights.join('-').replaceAll(/\W/g, '')}.csv`)
  writeFileSync(
    path,
    `text_data,user_id,share\n${weights.map((weight, row) => `row${row},u,${weight}\n`).join('')}`,
  )
  const plan = loads.createPlan(1, server.baseUrl, { ...LOAD, ...load }, { source: { path } })
  const { summary, report } = await loads.run(plan)
  const [first, ...texts] = server.requests.map(
    ({ body }) => (JSON.parse(body) as { text_data: string }).text_data,
  )
  return { summary, report, first, texts }
}

test('rows are drawn by their weights, in the order of a seed that plan and report name, after row 1', async () => {
  const order = { order: 'random', seed: 12, weight: 'share' } as const
  const one = await send(['0', '1', '3'], order)
  expect(one.first).toBe('row0')
  expect(new Set(one.texts)).toEqual(new Set(['row1', 'row2']))
  expect(one.summary.load?.order).toEqual(order)
  expect(one.report.plan).toContain('rows at random by the weights of share, seed 12')
  const [again, other] = [
    await send(['0', '1', '3'], order),
    await send(['0', '1', '3'], { ...order, seed: 13 }),
  ]
  expect(again.texts).toEqual(one.texts)
  expect(other.texts).not.toEqual(one.texts)
})

test('a summary does not mention the order if rows are sent in source order', async () => {
  const { summary, report, texts } = await send(['1', '2'], { requests: 4 })
  expect(texts).toEqual(['row0', 'row1', 'row0', 'row1'])
  expect(summary.load?.order).toBeUndefined()
  expect(report.plan.join()).not.toContain('seed')
})

test('a value that occurs only in rows without weight cannot be the tag of a threshold', async () => {
  onlyInLongForm()
  const judge = (text: string) =>
    send(['0', '1', '3'], {
      order: 'random',
      weight: 'share',
      seed: 12,
      thresholds: [`http_reqs{text_data:${text}}:count<100`],
    })
  await expect(judge('row0')).rejects.toMatchObject({
    said: { id: 'load_tag_missing', column: 'text_data', named: 'row0' },
  })
  const { summary } = await judge('row2')
  expect(summary.thresholds).toMatchObject([{ ok: true, requests: expect.any(Number) }])
  expect(summary.thresholds?.[0]?.requests).toBeGreaterThan(0)
})

test.each(['', '-1', 'many'])(
  'a row with the weight `%s` ends the load test before it begins',
  async (weight) => {
    await expect(send(['1', weight], { order: 'random', weight: 'share' })).rejects.toMatchObject({
      said: { id: 'load_weight_unusable', row: 2, column: 'share', found: weight },
    })
  },
)

test('weights need a random order, and a seed needs a random or shuffled one', () => {
  expect(() => loads.createPlan(1, 'http://127.0.0.1:1', { ...LOAD, seed: 5 })).toThrow(
    'a seed belongs to a shuffled or random order of rows',
  )
  expect(() => loads.createPlan(1, 'http://127.0.0.1:1', { ...LOAD, weight: 'share' })).toThrow(
    'weights belong to a random order of rows',
  )
})
