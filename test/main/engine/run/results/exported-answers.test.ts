import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ReaderPool, readRunFamily } from '../../../../../src/main/engine/journal/run-family.ts'
import { exportRun } from '../../../../../src/main/engine/results/export-run.ts'
import { toJournalFile } from '../../../../../src/main/engine/workspace/workspace-files.ts'
import { type PlanInput, planSchema } from '../../../../../src/shared/plan/plan.ts'
import type { ExportOptions } from '../../../../../src/shared/run/results.ts'
import { startFaultServer, type WireRequest } from '../../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../../helpers/in-process-runs.ts'
import { openTestFolder } from '../../../../helpers/test-folder.ts'
import { readAnySource } from '../../source/read-source.ts'
import { parseRfc4180 } from '../../source/rfc4180.ts'

const folder = openTestFolder()

/** Runs a source against a service with the given answers, and returns a function that exports it. */
async function runSource(
  source: { name: string; text: string },
  operation: PlanInput['operation'],
  toAnswer: (request: WireRequest) => unknown,
) {
  const runs = createInProcessRuns(folder)
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toAnswer(request)),
  })
  const path = join(folder, source.name)
  writeFileSync(path, source.text)
  const plan = planSchema.parse({ connection: { baseUrl: server.baseUrl }, source: { path }, operation })
  const { run_id: runId } = await runs.start(plan).ended
  const write = async (name: string, options: Partial<ExportOptions> = {}) => {
    const pool = new ReaderPool()
    try {
      const family = readRunFamily(pool, toJournalFile(folder, runId), () => false)
      if (family === null) throw new Error('no run')
      const { file } = await exportRun(family, { file: join(folder, name), ...options })
      return file
    } finally {
      pool.close()
    }
  }
  return {
    server,
    runs,
    runId,
    write,
    readCsv: async (options: Partial<ExportOptions> = {}) => {
      const [header = [], ...rows] = parseRfc4180(
        readFileSync(await write('out.csv', options), 'utf8').slice(1),
      )
      return {
        header,
        rows: rows.map((cells) => Object.fromEntries(header.map((name, i) => [name, cells[i]]))),
      }
    },
    readLines: async (options: Partial<ExportOptions> = {}) =>
      readFileSync(await write('out.jsonl', options), 'utf8')
        .trimEnd()
        .split('\n'),
  }
}

const TASKS = { name: 'tasks.csv', text: 'text_data,user_id\none,u1\ntwo,u2\n' }

const MODEL = {
  input: { model: 'text-4', text: 'one', language: 'of the input' },
  custom_classes: ['own'],
  text_filters: [{ value: 'bad', type: 'FILTER' }],
  pii_entities: [{ value: 'a@b.example', start_index: 0, end_index: 11, type: 'EMAIL' }],
  urls: ['https://one.example', 'https://two.example'],
  language: 'EN',
  moderated_classes: ['sexual', 'hate'],
  output: [
    { time: 0, classes: [{ class: 'hate', score: 1 }] },
    {
      time: 1,
      classes: [
        { class: 'hate', score: 3 },
        { class: 'self,harm', score: 0 },
      ],
    },
  ],
}

test('a CSV export has rule ids, scores by class and every listed field of a legacy answer', async () => {
  const { readCsv } = await runSource(TASKS, { kind: 'task', legacy: true }, (request) => ({
    id: `task-${request.number}`,
    code: 200,
    triggered_rules: [
      { id: 'rule-1', display_name: 'Spam' },
      { id: 'rule-2', display_name: 'Hate' },
    ],
    status: [{ status: { code: '0', message: 'SUCCESS' }, response: MODEL }],
    from_cache: true,
  }))
  const { header, rows } = await readCsv()
  expect(header.slice(-3)).toEqual(['score.hate', 'score.self,harm', 'sluice_callback_latency_ms'])
  expect(rows).toHaveLength(2)
  for (const row of rows) {
    expect(row).toMatchObject({
      sluice_triggered_rules: 'Spam; Hate',
      sluice_rule_ids: 'rule-1; rule-2',
      sluice_from_cache: 'true',
      sluice_language: 'EN',
      sluice_pii: JSON.stringify(MODEL.pii_entities),
      sluice_urls: 'https://one.example; https://two.example',
      sluice_text_filters: JSON.stringify(MODEL.text_filters),
      sluice_custom_classes: 'own',
      sluice_moderated_classes: 'sexual; hate',
      sluice_model_results: JSON.stringify([
        { model: 'text-4', code: '0', message: 'SUCCESS', scores: { hate: 3, 'self,harm': 0 } },
      ]),
      'score.hate': '3',
      'score.self,harm': '0',
    })
  }
})

