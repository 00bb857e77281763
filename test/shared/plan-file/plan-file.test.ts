import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findConflicts } from '../../../src/shared/plan/file/find-conflicts.ts'
import { formatPlanFileProblem, parsePlanFile } from '../../../src/shared/plan/file/parse-plan-file.ts'
import { PLAN_WORDS, toPlanJsonSchema } from '../../../src/shared/plan/file/plan-file-schema.ts'
import { type Plan, type PlanInput, planSchema } from '../../../src/shared/plan/plan.ts'

const SMALLEST = {
  connection: { baseUrl: 'https://moderation.test' },
  source: { path: 'posts.csv' },
  operation: { kind: 'task' },
} as const satisfies PlanInput

function listProblems(value: unknown): string[] {
  const parsed = parsePlanFile(value)
  return parsed.kind === 'plan' ? [] : parsed.problems.map(formatPlanFileProblem)
}

/** Paths of the keys in a JSON Schema. */
function listKeys(schema: unknown, path: readonly string[] = []): string[] {
  const node = schema as Record<string, never>
  const { properties = {}, additionalProperties, items, oneOf = [], anyOf = [] } = node
  return [
    ...Object.entries(properties).flatMap(([key, child]) => [
      [...path, key].join('.'),
      ...listKeys(child, [...path, key]),
    ]),
    ...[additionalProperties, items].flatMap((inner) =>
      typeof inner === 'object' ? listKeys(inner, [...path, '*']) : [],
    ),
    ...[...Object.values(oneOf), ...Object.values(anyOf)].flatMap((member) => listKeys(member, path)),
  ]
}

describe('the published schema of plan files', () => {
  it('is up to date; npm run plan-schema regenerates it', () => {
    const published = readFileSync(join(import.meta.dirname, '../../../docs/plan.schema.json'), 'utf8')
    expect(published).toBe(`${JSON.stringify(toPlanJsonSchema(), null, 2)}\n`)
  })

  it('explains every key', () => {
    const keys = [...new Set(listKeys(toPlanJsonSchema()))]
    expect(keys.length).toBeGreaterThan(50)
    expect(keys.filter((key) => PLAN_WORDS[key] === undefined)).toEqual([])
    expect(Object.keys(PLAN_WORDS).filter((key) => key !== 'mapping.*' && !keys.includes(key))).toEqual([])
  })

  it('refuses keys that it does not know', () => {
    expect(toPlanJsonSchema()).toMatchObject({
      additionalProperties: false,
      properties: { connection: { additionalProperties: false }, source: { additionalProperties: false } },
    })
  })
})

