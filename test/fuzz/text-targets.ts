import { InvalidArgumentError } from 'commander'
import fc from 'fast-check'
import { collectMapping, collectTemplate, toMapping } from '../../src/main/cli/options/source-options.ts'
import { escapeForTerminal, toPrintable } from '../../src/main/cli/terminal/output.ts'
import { createRowMapper, resolveMapping } from '../../src/main/engine/mapping/row-mapper.ts'
import { createRowValidator } from '../../src/main/engine/mapping/validate-row.ts'
import { parseThreshold } from '../../src/shared/load/threshold-parser.ts'
import { formatThreshold } from '../../src/shared/load/thresholds.ts'
import { compileTemplate, parseTemplate } from '../../src/shared/mapping/templates.ts'
import { SluiceError } from '../../src/shared/messages/errors.ts'
import { parsePlanFile } from '../../src/shared/plan/file/parse-plan-file.ts'
import { type Plan, type PlanInput, planSchema } from '../../src/shared/plan/plan.ts'
import { addFormulaGuard, removeFormulaGuard } from '../../src/shared/run/formula-guard.ts'
import { awkwardText, createTarget, expectSame, expectTrue, type FuzzTarget } from './fuzz-target.ts'

const BASE_PLAN = {
  version: 1,
  connection: { baseUrl: 'http://127.0.0.1:1', apiKeyEnv: 'SLUICE_API_KEY' },
  source: { path: 'rows.csv', header: true },
  operation: { kind: 'task', mode: 'sync', api: 'v1' },
  mapping: {
    text_data: { kind: 'column', column: 'text' },
    user_id: { kind: 'template', template: 'u{{row}}' },
  },
  pace: { maxInFlight: 4 },
}

const PLAN_KEYS = [
  ...[
    'version',
    'connection',
    'source',
    'operation',
    'mapping',
    'pace',
    'load',
    'thresholds',
    'baseUrl',
    'path',
  ],
  ...[
    'kind',
    'mode',
    'api',
    'maxInFlight',
    'retries',
    'timeoutMs',
    'header',
    'column',
    'template',
    'indexId',
    'tls',
  ],
  ...['__proto__', 'constructor', 'unknownKey'],
]

const planValue = fc.oneof(
  awkwardText,
  fc.constantFrom(
    null,
    true,
    0,
    -1,
    1.5,
    1e21,
    'task',
    'async',
    'v2',
    'index-add',
    'http://x',
    'column',
    'p(99)<500',
  ),
  fc.jsonValue({ maxDepth: 2 }),
)

/** A valid plan changed at random places. */
const plan = fc
  .array(fc.tuple(fc.array(fc.constantFrom(...PLAN_KEYS), { minLength: 1, maxLength: 3 }), planValue), {
    maxLength: 3,
  })
  .map((changes) => {
    const document: unknown = structuredClone(BASE_PLAN)
    for (const [path, value] of changes) change(document, path, value)
    return document
  })

function change(document: unknown, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path
  if (typeof document !== 'object' || document === null || key === undefined) return
  if (rest.length > 0 && Object.hasOwn(document, key)) change(Reflect.get(document, key), rest, value)
  else Object.defineProperty(document, key, { value, enumerable: true, configurable: true, writable: true })
}

const PLANS = createTarget(
  'plans: what is taken is taken again as it was',
  3,
  fc.oneof(plan, fc.jsonValue()),
  (value) => {
    const parsed = parsePlanFile(value)
    if (parsed.kind === 'problems') {
      expectTrue(parsed.problems.length > 0, 'refused without a problem')
      expectTrue(
        parsed.problems.every((problem) => problem.message.length < 2_000),
        'an endless message',
      )
      return
    }
    const again = parsePlanFile(JSON.parse(JSON.stringify(parsed.plan)))
    expectSame(again.kind === 'plan' ? again.plan : again, parsed.plan, 'read again')
  },
)

const assignment = fc.record({
  field: fc.oneof(
    fc.constantFrom('text_data', 'user_id', 'post_id', 'constructor', '__proto__', 'toString'),
    awkwardText,
  ),
  value: fc.oneof(fc.constantFrom('1', '0', '16384', '16385', '007', 'text', '{{row}}'), awkwardText),
  isTemplate: fc.boolean(),
})

