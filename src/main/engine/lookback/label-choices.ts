import { CHOICE_VALUES_MAX, guessLabels, type LabelChoices } from '../../../shared/lookback/label-choices.ts'
import { toColumnIndex } from '../../../shared/mapping/match-columns.ts'
import { findPlaceholder, parseTemplate } from '../../../shared/mapping/templates.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { betweenRows, visitScores } from '../journal/found-reader.ts'
import type { RunFamily, RunView } from '../journal/run-family.ts'
import { parseCells } from '../journal/stored-cells.ts'
import { resolveMapping } from '../mapping/row-mapper.ts'
import { hasSeveralFiles } from '../run/journal/intake-writer.ts'
import { readVerdicts } from '../run/journal/verdict-store.ts'
import { countRowsRead, readFamilyCounts, readRuleNames } from '../run/results/family-counts.ts'
import { readNumber } from '../workspace/sqlite.ts'

/** Rows are read in stretches spread over the run, since rows of one kind are often adjacent. */
const STRETCHES = 20
const STRETCH_ROWS = 250

/** Longest value of a label, in UTF-16 code units. */
const VALUE_MAX = 100

const COLUMNS_MAX = 500

/** Fields whose columns hold what people wrote; their values are not shown. */
const CONTENT = new Set(['text_data', 'url', 'media', 'request'])

/**
 * What the columns of a run contain, from {@link STRETCHES} stretches of its rows, and which one seems to
 * hold labels. Throws `BAD_USAGE` if the run has no rules to evaluate.
 */
export function readLabelChoices(family: RunFamily): LabelChoices {
  const { record, db } = family
  const { plan, columns: names, runId } = record
  if (plan.operation.kind !== 'task' || plan.load !== undefined) {
    throw new SluiceError({ id: 'evaluation_not_of_tasks', runId })
  }
  const content = listFillers(family, (field) => CONTENT.has(field))
  // A column that fills a key of a metadata object may hold labels, too.
  const fields = listFillers(family, (field) => !field.includes('.'))
  const counts = names
    .slice(0, COLUMNS_MAX)
    .map((_, column) => (content.has(column) ? null : new Map<string, number>()))
  const last = readNumber(db, 'SELECT max(id) FROM row')
  const read = db.prepare('SELECT cells FROM row WHERE id > ? AND id <= ? ORDER BY id')
  const classes = new Set<string>()
  let looked = 0
  for (const [above, upTo] of listStretches(last)) {
    for (const member of family.members) addClasses(member, [above, upTo], classes)
    for (const { cells } of read.all(above, upTo)) {
      looked += 1
      const values = parseCells(String(cells))
      for (const [column, value] of values.entries()) {
        const counted = counts[column]
        if (counted === null || counted === undefined) continue
        if (value.length > VALUE_MAX) counts[column] = null
        else if (value !== '') counted.set(value, (counted.get(value) ?? 0) + 1)
        if (counted.size > CHOICE_VALUES_MAX) counts[column] = null
      }
    }
  }
  const columns = names.map((name, column) => ({
    name,
    values: [...(counts[column] ?? [])]
      .map(([value, rows]) => ({ value, rows }))
      .sort((a, b) => b.rows - a.rows || (a.value < b.value ? -1 : 1)),
  }))
  const rules = countRules(family)
  const verdicts = readVerdicts(family)
  return {
    columns,
    hasFiles: hasSeveralFiles(db),
    rules,
    classes: [...classes].sort(),
    verdicts: verdicts.length,
    judged: new Set(verdicts.map(({ row }) => row)).size,
    looked,
    rows: countRowsRead(family),
    guess: guessLabels(
      columns.filter(({ values }, column) => !fields.has(column) && isRepeated(values)),
      rules.map(({ rule }) => rule),
    ),
  }
}

function addClasses({ db }: RunView, stretch: Stretch, classes: Set<string>): void {
  visitScores(db, betweenRows(stretch), (_row, className) => classes.add(className))
}

/** Whether any value occurs in several rows, as labels do and ids do not. */
function isRepeated(values: readonly { rows: number }[]): boolean {
  const rows = values.reduce((sum, value) => sum + value.rows, 0)
  return rows > values.length
}

type Stretch = readonly [above: number, upTo: number]

function* listStretches(last: number): Generator<Stretch> {
  if (last <= STRETCHES * STRETCH_ROWS) return yield [0, last]
  for (let stretch = 0; stretch < STRETCHES; stretch += 1) {
    const above = Math.floor((stretch * (last - STRETCH_ROWS)) / (STRETCHES - 1))
    yield [above, above + STRETCH_ROWS]
  }
}

/** Columns that fill certain fields. */
function listFillers(
  { record: { plan, columns } }: RunFamily,
  isMeant: (field: string) => boolean,
): Set<number> {
  const fillers = new Set<number>()
  for (const [field, source] of Object.entries(resolveMapping(plan, columns))) {
    if (!isMeant(field)) continue
    if (source.kind === 'column') fillers.add(toColumnIndex(columns, source))
    else {
      for (const part of parseTemplate(source.template)) {
        const meaning = part.kind === 'text' ? null : findPlaceholder(part.name, columns)
        if (meaning?.kind === 'column') fillers.add(meaning.index)
      }
    }
  }
  return fillers
}

function countRules(family: RunFamily): LabelChoices['rules'] {
  const counts = readFamilyCounts(family).get('rule') ?? new Map<string, number>()
  const byName = new Map<string, number>()
  for (const [ruleId, name] of readRuleNames(family.members)) {
    byName.set(name, (byName.get(name) ?? 0) + (counts.get(ruleId) ?? 0))
  }
  return [...byName]
    .map(([rule, rows]) => ({ rule, rows }))
    .sort((a, b) => b.rows - a.rows || (a.rule < b.rule ? -1 : 1))
}
