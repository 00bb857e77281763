import { SQL_VIEWS } from '../../../../shared/lookback/sql-views.ts'
import { toStateName } from '../../../../shared/messages/state-name.ts'
import { isAsync, toRowsPerItem } from '../../../../shared/operations/operations.ts'
import { COUNTED_STATES } from '../../../../shared/run/item-state.ts'
import { readScoreClasses } from '../../journal/found-reader.ts'
import { selectSentItem } from '../../journal/item-rows.ts'
import type { RunFamily, RunView } from '../../journal/run-family.ts'
import { hasTraces } from '../../journal/traces.ts'
import { CUT_OFF_MESSAGE } from '../../run/journal/recovery.ts'

/** SQL function that reads a body compressed in a journal. */
export const INFLATE = 'sluice_inflate'

/** Most source columns that `rows` has after its own; SQLite allows 2,000 in all. */
const SOURCE_COLUMNS_MAX = 1_900

/** A run of a whole that shows rows, and the schema name of its attached journal. */
interface Part extends Attached {
  /** The older and the newer runs of its whole, as attached, oldest first. */
  earlier: Attached[]
  later: Attached[]
}

interface Attached {
  view: RunView
  schema: string
  /** Whether it is the named run or below it. */
  isMember: boolean
}

/**
 * The statements that create {@link SQL_VIEWS} over runs whose journals are attached as `toSchema` names
 * them. A row appears once, as the newest run of its whole that tried it has it. Only views whose names begin
 * with `inner` read the journals.
 */
export function createSqlViews(
  families: readonly RunFamily[],
  { toSchema, inner }: { toSchema: (file: string) => string; inner: string },
): string[] {
  const statements: string[] = []
  const selects: Record<keyof typeof SQL_VIEWS, string[]> = {
    rows: [],
    answers: [],
    scores: [],
    rules: [],
    tries: [],
  }
  const columns = toColumnNames(families)
  for (const [index, family] of families.entries()) {
    const run = quote(family.record.runId)
    for (const [age, part] of toParts(family, toSchema).entries()) {
      const shown = `${inner}shown_${index}_${age}`
      statements.push(`CREATE TEMP VIEW ${shown} AS ${selectShown(part)}`)
      const number = selectNumber(part.schema)
      const { schema } = part
      selects.rows.push(selectRows(part, { run, shown, number, columns }))
      selects.answers.push(`SELECT ${run}, ${number}, r.id, ${selectBody(part)}
        FROM ${shown} AS r WHERE ${hasBody(part)}`)
      // The number is looked up, so that statements without it read nothing but an index.
      const select = `SELECT ${run}, (SELECT ${number} FROM ${schema}.row AS r WHERE r.id = found.row), found.row`
      const from =
        part.earlier.length + part.later.length === 0
          ? `FROM ${schema}.found AS found`
          : `FROM ${shown} AS r JOIN ${schema}.found AS found ON found.row = r.id`
      selects.scores.push(...selectScores(part, select, from))
      selects.rules.push(`${select}, rule.rule_id, rule.rule_name
        ${from} JOIN ${schema}.term AS term ON term.kind = 'rules' AND term.id = found.rules
        JOIN json_each(term.value) AS own JOIN ${schema}.rule AS rule ON rule.id = own.value
        WHERE found.rules <> 0`)
      selects.tries.push(...selectTries(part, { run, number }))
    }
  }
  for (const [name, own] of Object.entries(SQL_VIEWS)) {
    const all = [...own, ...(name === 'rows' ? columns : [])].map(quoteName).join(', ')
    const body = selects[name as keyof typeof SQL_VIEWS].join('\nUNION ALL\n')
    statements.push(`CREATE TEMP VIEW ${inner}${name} (${all}) AS ${body}`)
    statements.push(`CREATE TEMP VIEW ${name} AS SELECT * FROM ${inner}${name}`)
  }
  return statements
}

function toParts(family: RunFamily, toSchema: (file: string) => string): Part[] {
  const members = new Set(family.members.map(({ record }) => record.runId))
  const runs = family.whole.map(
    (view): Attached => ({
      view,
      schema: toSchema(view.file),
      isMember: members.has(view.record.runId),
    }),
  )
  return runs.map((run, age) => ({ ...run, earlier: runs.slice(0, age), later: runs.slice(age + 1) }))
}

