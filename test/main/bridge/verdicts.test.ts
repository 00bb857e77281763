import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import type { RowVerdict } from '../../../src/shared/lookback/verdict.ts'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeRows } from './plans.ts'

const SPAM = { rule_id: 'r1', rule_name: 'Spam' }
const say = (verdict: RowVerdict['verdict'], rule: string | null = null): RowVerdict => ({
  verdict,
  rule,
  note: null,
})

/** A run with that many rows, every fourth of which triggered Spam. */
async function sendRows(count: number) {
  const service = await startFaultServer({
    onRequest: (request, wire) => {
      const row = Number(/number (\d+)/.exec(request.body)?.[1])
      wire.send(200, toTaskAnswer(request, row % 4 === 0 ? [SPAM] : []))
    },
  })
  const bridge = withBridge()
  const { client } = await connectWindow('message port', bridge.services)
  const request = await createRequest(bridge.services, writeRows(count), service.baseUrl)
  const { runId } = await client.runs.start({ request, apiKey: 'k' })
  await client.runs.awaitReady({ runId })
  await client.runs.begin({ runId })
  await bridge.services.engine.runs.heldRun(runId)?.ended
  return { client, runId, bridge, workspace: bridge.services.engine.workspace }
}

const toError = (call: PromiseLike<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => parseBridgeError(error),
  )

it("stores a person's verdict on a row, removes it, and filters the rows by it", async () => {
  const { client, runId } = await sendRows(8)
  const set = (row: number, ...verdicts: RowVerdict[]) => client.verdicts.set({ runId, row, verdicts })
  expect(await client.verdicts.list({ runId })).toEqual([])
  expect(await set(4, say('should-not', 'Spam'))).toMatchObject({
    before: [],
    after: [{ row: 4, verdict: 'should-not', rule: 'Spam', stratum: null }],
  })
  await set(1, { ...say('agree'), note: 'fine' })
  expect(await client.verdicts.list({ runId })).toMatchObject([
    { row: 1, verdict: 'agree', note: 'fine' },
    { row: 4, verdict: 'should-not' },
  ])
  const { rows } = await client.results.page({
    runId,
    filter: { verdict: 'should-not' },
    offset: 0,
    limit: 9,
  })
  expect(rows.map(({ row }) => row)).toEqual([4])
  const { facets } = await client.results.facets({ runId, filter: {} })
  expect(facets.filter(({ kind }) => kind === 'verdict')).toEqual([
    { kind: 'verdict', value: 'none', label: 'no verdict', rows: 6 },
    { kind: 'verdict', value: 'agree', label: 'agree', rows: 1 },
    { kind: 'verdict', value: 'should-not', label: 'should not trigger', rows: 1 },
  ])
  expect(await set(4)).toMatchObject({ before: [{ row: 4, verdict: 'should-not' }], after: [] })
  expect(await client.verdicts.list({ runId })).toMatchObject([{ row: 1 }])
})

it('keeps rows in a list by verdict on every page after their verdicts change', async () => {
  const { client, runId } = await sendRows(8)
  const list = async (verdict: 'none' | 'agree', keptRows: number[], offset = 0) => {
    const filter = { verdict, keptRows }
    const { rows, total } = await client.results.page({ runId, filter, offset, limit: 3 })
    return { rows: rows.map(({ row }) => row), total }
  }
  const before = [await list('none', []), await list('none', [], 3)]
  await client.verdicts.set({ runId, row: 1, verdicts: [say('agree')] })
  await client.verdicts.set({ runId, row: 2, verdicts: [say('unsure')] })
  expect([await list('none', [1, 2]), await list('none', [1, 2], 3)]).toEqual(before)
  expect(await list('none', [])).toEqual({ rows: [3, 4, 5], total: (before[0]?.total ?? 0) - 2 })
  expect(await list('agree', [2])).toEqual({ rows: [1, 2], total: 2 })
})