const ASSIGNMENTS = createTarget(
  'mappings: each field of the command line is filled once, as given',
  10,
  fc.array(assignment, { maxLength: 4 }),
  (assignments) => {
    try {
      let collected: ReturnType<typeof collectMapping> = []
      for (const { field, value, isTemplate } of assignments) {
        collected = (isTemplate ? collectTemplate : collectMapping)(`${field}=${value}`, collected)
      }
      expectSame(collected.length, assignments.length, 'assignments')
      const names = collected.map(({ field }) => field)
      const mapping = toMapping(collected)
      expectSame(Object.keys(mapping).toSorted(), names.toSorted(), 'fields')
      expectTrue(new Set(names).size === names.length, 'a field was filled twice')
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error
      const names = assignments.map(({ field }) => field.trim())
      if (/filled twice/.test(error.message) && names.every((name) => !name.includes('='))) {
        expectTrue(new Set(names).size < names.length, `says twice of ${JSON.stringify(names)}`)
      }
    }
  },
)

const OPERATIONS: PlanInput['operation'][] = [
  { kind: 'task' },
  { kind: 'task', mode: 'async' },
  { kind: 'task', api: 'v2' },
  { kind: 'index-add', indexId: 'i' },
  { kind: 'index-remove', indexId: 'i' },
  { kind: 'watchlist-add', watchlist: 'w' },
  { kind: 'watchlist-update', watchlist: 'w', emptyNotes: 'clear' },
  { kind: 'appeal-status' },
]

const COLUMNS = [
  ...[
    'text_data',
    'url',
    'user_id',
    'post_id',
    'models',
    'content_metadata',
    'user_metadata.age',
    'callback_url',
  ],
  ...['custom_index_item_id', 'term', 'notes', 'appeal_id', 'metadata.k', 'media', 'request', 'constructor'],
]

const cell = fc.oneof(
  awkwardText,
  fc.constantFrom(
    '{}',
    '{"a":1}',
    '[]',
    'text',
    '["text"]',
    'https://x.test/a.png',
    'null',
    '{"__proto__":{"x":1}}',
    '',
  ),
)

const MAPPINGS = createTarget(
  'mappings: every row becomes one body, with its cells in it',
  10,
  fc.record({
    operation: fc.constantFrom(...OPERATIONS),
    columns: fc.uniqueArray(fc.constantFrom(...COLUMNS), { minLength: 1, maxLength: 8 }),
    rows: fc.array(fc.array(cell, { maxLength: 9 }), { minLength: 1, maxLength: 3 }),
  }),
  ({ operation, columns, rows }) => {
    let resolved: Plan
    const input = planSchema.parse({
      connection: { baseUrl: 'http://127.0.0.1:1' },
      source: { path: '/s.csv' },
      operation,
    })
    try {
      resolved = { ...input, mapping: resolveMapping(input, columns) }
    } catch (error) {
      if (error instanceof SluiceError) return
      throw error
    }
    const map = createRowMapper(resolved, columns, 'run')
    const validate = createRowValidator(resolved)
    for (const [index, cells] of rows.entries()) {
      const mapped = map(index + 1, cells)
      expectSame(map(index + 1, cells), mapped, 'the same row again')
      for (const problem of [...mapped.problems, ...validate(index + 1, mapped.body)]) {
        expectSame(problem.row, index + 1, 'row of a problem')
      }
      for (const field of ['text_data', 'user_id', 'term', 'appeal_id', 'custom_index_item_id']) {
        const value = mapped.body[field]
        if (
          columns.includes(field) &&
          typeof value === 'string' &&
          value !== '' &&
          resolved.mapping['request'] === undefined
        ) {
          expectSame(value, cells[columns.indexOf(field)] ?? '', field)
        }
      }
      expectTrue(Object.getPrototypeOf({}) === Object.prototype && !('x' in {}), 'a prototype was changed')
    }
  },
)

const piece = awkwardText.map((text) => text.replace(/[{}]/g, '')).filter((text) => text !== '')
const template = fc.array(
  fc.oneof(
    piece.map((text) => ({ text })),
    piece.map((name) => ({ name })),
  ),
  { maxLength: 6 },
)