/** The column names of all sources, each once. */
function toColumnNames(families: readonly RunFamily[]): string[] {
  const names = new Map<string, string>()
  for (const name of families.flatMap(({ record }) => nameColumns(record.columns))) {
    if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name)
  }
  return [...names.values()].slice(0, SOURCE_COLUMNS_MAX)
}

/**
 * The names in `rows` of a source's columns, since SQLite ignores case in names: a name that `rows` itself
 * has becomes `NAME (source)`, as in exports, and a second `text` after `Text` becomes `text (2)`.
 */
function nameColumns(columns: readonly string[]): string[] {
  const own = new Set<string>(SQL_VIEWS.rows)
  const written = new Set(columns.map((column) => column.toLowerCase()))
  const used = new Set<string>()
  return columns.map((column) => {
    const isOwn = own.has(column.toLowerCase())
    let name = isOwn ? `${column} (source)` : column
    const isFree = () =>
      !used.has(name.toLowerCase()) && (name === column || !written.has(name.toLowerCase()))
    for (let number = 2; !isFree(); number += 1) name = `${column} (${number})`
    used.add(name.toLowerCase())
    return name
  })
}

/** The rows of a whole whose answer comes from one of its runs. */
function selectShown(part: Part): string {
  const { schema, view, earlier, later, isMember } = part
  const triedBy = (run: Attached) => `${countTries(run)} > 0`
  const hasRow = (run: Attached) => `EXISTS (SELECT 1 FROM ${run.schema}.row AS x WHERE x.id = r.id)`
  const members = later.filter((run) => run.isMember)
  const isShownTried = [
    triedBy({ view, schema, isMember }),
    ...later.map((run) => `NOT ${triedBy(run)}`),
    ...(isMember ? [] : [`(${members.map(hasRow).join(' OR ') || 'FALSE'})`]),
  ]
  const isShownUntried = [
    `NOT ${triedBy({ view, schema, isMember })}`,
    ...[...earlier, ...later].map((run) => `NOT ${triedBy(run)}`),
    ...members.map((run) => `NOT ${hasRow(run)}`),
  ]
  const conditions = [isShownTried, ...(isMember ? [isShownUntried] : [])]
  const where =
    earlier.length + later.length === 0
      ? 'TRUE'
      : conditions.map((all) => `(${all.join(' AND ')})`).join(' OR ')
  return `SELECT r.id, r.cells, r.item, r.kinds FROM ${schema}.row AS r WHERE ${where}`
}

/** How often a run tried the row `r`. */
function countTries({ schema, view }: Pick<Attached, 'schema' | 'view'>): string {
  const tried = `coalesce((SELECT x.attempts FROM ${schema}.result AS x WHERE x.row = r.id), 0)`
  if (!view.isCutOff) return tried
  return `(${tried} + coalesce((SELECT ${toStoredState({ view })} = 'sending' FROM ${schema}.row
    LEFT JOIN ${schema}.result ON result.row = row.id WHERE row.id = r.id), 0))`
}

/** The state of a row of `row` and `result`, as its journal means it. */
function toStoredState({ view }: Pick<Attached, 'view'>): string {
  return `coalesce(result.state, CASE WHEN row.item IS NULL THEN 'invalid'
    WHEN row.id <= ${Math.trunc(view.record.claimed)} THEN 'sending' ELSE 'pending' END)`
}

/** Whether the row `r` with its `result` was in flight when the process of a cut-off run died. */
function isLost(run: Pick<Attached, 'view'>): string {
  return `${toStoredState(run).replaceAll('row.', 'r.')} = 'sending'`
}

/** The same state, as people and scripts name it. */
function toNamedState(run: Pick<Attached, 'view'>): string {
  const stored = toStoredState(run)
  const named = COUNTED_STATES.map(({ state }) => `WHEN '${state}' THEN '${toStateName(state)}'`)
  // What a dead process had in flight is no longer being sent.
  const lost = run.view.isCutOff ? "WHEN 'sending' THEN 'unknown'" : ''
  return `CASE ${stored} ${lost} ${named.join(' ')} ELSE ${stored} END`
}

