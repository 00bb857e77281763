import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { BridgeClient } from '../../../src/shared/bridge/contract.ts'
import { toShownError } from '../../../src/shared/bridge/errors.ts'
import type { EvaluateQuestionInput } from '../../../src/shared/bridge/evaluate.ts'
import type { EvaluationStep } from '../../../src/shared/lookback/evaluation.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeText } from './plans.ts'

const ROWS = [
  'post_id,user_id,text_data,truth,channel',
  // The sandbox's answers: Likely spam, Likely spam with a link, a link, nothing, nothing, nothing, invalid.
  'p1,u1,win a free prize now claim your cash prize,spam,web',
  'p2,u1,claim your free prize now at http://prize.example,spam;link,web',
  'p3,u1,notes are at http://example.com,,web',
  'p4,u1,see you at lunch,spam,app',
  'p5,u1,good morning,ham,app',
  'p6,u1,how was the film,link,app',
  'p_7,u1,not sent,spam,app',
]

const KEY = 'a-key-for-the-sandbox'

/** A window on a finished run of {@link ROWS}. */
async function openRun() {
  const bridge = withBridge()
  const { client, received } = await connectWindow('message port', bridge.services)
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  const path = writeText(`${ROWS.join('\n')}\n`)
  const request = await createRequest(bridge.services, path, sandbox.baseUrl, {
    operation: { kind: 'task', legacy: true },
  })
  const { runId } = await client.runs.start({ request, apiKey: KEY })
  await client.runs.awaitReady({ runId })
  await client.runs.begin({ runId })
  await bridge.services.engine.runs.heldRun(runId)?.ended
  return { bridge, client, received, runId }
}

const QUESTION: EvaluateQuestionInput = {
  label: 'truth',
  useVerdicts: false,
  separator: ';',
  positives: [
    { value: 'spam', rule: 'Likely spam' },
    { value: 'link', rule: 'Contains a link' },
  ],
  slices: ['channel'],
  scores: [],
}

/** Polls until the evaluation is there, as a screen does. */
async function evaluate(client: BridgeClient, runId: string, question = QUESTION): Promise<EvaluationStep> {
  for (;;) {
    const step = await client.evaluate.ask({ runId, question })
    if (step.progress === null) return step
  }
}

const toMessage = (call: PromiseLike<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => toShownError(error).message,
  )