it('writes verdicts to a file, imports them from it, and names a wrong file without its path', async () => {
  const { client, runId, bridge } = await sendRows(4)
  const { sources } = bridge.services
  const folder = createTemporaryFolder()
  const file = join(folder, 'verdicts.csv')
  await client.verdicts.set({ runId, row: 4, verdicts: [say('should-not', 'Spam'), say('should', 'Hate')] })
  await client.verdicts.set({ runId, row: 1, verdicts: [{ ...say('agree'), note: 'fine' }] })
  const before = await client.verdicts.list({ runId })
  const { targetId } = bridge.host.addExportFile(file)
  expect(await client.verdicts.export({ runId, format: 'csv', targetId })).toMatchObject({ file, rows: 3 })
  for (const row of [1, 4]) await client.verdicts.set({ runId, row, verdicts: [] })
  const { sourceId } = await sources.add(file)
  expect(await client.verdicts.import({ runId, sourceId, replaces: false })).toMatchObject({ verdicts: 3 })
  const after = await client.verdicts.list({ runId })
  expect(after.map(({ given_at: _, ...said }) => said)).toEqual(
    before.map(({ given_at: _, ...said }) => said),
  )
  const refuse = async (text: string) => {
    const path = join(folder, 'wrong.csv')
    writeFileSync(path, text)
    const wrong = await sources.add(path)
    const error = await toError(client.verdicts.import({ runId, sourceId: wrong.sourceId, replaces: false }))
    expect(JSON.stringify(error)).not.toContain(folder)
    return error?.message
  }
  expect(await refuse('sluice_row,sluice_verdict\n1,perhaps\n')).toContain('wrong.csv, row 2: `perhaps`')
  expect(await refuse('sluice_row,verdict\n1,agree\n')).toContain('is not a column of wrong.csv')
  expect(await client.verdicts.list({ runId })).toHaveLength(3)
})

it('replaces verdicts by those of a file only once a person has seen which rows differ', async () => {
  const { client, runId, bridge } = await sendRows(4)
  const mine = [
    { row: 1, verdicts: [say('should', 'Hate')] },
    { row: 2, verdicts: [say('agree')] },
  ]
  for (const one of mine) await client.verdicts.set({ runId, ...one })
  await client.verdicts.set({ runId, row: 3, verdicts: [{ ...say('agree'), note: 'an advert' }] })
  const file = join(createTemporaryFolder(), 'theirs.csv')
  const theirs = ['2,should-not,Spam', '3,agree,', '4,agree,', '5,unsure,']
  writeFileSync(file, `row,sluice_verdict,sluice_rule\n${theirs.join('\n')}\n`)
  const { sourceId } = await bridge.services.sources.add(file)
  const before = await client.verdicts.list({ runId })
  const found = await client.verdicts.import({ runId, sourceId, replaces: false })
  expect(found).toMatchObject({
    verdicts: 0,
    differingRows: 2,
    differing: [
      { place: { row: 2 }, known: [say('should', 'Hate')], given: [say('should-not', 'Spam')] },
      { place: { row: 4 }, known: [{ note: 'an advert' }], given: [say('agree')] },
    ],
  })
  expect(await client.verdicts.list({ runId })).toEqual(before)

  expect(await client.verdicts.import({ runId, sourceId, replaces: true })).toMatchObject({ verdicts: 4 })
  const after = await client.verdicts.list({ runId })
  expect(after.map(({ row, verdict, rule, note }) => [row, verdict, rule, note])).toEqual([
    [1, 'should-not', 'Spam', null],
    [2, 'agree', null, null],
    [3, 'agree', null, null],
    [4, 'unsure', null, null],
  ])
})

it("refuses a verdict from a window that has not seen the row's newest verdict", async () => {
  const { client, runId } = await sendRows(2)
  const both = [{ ...say('should', 'Spam'), note: 'x' }, say('should-not', 'Hate')]
  await client.verdicts.set({ runId, row: 1, before: [], verdicts: both })
  const late = await toError(client.verdicts.set({ runId, row: 1, before: [], verdicts: [say('agree')] }))
  expect(late?.message).toContain('its verdicts are now: should not trigger Hate, should trigger Spam')
  expect(await client.verdicts.list({ runId })).toHaveLength(2)
  await client.verdicts.set({ runId, row: 1, before: both, verdicts: [say('agree')] })
  expect(await client.verdicts.list({ runId })).toMatchObject([{ row: 1, verdict: 'agree' }])
  const gone = await toError(client.verdicts.set({ runId, row: 2, before: both, verdicts: [] }))
  expect(gone?.message).toContain('its verdicts are now: none')
})

it('refuses a verdict without its rule, with a rule too many, or on a row that does not exist', async () => {
  onlyInLongForm()
  const { client, runId } = await sendRows(1)
  const set = (row: number, verdict: RowVerdict) => client.verdicts.set({ runId, row, verdicts: [verdict] })
  expect((await toError(set(1, say('should'))))?.message).toContain('need a rule')
  expect((await toError(set(1, say('agree', 'Spam'))))?.message).toContain('need a rule')
  expect((await toError(set(2, say('agree'))))?.message).toContain('has no record 2')
  expect(await client.verdicts.list({ runId })).toEqual([])
})