function selectRows(
  part: Part,
  names: { run: string; shown: string; number: string; columns: readonly string[] },
): string {
  const { schema, view, earlier, later } = part
  const { run, shown, number, columns } = names
  const lost = view.isCutOff ? isLost(part) : null
  const unlessLost = (column: string) =>
    lost === null ? `result.${column}` : `iif(${lost}, NULL, result.${column})`
  // A retry that has yet to send a row determines its state.
  const states = later
    .filter((one) => one.isMember)
    .toReversed()
    .map(
      (one) => `(SELECT ${toNamedState(one)} FROM ${one.schema}.row
        LEFT JOIN ${one.schema}.result ON result.row = row.id WHERE row.id = r.id)`,
    )
  const own = toNamedState(part).replaceAll('row.', 'r.')
  const problems = `(SELECT group_concat(coalesce(field || ': ', '') || code, '; ') FROM ${schema}.problem
    WHERE problem.row = r.id AND severity = 'error')`
  return `SELECT ${run}, ${number}, r.id,
    (SELECT name FROM ${schema}.source_file WHERE source_file.row <= r.id ORDER BY source_file.row DESC LIMIT 1),
    ${states.length === 0 ? own : `coalesce(${[...states, own].join(', ')})`},
    ${unlessLost('status')}, ${unlessLost('error_code')},
    CASE WHEN r.item IS NULL THEN coalesce(result.message, ${problems}) WHEN ${lost ?? 'FALSE'} THEN ${quote(CUT_OFF_MESSAGE)} ELSE result.message END,
    result.task_id, result.duration_us / 1000.0,
    ${[...earlier, part].map(countTries).join(' + ')},
    result.custom_index_item_id, result.answer, result.callback_us / 1000.0
    ${selectCells(view, columns)
      .map((cell) => `, ${cell}`)
      .join('')}
    FROM ${shown} AS r LEFT JOIN ${schema}.result AS result ON result.row = r.id`
}

/** The cell of each column; NULL if the run's source lacks the column, or the row the cell. */
function selectCells({ record }: RunView, columns: readonly string[]): string[] {
  const places = nameColumns(record.columns).map((name, at) => [name.toLowerCase(), at] as const)
  const placeOf = new Map(places)
  return columns.map((name) => {
    const at = placeOf.get(name.toLowerCase())
    return at === undefined ? 'NULL' : `json_extract(r.cells, '$[${at}]')`
  })
}

/** The number of a row as its spreadsheet shows it, with a letter for a half of a split record. */
function selectNumber(schema: string): string {
  const number = `coalesce((SELECT sheet_row + r.id - place.row FROM ${schema}.row_place AS place
    WHERE place.row <= r.id ORDER BY place.row DESC LIMIT 1), r.id)`
  return `CASE WHEN r.kinds || '#' LIKE '%#text#%' THEN ${number} || 'a' WHEN r.kinds LIKE '%#url%' THEN ${number} || 'b'
    ELSE ${number} END`
}

/** The answer that decided a row, unchanged; for async the callback. */
function selectBody({ schema, view }: Part): string {
  const answer = `(SELECT coalesce(response, ${INFLATE}(content)) FROM ${schema}.result AS x
    LEFT JOIN ${schema}.long_answer ON long_answer.id = x.row WHERE x.row = r.item)`
  if (!isAlone(view)) {
    // A retry may have sent some rows of the item without the others.
    const ofTry = `(SELECT coalesce(response, ${INFLATE}(content)) FROM ${schema}.try_answer AS x
      WHERE x.item = r.item AND x.number = ${selectTried(schema, 'r.id')})`
    return `coalesce(iif(${selectTried(schema, 'r.id')} = ${selectTried(schema, 'r.item')}, ${answer}, NULL), ${ofTry})`
  }
  if (!isAsync(view.record.plan.operation)) return answer
  return `coalesce((SELECT iif(content IS NULL, body, ${INFLATE}(content)) FROM ${schema}.callback
    LEFT JOIN ${schema}.long_callback ON long_callback.id = callback.id
    WHERE callback.item = r.item AND effect = 'settled' ORDER BY callback.id LIMIT 1), ${answer})`
}

/** Whether a request of a run carries one row. */
function isAlone({ record }: RunView): boolean {
  return toRowsPerItem(record.plan.operation) === 1
}