const TEMPLATES = [
  createTarget('templates: parts come back as they were written', 8, template, (parts) => {
    const joined = parts.flatMap((part, at) => {
      const before = parts[at - 1]
      return 'text' in part && before !== undefined && 'text' in before ? [] : [part]
    })
    const text = joined.map((part) => ('text' in part ? part.text : `{{${part.name}}}`)).join('')
    const expected = joined.map((part) =>
      'text' in part ? { kind: 'text', text: part.text } : { kind: 'placeholder', name: part.name },
    )
    expectSame(parseTemplate(text), expected, JSON.stringify(text))
    const names = joined.flatMap((part) => ('name' in part ? [part.name] : []))
    const columns = [...new Set(names)].filter((name) => !['row', 'run'].includes(name.trim()))
    const cells = columns.map((_, at) => `<${at}>`)
    const filled = joined.map((part) => {
      if ('text' in part) return part.text
      if (part.name.trim() === 'row') return '7'
      return part.name.trim() === 'run' ? 'r' : `<${columns.indexOf(part.name)}>`
    })
    expectSame(compileTemplate(text, columns, 'r')(7, cells), filled.join(''), 'filled')
  }),
  createTarget(
    'templates: no text is lost, whatever the braces',
    6,
    fc.array(fc.constantFrom('{', '}', '{{', '}}', 'a', ' ', '\n', 'row'), { maxLength: 12 }),
    (parts) => {
      const text = parts.join('')
      const printed = parseTemplate(text).map((part) =>
        part.kind === 'text' ? part.text : `{{${part.name}}}`,
      )
      expectSame(printed.join(''), text, 'printed')
    },
  ),
]

const thresholdText = fc.oneof(
  awkwardText,
  fc
    .tuple(
      fc.constantFrom(
        '',
        'http_req_duration:',
        'http_req_failed:',
        'http_req_waiting:',
        'dropped',
        'http_reqs:',
        'x:',
      ),
      fc.constantFrom('p(99)', 'p(99.9)', 'p(101)', 'avg', 'min', 'med', 'max', 'rate', 'count', 'value', ''),
      fc.constantFrom('<', '<=', '>', '>=', '==', '===', '!=', '=', '<<'),
      fc.oneof(
        fc.double({ noNaN: true }).map(String),
        fc.constantFrom('500', '0.01', '1e3', '1_000', '.5', '-1', ''),
      ),
      fc.constantFrom(
        '',
        ' abortOnFail',
        ' abortOnFail delayAbortEval=10s',
        ', abortOnFail',
        ' delayAbortEval=1s',
        ' x',
      ),
    )
    .map((parts) => parts.join('')),
)

const THRESHOLDS = createTarget(
  'thresholds: what is printed is read as it was',
  14,
  thresholdText,
  (text) => {
    const parsed = parseThreshold(text)
    if (!parsed.ok) return expectTrue(JSON.stringify(parsed.mistake).length > 2, 'refused without a reason')
    const printed = formatThreshold(parsed)
    const again = parseThreshold(printed)
    if (!again.ok) throw new Error(`${printed} is not read again`)
    expectSame(again.parsed, parsed.parsed, printed)
    expectSame(
      [again.abortOnFail, again.delayAbortEvalMs],
      [parsed.abortOnFail, parsed.abortOnFail ? parsed.delayAbortEvalMs : 0],
      printed,
    )
  },
)

const GUARDS = [
  createTarget(
    'exports: the formula guard comes off, and nothing it guards is a formula',
    10,
    awkwardText,
    (text) => {
      const guarded = addFormulaGuard(text)
      expectSame(removeFormulaGuard(guarded, 'current'), text, 'unguarded')
      expectTrue(
        guarded === text || guarded === `'${text}`,
        `more than an apostrophe in front: ${JSON.stringify(guarded)}`,
      )
      expectTrue(
        !/^[\s\p{Cf}\p{Cc}]*[=@＝＋－＠].|^[+-](?!\d|[.,]\d)./su.test(guarded),
        `a formula in ${JSON.stringify(guarded)}`,
      )
    },
  ),
  createTarget(
    'terminal: nothing shown can drive it, and JSON stays the same JSON',
    8,
    fc.jsonValue({ maxDepth: 2, stringUnit: 'binary' }),
    (value) => {
      const json = JSON.stringify(value)
      const shown = escapeForTerminal(json)
      expectTrue(!/[\p{Cc}\p{Cf}\p{Cs}\u{e0000}-\u{e007f}]/u.test(shown), 'a control character')
      expectSame(JSON.parse(shown), value, 'the document')
      expectTrue(!/[\p{Cc}\p{Cf}\p{Cs}\u{e0000}-\u{e007f}]/u.test(toPrintable(json)), 'a control character')
    },
  ),
]

/** Targets for text that people and other programs write by hand. */
export const TEXT_TARGETS: readonly FuzzTarget[] = [
  PLANS,
  ASSIGNMENTS,
  MAPPINGS,
  ...TEMPLATES,
  THRESHOLDS,
  ...GUARDS,
]