describe('the evaluation of a run in a window', () => {
  it('starts with the column that looks like labels and the meaning of its values', async () => {
    const { client, runId } = await openRun()
    const choices = await client.evaluate.choices({ runId })
    expect(choices).toMatchObject({
      rules: [
        { rule: 'Contains a link', rows: 2 },
        { rule: 'Likely spam', rows: 2 },
      ],
      looked: 7,
      rows: 7,
      verdicts: 0,
      guess: { label: 'truth', separator: ';', positives: QUESTION.positives },
    })
    expect(choices.classes).toContain('spam')
    // The submitted content is not a label and is not shown.
    expect(choices.columns.find(({ name }) => name === 'text_data')?.values).toEqual([])
  })

  it('counts rows with verdicts, of which a row can have several', async () => {
    onlyInLongForm()
    const { client, bridge, runId } = await openRun()
    const give = (row: number, rule: string) => ({
      row,
      verdict: 'should' as const,
      rule,
      note: null,
      stratum: null,
      stratum_rows: null,
    })
    await bridge.services.engine.lookback.storeVerdicts(runId, [
      ...[give(1, 'Likely spam'), give(1, 'Contains a link'), give(2, 'Likely spam')],
    ])
    expect(await client.evaluate.choices({ runId })).toMatchObject({ verdicts: 3, judged: 2 })
  })

  it('has the same figures as the command line, and the scores as drawn', async () => {
    const { client, runId } = await openRun()
    const { evaluation, scores } = await evaluate(client, runId)
    expect(evaluation?.rules[0]).toMatchObject({
      rule: 'Likely spam',
      matrix: { true_positives: 2, false_positives: 0, false_negatives: 1, true_negatives: 2 },
      precision: { value: 1 },
    })
    expect(evaluation?.slices[0]?.values.map(({ value }) => value)).toEqual(['app', 'web'])
    const [spam] = scores
    expect(spam).toMatchObject({ class: 'spam', rule: 'Likely spam', curve: { positives: 3, negatives: 2 } })
    expect(spam?.bars.reduce((sum, { positives }) => sum + positives, 0)).toBe(3)
  })

  it('gives exactly the rows of a cell as a results filter, with facets and exports', async () => {
    onlyInLongForm()
    const { bridge, client, runId } = await openRun()
    const { id } = await evaluate(client, runId)
    const toFilter = (cell: 'tp' | 'fn' | 'tn', rule: string | null) => ({
      cell: { evaluation: id, cell, rule },
    })
    const missed = await client.results.page({
      runId,
      filter: toFilter('fn', 'Likely spam'),
      offset: 0,
      limit: 10,
    })
    expect(missed).toMatchObject({ total: 1, isCounted: true, rows: [{ row: 4 }] })
    const filter = { ...toFilter('tp', null), search: 'prize now at' }
    expect(await client.results.page({ runId, filter, offset: 0, limit: 10 })).toMatchObject({
      total: 1,
      rows: [{ row: 2 }],
    })
    const { facets } = await client.results.facets({ runId, filter: toFilter('tp', null) })
    expect(facets).toContainEqual(expect.objectContaining({ kind: 'rule', label: 'Likely spam', rows: 2 }))

    const file = join(createTemporaryFolder(), 'missed.csv')
    const written = await client.exports.create({
      runId,
      format: 'csv',
      ...bridge.host.addExportFile(file),
      filter: toFilter('fn', null),
    })
    expect(written).toMatchObject({ kind: 'file', rows: 2 })
    expect(readFileSync(file, 'utf8')).toMatch(/p4,u1[\s\S]*p6,u1/)
  })

  it('writes the evaluated rows of a cell with their labels and cells', async () => {
    onlyInLongForm()
    const { bridge, client, runId } = await openRun()
    const file = join(createTemporaryFolder(), 'evaluated.csv')
    const written = await client.evaluate.export({
      runId,
      question: QUESTION,
      cell: { cell: 'fn', rule: 'Likely spam' },
      format: 'csv',
      ...bridge.host.addExportFile(file),
    })
    expect(written).toEqual({ kind: 'file', file, rows: 1, sizeBytes: statSync(file).size })
    const [header, line] = readFileSync(file, 'utf8').split('\r\n')
    expect(header).toContain('sluice_label,sluice_cell.Likely spam,sluice_cell.Contains a link')
    expect(line).toContain('p4,u1,see you at lunch,spam,app,spam,fn,tn,')
  })

  it('takes labels from another file by its handle, and no page learns the path', async () => {
    onlyInLongForm()
    const { bridge, client, received, runId } = await openRun()
    const path = writeText('id,rules\np1,likely SPAM\np4,Likely spam\np5,none\n', 'secret-place.csv')
    const { sourceId } = await bridge.services.sources.add(path, 'labels.csv')
    const labels = { source: { sourceId }, key: 'id', runKey: 'post_id' }
    const question = { ...QUESTION, label: 'rules', separator: null, positives: [], slices: [], labels }
    const { evaluation } = await evaluate(client, runId, question)
    expect(evaluation).toMatchObject({
      rows: { evaluated: 3, without_label: 4 },
      rules: [{ rule: 'Likely spam', matrix: { true_positives: 1, false_negatives: 1, true_negatives: 1 } }],
    })
    const missing = { ...question, label: 'nothing' }
    expect(await toMessage(client.evaluate.ask({ runId, question: missing }))).toContain(
      'column of labels.csv',
    )
    expect(received.join('\n')).not.toContain('secret-place')
    const unknown = { ...question, labels: { ...labels, source: { sourceId: 'not-a-handle' } } }
    expect(await toMessage(evaluate(client, runId, unknown))).toContain('the source is unknown')
  })

  it('says what is missing if no label stands for a rule, no row has one, or a cell is forgotten', async () => {
    onlyInLongForm()
    const { client, runId } = await openRun()
    const ask = (part: Partial<EvaluateQuestionInput>) =>
      toMessage(evaluate(client, runId, { ...QUESTION, positives: [], slices: [], ...part }))
    expect(await ask({ label: 'channel' })).toContain('none of the labels is the name of a rule')
    expect(await ask({ label: null, useVerdicts: true })).toContain('no row of run')
    expect(await ask({ label: 'no column' })).toMatch(/^`no column` is not a column of/)
    const filter = { cell: { evaluation: 'of another day', cell: 'fp', rule: null } } as const
    expect(await toMessage(client.results.page({ runId, filter, offset: 0, limit: 5 }))).toContain(
      'no longer in memory',
    )
  })
})