test('an export of chosen columns has these, and a column for each rule on request', async () => {
  const { readCsv, write } = await runSource(TASKS, { kind: 'task', legacy: true }, ({ body }) => ({
    id: 'task-1',
    code: 200,
    triggered_rules: body.includes('"one"') ? [{ id: 'rule-1', display_name: 'Spam' }] : [],
    status: [{ status: { code: '0', message: 'SUCCESS' }, response: MODEL }],
    from_cache: true,
  }))
  const columns = ['user_id', 'answer.status.response.language', 'sluice_response', 'score.hate']
  const { header, rows } = await readCsv({ columns, rulesAsColumns: true })
  expect(header).toEqual([...columns, 'rule.Spam'])
  expect(rows.map((row) => [row['user_id'], row['rule.Spam'], row['score.hate']])).toEqual([
    ['u1', 'true', '3'],
    ['u2', 'false', '3'],
  ])
  expect(rows[1]).toMatchObject({ 'answer.status.response.language': 'EN' })
  expect(JSON.parse(rows[1]?.['sluice_response'] ?? '')).toMatchObject({ from_cache: true })
  const sheet = await readAnySource(await write('chosen.xlsx', { columns: ['rules', 'text_data'] }))
  expect([sheet.columns, ...sheet.cells]).toEqual([
    ['rule.Spam', 'text_data'],
    ['true', 'one'],
    ['false', 'two'],
  ])
  await expect(write('no.csv', { columns: ['scores', 'rule.Span'] })).rejects.toMatchObject({
    code: 'BAD_USAGE',
    hint: 'Did you mean `rule.Spam`?',
  })
  await expect(write('no.jsonl', { columns })).rejects.toThrow('only apply to .csv, .xlsx and .parquet')
})

test('an export holds the model results and the index matches of a v2 answer', async () => {
  const match = { custom_index_item_id: 'item-7', similarity: 0.93, metadata: { urls: ['not ours'] } }
  const { readCsv, write } = await runSource(
    { name: 'media.csv', text: 'url,user_id\nhttps://a.example/1.png,u1\n' },
    { kind: 'task', api: 'v2', models: ['visual', 'index-1'] },
    () => ({
      task_id: 't1',
      models: [
        { model: 'visual', status: { code: '0', message: 'fine' }, response: { output: MODEL.output } },
        { model: 'index-1', status: { code: '0' }, response: { matches: [match] } },
      ],
    }),
  )
  const expected = {
    sluice_from_cache: '',
    sluice_urls: '',
    sluice_index_matches: JSON.stringify([match]),
    sluice_model_results: JSON.stringify([
      { model: 'visual', code: '0', message: 'fine', scores: { hate: 3, 'self,harm': 0 } },
      { model: 'index-1', code: '0', message: null, scores: {} },
    ]),
  }
  expect((await readCsv()).rows).toEqual([expect.objectContaining(expected)])
  const sheet = await readAnySource(await write('out.xlsx'))
  const cells = sheet.columns.map((name, index) => [name, sheet.cells[0]?.[index]])
  expect(Object.fromEntries(cells)).toMatchObject({ ...expected, 'score.hate': '3' })
})

test('an export of terms omits the notes of an answer that names another watchlist', async () => {
  const { readCsv } = await runSource(
    { name: 'terms.csv', text: 'term,notes\nalpha,new\n' },
    { kind: 'watchlist-add', watchlist: 'list' },
    () => ({
      message: 'Done.',
      watchlist: 'others',
      added_terms: [],
      failed_terms: [],
      pre_existing_terms: [{ term: 'alpha', notes: 'of others' }],
    }),
  )
  expect((await readCsv()).rows).toEqual([
    expect.objectContaining({ sluice_state: 'unknown', sluice_term_notes: '', sluice_service_message: '' }),
  ])
})

test("an export of terms has the notes in the watchlist's answers, and the message of each answer", async () => {
  const { readCsv, readLines } = await runSource(
    { name: 'terms.csv', text: 'term,notes\nAlpha,new\nbeta,\n' },
    { kind: 'watchlist-add', watchlist: 'list' },
    () => ({
      message: 'Done.',
      watchlist: 'list',
      added_terms: [{ term: 'beta' }],
      pre_existing_terms: [{ term: 'alpha', notes: 'as it is now' }],
      failed_terms: [],
    }),
  )
  expect((await readCsv()).rows).toEqual([
    expect.objectContaining({
      sluice_term_outcome: 'pre_existing',
      sluice_term_notes: 'as it is now',
      sluice_service_message: 'Done.',
    }),
    expect.objectContaining({
      sluice_term_outcome: 'added',
      sluice_term_notes: '',
      sluice_service_message: 'Done.',
    }),
  ])
  const lines = (await readLines()).map((line) => JSON.parse(line))
  expect(lines[0]).toMatchObject({
    exchange_in_row: null,
    exchange_in_record: null,
    post_id: null,
    request: {
      method: 'POST',
      body: { watchlist: 'list', terms: [{ term: 'Alpha', notes: 'new' }, { term: 'beta' }] },
    },
    response: { body: { message: 'Done.' } },
  })
  expect(lines[1]).toMatchObject({ exchange_in_row: 2, exchange_in_record: 1, request: null, response: null })
})

