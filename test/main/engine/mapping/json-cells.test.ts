import { describe, expect, test } from 'vitest'
import { createRowMapper, resolveMapping } from '../../../../src/main/engine/mapping/row-mapper.ts'
import { createRowValidator } from '../../../../src/main/engine/mapping/validate-row.ts'
import { createOperationExchange } from '../../../../src/main/engine/service/operation-exchange.ts'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import type { PlanInput } from '../../../../src/shared/plan/plan.ts'
import { buildPlan } from './build-plan.ts'

/** The request of row 3 and its problems. */
function send(cells: Record<string, string>, parts: Parameters<typeof buildPlan>[0] = {}) {
  const columns = Object.keys(cells)
  const plan = buildPlan(parts)
  const resolved = { ...plan, mapping: resolveMapping(plan, columns) }
  const mapped = createRowMapper(resolved, columns, 'r1')(3, Object.values(cells))
  const found = [...mapped.problems, ...createRowValidator(resolved)(3, mapped.body)]
  const exchange = createOperationExchange(resolved, { deliveredCodes: [], nowMs: Date.now })
  return { body: exchange.toRequest([mapped.body], null).body, found: found.map(formatProblem) }
}

const TASK = { text_data: 't', user_id: 'u' }
const REQUEST: PlanInput['mapping'] = { request: { kind: 'column', column: 'request' } }

/** Objects that parsing and writing again would change. */
const KEPT = [
  '{"limit":1e999}',
  '{"price":1.0,"at":-0,"small":1E-7,"id":12345678901234567890}',
  '{"2":"second","1":"first"}',
  '{ "spaced" : [ 1 , 2 ] ,\n "b": "\\u00e9\\/" }',
  '{"__proto__":{"a":1}}',
  '{}',
]

describe('JSON of a cell', () => {
  test.each(KEPT)('goes out unchanged as metadata: %s', (text) => {
    const { body, found } = send({ ...TASK, user_metadata: text })
    expect(found).toEqual([])
    expect(body).toBe(`{"text_data":"t","user_id":"u","post_id":"r1-3","user_metadata":${text}}`)
  })

  test.each(KEPT)('goes out unchanged inside a whole request: %s', (text) => {
    const request = `{"user_id": "u",  "text_data":"\\u0041", "post_id":"p","content_metadata":${text},"user_metadata":{}}`
    const { body, found } = send({ request }, { mapping: REQUEST })
    expect(found).toEqual([])
    expect(body).toBe(request)
  })

  test('goes out with keys that other columns add, and with both values and a warning if they conflict', () => {
    const columns = { ...TASK, user_metadata: '{"a":1.0, "b":1e999,"b":2}', 'user_metadata.c': 'x' }
    expect(send(columns).body).toContain('"user_metadata":{"a":1.0, "b":1e999,"b":2,"c":"x"}')
    const single = { ...TASK, user_metadata: '{"a":1.0, "k":1}' }
    const told = (key: string) =>
      `row 3, user_metadata: has a key more than once; all of its values are sent as they are, found \`${key}\``
    const other = send({ ...single, 'user_metadata.k': '2' })
    expect(other.body).toContain('"user_metadata":{"a":1.0, "k":1,"k":"2"}')
    expect(other.found).toEqual([told('k')])
    const nested = send({ ...single, 'user_metadata.a': '{"y":1}' })
    expect(nested.body).toContain('"user_metadata":{"a":1.0, "k":1,"a":"{\\"y\\":1}"}')
    expect(nested.found).toEqual([told('a')])
    const said = { user_metadata: { kind: 'template', template: '{"q":"fromset"}' } } as const
    const stated = send({ ...TASK, 'user_metadata.q': 'fromcol' }, { mapping: said })
    expect(stated.body).toContain('"user_metadata":{"q":"fromset","q":"fromcol"}')
    expect(stated.found).toEqual([told('q')])
  })

  test.each([
    ['{"k":2}', '2'],
    ['{"k":"\\u0061"}', 'a'],
    ['{"k":1}', ''],
  ])('goes out unchanged if a column gives a key the same value, or none: %s', (text, k) => {
    const { body, found } = send({ ...TASK, user_metadata: text, 'user_metadata.k': k })
    expect(found).toEqual([])
    expect(body).toContain(`"user_metadata":${text}`)
  })

  test('of a whole request goes out with the fields it lacks appended', () => {
    const request = '{"text_data":"t","user_id":null,"own":[1.0],"user_metadata":{"a":-0}}'
    const cells = { request, user_id: 'u', 'user_metadata.b': 'x' }
    expect(send(cells, { mapping: REQUEST }).body).toBe(
      '{"text_data":"t","own":[1.0],"user_metadata":{"a":-0,"b":"x"},"user_id":"u","post_id":"r1-3"}',
    )
  })

  test('with a key that occurs twice is sent with both, and a warning', () => {
    const text = '{"a":{"b":1,"\\u0062":2},"c":{"b":1}}'
    const { body, found } = send({ ...TASK, user_metadata: text })
    expect(body).toContain(`"user_metadata":${text}`)
    expect(found).toEqual([
      'row 3, user_metadata: has a key more than once; all of its values are sent as they are, found `b`',
    ])
  })

  test('that is a whole request with a duplicate key is sent with both, and a warning', () => {
    const request = '{"text_data":"a","text_data":"b","user_id":"u","post_id":"p","user_metadata":{}}'
    const { body, found } = send({ request }, { mapping: REQUEST })
    expect(body).toBe(request)
    expect(found).toEqual([
      'row 3, request: has a key more than once; all of its values are sent as they are, found `text_data`',
    ])
  })

  test.each(['{"a":01}', '{"a":NaN}', "{'a':1}", '{"a":1,}', '{"a":"\t"}', '{"a":[1}', '[{}]'])(
    'that is not a JSON object keeps its row from being sent: %s',
    (text) => {
      expect(send({ ...TASK, user_metadata: text }).found[0]).toMatch(/must be a JSON object/)
    },
  )
})