/** Condition on a shared item's tries: those of the row, without tries in which a retry sent only others. */
function selectOwnTries({ schema, view }: Pick<Attached, 'schema' | 'view'>, tried: string): string {
  return isAlone(view) ? '' : ` AND ${tried}.number <= ${selectTried(schema, 'r.id')}`
}

function selectTried(schema: string, id: string): string {
  return `(SELECT y.attempts FROM ${schema}.result AS y WHERE y.row = ${id})`
}

function hasBody(part: Part): string {
  const { schema, view } = part
  if (!isAlone(view)) return `(${selectBody(part)}) IS NOT NULL`
  const hasAnswer = `EXISTS (SELECT 1 FROM ${schema}.result AS x WHERE x.row = r.item AND (x.response IS NOT NULL
    OR EXISTS (SELECT 1 FROM ${schema}.long_answer WHERE long_answer.id = x.row)))`
  if (!isAsync(view.record.plan.operation)) return hasAnswer
  return `(${hasAnswer} OR EXISTS (SELECT 1 FROM ${schema}.callback WHERE callback.item = r.item AND effect = 'settled'))`
}

/** The scores with a column of their own, and those of further classes. */
function selectScores({ view }: Part, select: string, from: string): string[] {
  const classes = readScoreClasses(view.db)
  const further = `${select}, pair.value ->> 0, pair.value ->> 1
    ${from} JOIN json_each(found.further_scores) AS pair WHERE found.further_scores IS NOT NULL`
  if (classes.length === 0) return [further]
  const names = classes.map(({ className }, index) => `(${index}, ${quote(className)})`).join(', ')
  const score = `CASE class.column1 ${classes
    .map(({ column }, index) => `WHEN ${index} THEN found.${column}`)
    .join(' ')} END`
  const own = `${select}, class.column2, ${score} ${from} CROSS JOIN (VALUES ${names}) AS class WHERE ${score} IS NOT NULL`
  return [own, further]
}

/** Every try of the rows of a whole; a correction may have made a sent row invalid. */
function selectTries(part: Part, { run, number }: { run: string; number: string }): string[] {
  const { schema, view, earlier, later, isMember } = part
  const before = earlier.map(
    (
      one,
    ) => ` + (SELECT count(*) FROM ${one.schema}.row AS x JOIN ${one.schema}.attempt AS y ON y.item = ${selectSentItem('x', one.schema)}
      WHERE x.id = r.id${selectOwnTries(one, 'y')})`,
  )
  // Between the version and the id of the span.
  const traceId = hasTraces(view.db) ? 'substr(tried.traceparent, 4, 32)' : 'NULL'
  const members = later.filter((one) => one.isMember)
  const isOfMembers = isMember
    ? 'TRUE'
    : members.map((one) => `EXISTS (SELECT 1 FROM ${one.schema}.row AS x WHERE x.id = r.id)`).join(' OR ') ||
      'FALSE'
  const recorded = `SELECT ${run}, ${number}, r.id, tried.number${before.join('')}, ${quote(view.record.runId)},
    strftime('%Y-%m-%dT%H:%M:%S', tried.sent_at_us / 1000000, 'unixepoch')
      || printf('.%03dZ', tried.sent_at_us / 1000 % 1000), tried.outcome, tried.status,
    tried.error_code, tried.message, tried.duration_us / 1000.0, ${traceId}
    FROM ${schema}.row AS r JOIN ${schema}.attempt AS tried ON tried.item = ${selectSentItem('r', schema)}
    WHERE (${isOfMembers})${selectOwnTries(part, 'tried')}`
  if (!view.isCutOff) return [recorded]
  const last = `max(coalesce(result.attempts, 0), coalesce((SELECT max(x.number) FROM ${schema}.attempt AS x
    WHERE x.item = r.item), 0))`
  const lost = `SELECT ${run}, ${number}, r.id, ${last} + 1${before.join('')}, ${quote(view.record.runId)}, NULL,
    'unknown', NULL, NULL, ${quote(CUT_OFF_MESSAGE)}, NULL, NULL
    FROM ${schema}.row AS r LEFT JOIN ${schema}.result AS result ON result.row = r.id
    WHERE (${isOfMembers}) AND ${isLost(part)}`
  return [recorded, lost]
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** A name as SQLite takes it in a statement. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