it('draws rows to label, remembers the position, and estimates for all rows', async () => {
  onlyInLongForm()
  const { client, runId, workspace } = await sendRows(40)
  expect(await client.labelling.read({ runId })).toBeNull()
  const asked = {
    by: 'rule',
    allocation: 'equal' as const,
    seed: 7,
    showsDecision: false,
    rules: ['Spam'],
  }
  const drawn = await client.labelling.start({ runId, size: 12, ...asked })
  expect(drawn).toMatchObject({ ...asked, at: 0, skipped: [] })
  expect(drawn.strata).toEqual([
    { stratum: 'no rule', rows: 30, drawn: 6 },
    { stratum: 'Spam', rows: 10, drawn: 6 },
  ])
  const rows = drawn.rows.map(([row]) => row)
  expect(new Set(rows).size).toBe(12)
  expect(rows).not.toEqual(rows.toSorted((a, b) => a - b))
  for (const [row, place] of drawn.rows) expect(place).toBe(row % 4 === 0 ? 1 : 0)
  const again = await client.labelling.start({ runId, size: 12, ...asked })
  expect(again.rows).toEqual(drawn.rows)

  const { started_at } = again
  const change = { started_at, at: 3, skipped: rows.slice(0, 1), rules: ['Spam', 'Scam'] }
  await client.labelling.change({ runId, change })
  expect(await client.labelling.read({ runId })).toEqual({ ...again, ...change })
  await client.labelling.change({ runId, change: { started_at, at: 99 } })
  expect(await client.labelling.read({ runId })).toMatchObject({ at: 12 })

  // Half of the triggered rows are wrong, and nothing was missed.
  const spam = rows.filter((row) => row % 4 === 0)
  for (const row of rows) {
    const verdict = spam.indexOf(row) % 2 === 1 ? say('should-not', 'Spam') : say('agree')
    const { after } = await client.verdicts.set({ runId, row, verdicts: [verdict] })
    expect(after[0]).toMatchObject(
      row % 4 === 0 ? { stratum: 'Spam', stratum_rows: 10 } : { stratum: 'no rule', stratum_rows: 30 },
    )
  }
  const estimate = await client.labelling.estimate({ runId })
  expect(estimate.rules).toMatchObject([
    { rule: 'Spam', precision: { value: 0.5 }, estimated: { true_positives: 5, false_positives: 5 } },
  ])
  expect(estimate.rows).toMatchObject({ evaluated: 12, without_label: 28 })

  await client.labelling.end({ runId })
  expect(await client.labelling.read({ runId })).toBeNull()
  expect(await client.verdicts.list({ runId })).toHaveLength(12)
  await client.labelling.start({ runId, size: 2, ...asked })
  await client.runs.deleteRun({ runId })
  expect(readdirSync(join(workspace, 'runs')).filter((name) => name.startsWith(runId))).toEqual([])
})

it('restores a verdict unchanged, and leaves it out of a sample that was drawn since', async () => {
  onlyInLongForm()
  const { client, runId } = await sendRows(8)
  const asked = { by: null, allocation: 'equal' as const, seed: 7, showsDecision: false, rules: [] }
  const { rows } = await client.labelling.start({ runId, size: 2, ...asked })
  const row = rows[0]?.[0] ?? expect.fail('no row')
  await client.verdicts.set({ runId, row, verdicts: [say('agree')] })
  await client.labelling.end({ runId })
  const before = await client.verdicts.list({ runId })
  expect(before).toMatchObject([{ row, stratum_rows: 8 }])
  const [{ row: _, ...given } = expect.fail('no verdict')] = before
  const giveBack = () => client.verdicts.set({ runId, row, before: [], verdicts: [given] })
  await client.verdicts.set({ runId, row, before: [say('agree')], verdicts: [] })
  expect(await giveBack()).toEqual({ before: [], after: before })
  expect(await client.verdicts.list({ runId })).toEqual(before)

  await client.verdicts.set({ runId, row, verdicts: [] })
  let seed = 8
  const draw = () => client.labelling.start({ runId, size: 1, ...asked, seed })
  while ((await draw()).rows[0]?.[0] === row) seed += 1
  expect(await giveBack()).toMatchObject({ after: [{ row, stratum: null, stratum_rows: null }] })
})

it('says what is missing if no rows are drawn, none is answered, or a group does not exist', async () => {
  onlyInLongForm()
  const { client, runId } = await sendRows(2)
  const asked = {
    size: 5,
    by: null,
    allocation: 'proportional' as const,
    seed: 1,
    showsDecision: true,
    rules: [],
  }
  const change = { started_at: '2026-11-01T00:00:00.000Z', at: 1 }
  expect((await toError(client.labelling.change({ runId, change })))?.message).toContain('no rows')
  expect((await toError(client.labelling.start({ runId, ...asked, by: 'colour' })))?.message).toContain(
    'colour',
  )
  expect((await toError(client.labelling.start({ runId, ...asked, size: 0 })))?.message).toContain('size')
  expect((await client.labelling.start({ runId, ...asked })).rows).toHaveLength(2)
  // A position in an earlier sample is not one in a new sample.
  expect((await toError(client.labelling.change({ runId, change })))?.message).toContain('other rows')
  expect(await client.labelling.read({ runId })).toMatchObject({ at: 0 })
})