describe('a template that is JSON', () => {
  const fill = (template: string, cells: Record<string, string>, field = 'user_metadata') =>
    send({ ...TASK, ...cells }, { mapping: { [field]: { kind: 'template', template } } })
  const HOSTILE = [
    'v","role":"admin',
    '\\',
    '\\"',
    'a\nb\r\u0000',
    '"}',
    '{{q}}',
    '\u2028é😀',
    '\\u0022,"role":"admin',
  ]

  test.each(HOSTILE)('takes a cell between quotes as text, whatever it contains: %j', (q) => {
    const { body, found } = fill('{"a":"<{{q}}>", "b":1.0}', { q })
    expect(found).toEqual([])
    expect(JSON.parse(body ?? '').user_metadata).toEqual({ a: `<${q}>`, b: 1 })
    expect(body).toContain('"b":1.0')
  })

  test.each(HOSTILE)('takes a cell in a key as the text of that key: %j', (q) => {
    expect(JSON.parse(fill('{"k{{q}}":1}', { q }).body ?? '').user_metadata).toEqual({ [`k${q}`]: 1 })
  })

  test.each(['1', '1e999', '"x"', 'null', '[1,{"a":2}]', ' -0 '])(
    'takes a cell outside quotes as one JSON value: %s',
    (n) => {
      const { body, found } = fill('{"n": {{n}}}', { n })
      expect(found).toEqual([])
      expect(body).toContain(`"user_metadata":{"n": ${n}}`)
    },
  )

  test.each(['1,"role":"admin"', '', 'abc', '1}', '01', '"a":1'])(
    'refuses a row whose cell outside quotes is not one JSON value, and names its column: %j',
    (n) => {
      expect(fill('{"n": {{ n }}}', { n }).found[0]).toBe(
        `row 3, user_metadata: must be a JSON object, found \`{"n": {{n is ${n || 'empty'}}}}\``,
      )
    },
  )

  test.each(['{"n": 1{{n}}}', '{"n": {{n}}{{n}}}', '{"a":"\\{{n}}"}', '{"a":"\\u00{{n}}"}', '{ {{n}} }'])(
    'refuses every row if its placeholders are not values: %s',
    (template) => {
      expect(fill(template, { n: '22' }).found[0]).toBe(
        `row 3, user_metadata: must be a JSON object, found \`${template}\``,
      )
    },
  )

  test('may be only a placeholder, whose cell is the whole object or omits the field', () => {
    expect(fill('{{n}}', { n: '{"a":1.0}' }).body).toContain('"user_metadata":{"a":1.0}')
    expect(fill('{{n}}', { n: '' }).body).not.toContain('user_metadata')
  })

  test('may be a whole request, a list of models, or the value of a fix', () => {
    const q = 't","user_id":"x'
    const request = fill('{"text_data":"{{q}}","user_metadata":{}}', { q }, 'request')
    expect(JSON.parse(request.body ?? '')).toMatchObject({ text_data: q, user_id: 'u' })
    expect(fill('["{{m}}"]', { m: 'text","ocr' }, 'models').body).toContain('"models":["text\\",\\"ocr"]')
    const fix = { kind: 'value', problem: 'not_json_object', field: 'user_metadata' } as const
    const cells = { ...TASK, q, user_metadata: 'bad' }
    const fixed = send(cells, { fixes: [{ ...fix, value: '{"a":"{{q}}"}' }] })
    expect(JSON.parse(fixed.body ?? '').user_metadata).toEqual({ a: q })
  })
})