describe('a plan file', () => {
  it("has a plan's defaults, and names its schema", () => {
    const parsed = parsePlanFile({ $schema: 'docs/plan.schema.json', ...SMALLEST })
    expect(parsed).toEqual({
      kind: 'plan',
      plan: { $schema: 'docs/plan.schema.json', ...planSchema.parse(SMALLEST) },
    })
  })

  it('may name a stored connection instead of an address, but needs one of them', () => {
    expect(listProblems({ ...SMALLEST, connection: { name: 'staging' } })).toEqual([])
    expect(listProblems({ ...SMALLEST, connection: {} })).toEqual([
      'connection: expected a baseUrl, or the name of a stored connection',
    ])
  })

  it('has all its problems listed at once, each with its path and what was expected and found', () => {
    const problems = listProblems({
      version: 2,
      connection: { baseUrl: 'ftp://x.test', timeoutMs: '30s', proxy: {} },
      source: { path: '', format: 'doc', sheet: 0, delimiter: 'ab', media: { kind: 'hots' } },
      mapping: { text_data: { kind: 'column' }, 'user metadata': 3 },
      operation: { kind: 'task', api: 'v3', models: ['text', 1] },
      pace: { kind: 'open', ratePerSecond: 0, maxInFlight: 1.5 },
      callback: { port: 70_000 },
    })
    expect(problems).toEqual([
      'version: expected 1, found 2',
      'connection.baseUrl: expected an http or https address without user name, password, query and fragment, found "ftp://x.test"',
      'connection.timeoutMs: expected a whole number from 1 to 3600000, found "30s"',
      'connection.proxy.url: expected an http or https address without user name, password, query and fragment, found nothing',
      'source.path: expected text that is not empty, found ""',
      'source.format: expected one of "csv", "tsv", "xlsx", "jsonl", "openai-batch", "folder", found "doc"',
      'source.sheet: expected text or a whole number of at least 1, found 0',
      'source.delimiter: expected one character or "none", found "ab"',
      'source.media.kind: expected one of "template", "host", found "hots"',
      'mapping.text_data.column: expected text or a whole number of at least 1, found nothing',
      'mapping["user metadata"]: expected an object whose kind is one of "column", "template", found 3',
      'operation.api: expected one of "v1", "v2", found "v3"',
      'operation.models[1]: expected text, found 1',
      'callback.port: expected a whole number from 1 to 65535, found 70000',
      'pace.ratePerSecond: expected a number above 0, at most 1000000, found 0',
      'pace.maxInFlight: expected a whole number from 1 to 10000, found 1.5',
    ])
  })

  it('lists a problem once, however many rules a value breaks', () => {
    expect(listProblems({ ...SMALLEST, callback: { timeoutMs: 1e20 } })).toEqual([
      'callback.timeoutMs: expected a whole number from 1 to 604800000, found 100000000000000000000',
    ])
  })

  it.each([
    [{ ...SMALLEST, sorce: {} }, 'sorce: unknown key; did you mean source?'],
    [
      { ...SMALLEST, baseUrl: 'https://x.test' },
      'baseUrl: unknown key here; did you mean connection.baseUrl?',
    ],
    [
      { ...SMALLEST, operation: { kind: 'task', modles: [] } },
      'operation.modles: unknown key; did you mean models?',
    ],
    [
      { ...SMALLEST, operation: { kind: 'appeal-status', indexId: 'x' } },
      'operation.indexId: belongs to another kind; known here: kind',
    ],
    [
      { ...SMALLEST, mapping: { url: { kind: 'column', column: 1, colum: 2 } } },
      'mapping.url.colum: unknown key; did you mean column?',
    ],
    [
      {
        ...SMALLEST,
        load: { pace: { kind: 'stages', of: 'rate', stages: [{ from: 0, to: 1, durationMs: 1, fromm: 2 }] } },
      },
      'load.pace.stages[0].fromm: unknown key; did you mean from?',
    ],
    [
      {
        ...SMALLEST,
        load: {
          pace: { kind: 'closed', concurrency: 1 },
          requests: 1,
          thresholds: [{ expression: 'p(99)<500', abortOnFale: true }],
        },
      },
      'load.thresholds[0].abortOnFale: unknown key; did you mean abortOnFail?',
    ],
    [
      { ...SMALLEST, source: { path: 'x', zebra: 1 } },
      'source.zebra: unknown key; known here: path, more, format, header, headerRow, sheet, rows, merged, encoding, delimiter, quote, escape, media',
    ],
  ])('with an unknown key names the nearest: %j', (value, problem) => {
    expect(listProblems(value)).toEqual([problem])
  })

  it('has rules that state their own expectations', () => {
    const load = { pace: { kind: 'closed', concurrency: 1 } }
    expect(listProblems({ ...SMALLEST, load })).toEqual([
      'load.durationMs: expected either a duration or a number of requests',
    ])
  })

  it('contains no secret, and what may be one is not repeated', () => {
    const problems = listProblems({
      ...SMALLEST,
      connection: {
        baseUrl: 'https://me:hunter2@x.test',
        taskBaseUrl: 'https://x.test/?token=hunter2',
        apiKey: 'hunter2',
        apiKeyEnv: 'sk-hunter2',
      },
    })
    expect(problems).toHaveLength(4)
    expect(problems.join('\n')).not.toContain('hunter2')
    expect(problems.at(-1)).toMatch(/connection\.apiKey: unknown key; a plan carries no secret/)
  })

  it.each([[null], [3], ['plan'], [[]], [[SMALLEST]]])('that is %j is reported as not an object', (value) => {
    expect(listProblems(value)).toEqual([expect.stringMatching(/^expected an object, found /)])
  })
})

describe('parts of a plan that do not go together', () => {
  const find = (changes: Partial<Record<keyof PlanInput, unknown>>): string[] => {
    const plan: Plan = planSchema.parse({ ...SMALLEST, ...changes })
    return findConflicts(plan).map(({ path, message }) => `${path.join('.')}: ${message}`)
  }

  it('do not exist in an ordinary plan', () => {
    expect(find({ mapping: { 'user_metadata.age': { kind: 'column', column: 1 } } })).toEqual([])
    expect(
      find({
        operation: { kind: 'index-add', indexId: 'i' },
        mapping: { 'metadata.colour': { kind: 'template', template: 'red' } },
      }),
    ).toEqual([])
  })

  it('are fields that the operation does not have, with the nearest that it has', () => {
    const mapping = { text_date: { kind: 'column', column: 1 } }
    expect(find({ mapping })[0]).toMatch(
      /^mapping\.text_date: task has no field `text_date`; did you mean text_data\?/,
    )
    expect(find({ mapping, operation: { kind: 'watchlist-add', watchlist: 'w' } })[0]).toMatch(
      /watchlist-add has no field `text_date`\. Its fields: term, notes/,
    )
  })

  it('are the legacy response and v2', () => {
    expect(find({ operation: { kind: 'task', api: 'v2', legacy: true } })).toEqual([
      'operation.legacy: the legacy answer exists in v1 only',
    ])
  })

  it('are a header row and no header', () => {
    expect(find({ source: { path: 'x.csv', header: false, headerRow: 3 } })).toHaveLength(1)
  })

  it.each([
    'https://media.example.com/file',
    '{{path}}',
    'ftp://x.test/{{path}}',
    'https://a:b@x.test/{{path}}',
  ])('are files and the template %s, which gives them no addresses of their own', (template) => {
    expect(find({ source: { path: 'x', media: { kind: 'template', template } } })[0]).toMatch(
      /^source\.media\.template: expected an http or https address with \{\{path\}\} in it/,
    )
  })
})

it('says how many entries a list may have if it has too many', () => {
  const fixes = Array.from({ length: 10_001 }, (_, i) => ({ kind: 'leave_out_row', record: i + 1 }))
  expect(listProblems({ ...SMALLEST, fixes })).toEqual(['fixes: expected at most 10000 entries, found 10001'])
})
