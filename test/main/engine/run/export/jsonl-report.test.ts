import { expect, test } from 'vitest'
import { toMembers } from '../../../../../src/main/engine/run/export/csv-report.ts'
import { createJsonlWriter } from '../../../../../src/main/engine/run/export/jsonl-report.ts'
import { buildOptions, buildResult } from './build-result.ts'

test('each row is one object on a line, cells by column name', () => {
  const writer = createJsonlWriter(buildOptions(['text', '2024', '__proto__']))
  const result = buildResult({
    cells: ['=1\r\n"x"', 'y', 'z'],
    triggeredRules: [{ ruleId: 'r1', ruleName: 'Spam' }],
  })
  const line = writer.row(result)
  expect(writer.header()).toBe('')
  expect(line).toBe(
    '{"row":2,"record":1,"cells":{"text":"=1\\r\\n\\"x\\"","2024":"y","__proto__":"z"},"state":"succeeded","status":200,' +
      '"error_code":null,"message":null,"task_id":"t1","post_id":"p1",' +
      '"triggered_rules":[{"rule_id":"r1","rule_name":"Spam"}],"class_scores":[],"from_cache":null,' +
      '"duration_ms":12.3456,"attempts":1,"tries":[],"custom_index_item_id":null,"answer":null,"callback_latency_ms":null,' +
      '"exchange_in_row":null,"exchange_in_record":null,"request":null,"response":null,"callbacks":[]}\n',
  )
  expect(JSON.parse(line)).toMatchObject({ row: 2, record: 1, attempts: 1 })
})

test('a short row has only its own cells', () => {
  expect(
    JSON.parse(createJsonlWriter(buildOptions(['a', 'b'])).row(buildResult({ cells: ['1'] }))),
  ).toMatchObject({
    cells: { a: '1' },
  })
})

test('duplicate or missing column names give an array of cells', () => {
  const rowOf = (columns: string[]) =>
    JSON.parse(createJsonlWriter(buildOptions(columns)).row(buildResult())).cells
  expect(rowOf(['a', 'a'])).toEqual(['a', 'b'])
  expect(rowOf(['a'])).toEqual(['a', 'b'])
})

test('additional columns of a report are further members', () => {
  const added = [{ name: 'sluice_label', read: () => 'spam "maybe"' }]
  const line = createJsonlWriter(buildOptions(['a', 'b'], { members: toMembers(added) })).row(buildResult())
  expect(JSON.parse(line)).toMatchObject({ row: 2, sluice_label: 'spam "maybe"', state: 'succeeded' })
})