test('an export of appeals has the full text, the reasons and both action ids', async () => {
  const reason = 'Because of what was said at length. '.repeat(40).trim()
  const { readCsv } = await runSource(
    { name: 'appeals.csv', text: 'appeal_id\nappeal-1\n' },
    { kind: 'appeal-status' },
    () => ({
      appeal_id: 'appeal-1',
      appeal: {
        appeal_status: 'Reviewed',
        appeal_judgment: {
          action_id: 'act-2',
          action_name: 'Restore',
          action_reasons: [reason],
          overturned: true,
        },
      },
      original_decision: { action_id: 'act-1', display_name: 'Remove', action_reasons: ['Spam', 'Scam'] },
    }),
  )
  expect((await readCsv()).rows).toEqual([
    expect.objectContaining({
      sluice_message: `Reviewed: overturned; judgment: Restore (${reason}); original decision: Remove (Spam, Scam)`,
      sluice_appeal_status: 'overturned',
      sluice_appeal_action_id: 'act-2',
      sluice_appeal_action_name: 'Restore',
      sluice_appeal_reasons: reason,
      sluice_original_action_id: 'act-1',
      sluice_original_action_name: 'Remove',
      sluice_original_reasons: 'Spam; Scam',
    }),
  ])
})

test('JSON lines contain the request and the answer unchanged, digit by digit', async () => {
  const answer = '{\n  "task_id": "t1", "user_id": "u1", "user_id": 12345678901234567890, "ratio": 1.50\r\n}'
  const { readLines, server } = await runSource(TASKS, { kind: 'task' }, ({ body }) =>
    body.includes('"one"') ? answer : '{"task_id":"t2","rest":',
  )
  const [first = '', second = ''] = await readLines()
  const sent = server.requests.find(({ body }) => body.includes('"one"'))
  expect(first).toContain(
    `"request":{"method":"POST","url":"${server.baseUrl}${sent?.path}","body":${sent?.body}}`,
  )
  expect(first).toContain(
    '{   "task_id": "t1", "user_id": "u1", "user_id": 12345678901234567890, "ratio": 1.50 }',
  )
  expect(JSON.parse(first)).toMatchObject({ class_scores: [], callbacks: [] })
  expect(JSON.parse(second)).toMatchObject({ response: { text: '{"task_id":"t2","rest":' } })
})

test('an answer beyond the stored length is a text that says so in JSON lines', async () => {
  const long = JSON.stringify({ task_id: 't1', padding: 'x'.repeat(5 * 1024 * 1024) })
  const { readLines } = await runSource(TASKS, { kind: 'task' }, () => long)
  for (const line of await readLines()) {
    const { response } = JSON.parse(line)
    expect(response).toEqual({
      text: long.slice(0, 4 * 1024 * 1024),
      is_cut: true,
      cut_from_bytes: long.length,
    })
  }
})

test('JSON of a JSON Lines source comes back unchanged', async () => {
  const rows = [
    '{"text_data":"[1]","user_id":"u1","meta":{"id":12345678901234567890,"tags":["a",null]},"n":1.50,"none":null}',
    '{"text_data":"12","user_id":"u2","late":true}',
  ]
  const { readLines } = await runSource(
    { name: 'rows.jsonl', text: `${rows.join('\n')}\n` },
    { kind: 'task' },
    () => ({ task_id: 't1' }),
  )
  const lines = await readLines()
  for (const [index, row] of rows.entries()) expect(lines[index]).toContain(`"cells":${row},"state"`)
})

test('a lossless export keeps the header unchanged, including empty and duplicate names', async () => {
  const { readCsv, write } = await runSource(
    { name: 'odd.csv', text: 'text_data,user_id,user_id,,sluice_row\none,u1,x,7,z\n' },
    { kind: 'task' },
    () => ({ task_id: 't1' }),
  )
  const { header } = await readCsv({ lossless: true })
  expect(header.slice(0, 6)).toEqual(['text_data', 'user_id', 'user_id', '', 'sluice_row', 'sluice_row'])
  expect((await readCsv()).header.slice(0, 6)).toEqual([
    'text_data',
    'user_id',
    'user_id (2)',
    'Column 4',
    'sluice_row (source)',
    'sluice_row',
  ])
  const sheet = await readAnySource(await write('lossless.xlsx', { lossless: true }))
  expect(sheet.columns.slice(0, 4)).toEqual(['text_data', 'user_id', 'user_id (2)', 'Column 4'])
})
