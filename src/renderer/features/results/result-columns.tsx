import type { PageRow } from '../../../shared/bridge/results.ts'
import type { RowVerdict } from '../../../shared/lookback/verdict.ts'
import { formatCount, formatCounted, formatMs } from '../../../shared/messages/figure-text.ts'
import { nameCode } from '../../../shared/messages/name-code.ts'
import { subjectOf } from '../../../shared/operations/operations.ts'
import { toRowNumber } from '../../../shared/plan/source-place.ts'
import { type ColumnEntry, SOURCE } from '../../../shared/run/choose-columns.ts'
import type { ShownColumn } from '../../../shared/run/result-view.ts'
import type { RowSort } from '../../../shared/run/results.ts'
import {
  type ContentRule,
  hideFound,
  MASK_REM,
  MaskedText,
  toMaskedEm,
} from '../../ui/content/user-content.tsx'
import { toTextEm, toWordEm } from '../../ui/grid/cell-width.ts'
import type { GridColumn } from '../../ui/grid/data-grid.tsx'
import { AnswerLabel, RowNumber, StateLabel, toStateLook } from '../../ui/states/row-states.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { VerdictMark } from '../../ui/verdicts/verdicts.tsx'
import styles from './results.module.css'
import { type ScoreScale, ScoreStrip, toStripEm } from './score-bars.tsx'

const SCORES = 'scores'

/** The column with people's verdicts on a row. */
const VERDICT = 'verdict'

/** Source columns in the default table; a row's details show all. */
const SOURCE_COLUMNS_SHOWN = 12

/** The look of a column with more than text. */
interface Look {
  /** If it differs from the list of columns. */
  title?: string
  rem: number
  align?: 'end'
  sortBy?: RowSort['by']
  cell: (row: PageRow, drawn: Drawn) => React.ReactNode
  /** Greatest width of the cell in em, if known. */
  em?: (row: PageRow, drawn: Drawn) => number
}

/** What cells are drawn from, besides the row. */
interface Drawn {
  scale: ScoreScale
  verdictsOf: (row: number) => readonly RowVerdict[]
  isRevealed: (row: number) => boolean
}

const LOOKS: Record<string, Look> = {
  sluice_row: {
    rem: 4.75,
    align: 'end',
    sortBy: { kind: 'row' },
    cell: (row) => <RowNumber record={row.row} place={row.place} isFileApart />,
    em: (row) => toWordEm(String(toRowNumber(row.place))),
  },
  sluice_state: {
    rem: 7,
    cell: (row) => <StateLabel state={row.state} attempts={row.attempts} />,
    em: (row) => toWordEm(toStateLook(row).word) + STATE_ICON_EM,
  },
  sluice_triggered_rules: {
    rem: 12,
    cell: (row) => <RuleNames rules={row.triggeredRules} />,
    em: (row) => (row.triggeredRules.length === 0 ? 0 : Number.POSITIVE_INFINITY),
  },
  [SCORES]: {
    title: 'Scores',
    rem: 11,
    cell: (row, { scale }) => <ScoreStrip scores={row.classScores} scale={scale} />,
    em: (row, { scale }) => (row.classScores.length === 0 ? 0 : toStripEm(scale)),
  },
  [VERDICT]: {
    rem: 13,
    cell: (row, { verdictsOf }) => <VerdictMark verdicts={verdictsOf(row.row)} />,
    em: (row, { verdictsOf }) => (verdictsOf(row.row).length === 0 ? 0 : Number.POSITIVE_INFINITY),
  },
  sluice_custom_index_item_id: {
    rem: 18,
    cell: (row) =>
      row.customIndexItemId !== null && <SafeText text={row.customIndexItemId} max={60} isCell />,
  },
  sluice_term_outcome: { rem: 9, cell: drawAnswer },
  sluice_appeal_status: { rem: 9, cell: drawAnswer },
  sluice_status: {
    title: 'Answer',
    rem: 12.25,
    cell: (row, { isRevealed }) => {
      const reason = toReason(row, isRevealed(row.row))
      if (reason === '') return row.status
      return (
        <>
          {row.status} <SafeText text={reason} max={60} isCell />
        </>
      )
    },
    em: (row, { isRevealed }) => toTextEm(`${row.status ?? ''} ${toReason(row, isRevealed(row.row))}`),
  },
  sluice_duration_ms: {
    rem: 5.25,
    align: 'end',
    sortBy: { kind: 'latency' },
    cell: (row) => toMsText(row.durationMs),
    em: (row) => toWordEm(toMsText(row.durationMs)),
  },
  sluice_callback_latency_ms: {
    title: 'Callback',
    rem: 6,
    align: 'end',
    sortBy: { kind: 'callback-latency' },
    cell: (row) => toMsText(row.callbackLatencyMs),
    em: (row) => toWordEm(toMsText(row.callbackLatencyMs)),
  },
  sluice_attempts: {
    rem: 3.75,
    align: 'end',
    sortBy: { kind: 'attempts' },
    cell: (row) => (row.attempts === 0 ? '' : row.attempts),
    em: (row) => toWordEm(String(row.attempts)),
  },
}

/** Names of rules shown in a cell; the rest is counted. */
const RULES_SHOWN = 2

function RuleNames({ rules }: { rules: PageRow['triggeredRules'] }) {
  const further = rules.length - RULES_SHOWN
  if (rules.length === 0) return null
  return (
    <span className={`row ${styles.rules}`}>
      {rules.slice(0, RULES_SHOWN).map((rule) => (
        <span key={rule.ruleId} className={`max-w-full text-xs overflow-hidden ellipsis ${styles.rule}`}>
          <SafeText text={rule.ruleName} max={40} isCell />
        </span>
      ))}
      {further > 0 && (
        <span className="quiet" title={formatCounted(rules.length, 'rule')}>
          +{formatCount(further)}
        </span>
      )}
    </span>
  )
}

const STATE_ICON_EM = 1.45

/** Why a row was refused, or has no answer. */
function toReason({ errorCode, status, state, message }: PageRow, isRevealed: boolean): string {
  if (errorCode !== null) return nameCode(errorCode)
  if (status !== null || message === null) return ''
  return state === 'invalid' && !isRevealed ? hideFound(message) : message
}

function toMsText(ms: number | null): string {
  return ms === null ? '' : formatMs(ms)
}

function drawAnswer(row: PageRow) {
  return row.answer !== null && <AnswerLabel answer={row.answer} />
}

export function toColumnTitle(entry: ColumnEntry): string {
  return LOOKS[entry.name]?.title ?? (entry.title === '' ? entry.name : entry.title)
}

/** Every column: those of the run, the drawn scores, and each source column, even if names repeat. */
export function listTableColumns(options: {
  entries: readonly ColumnEntry[]
  names: readonly string[]
  classes: readonly string[]
  hasVerdicts: boolean
}): ColumnEntry[] {
  const { entries, names, classes } = options
  const verdict = { name: VERDICT, title: 'Verdict', group: 'row' as const, hasContent: false }
  const scores = classes.map((name) => ({
    name: `score.${name}`,
    title: name,
    group: 'scores' as const,
    hasContent: false,
  }))
  const source = toSourceNames(names).map((name, index) => ({
    name,
    title: names[index] || `Column ${index + 1}`,
    group: 'source' as const,
    hasContent: false,
  }))
  const strip = { name: SCORES, title: 'Scores', group: 'scores' as const, hasContent: false }
  return [
    ...entries.filter(({ group }) => group === 'row'),
    ...(options.hasVerdicts ? [verdict] : []),
    ...source,
    ...(scores.length === 0 ? [] : [strip, ...scores]),
    ...entries.filter(({ group }) => group !== 'row' && group !== 'source' && group !== 'scores'),
  ]
}

/** A name for each source column, as in an export; repeated names are numbered. */
function toSourceNames(names: readonly string[]): string[] {
  const seen = new Map<string, number>()
  return names.map((name) => {
    const number = (seen.get(name) ?? 0) + 1
    seen.set(name, number)
    return SOURCE + name + (number === 1 ? '' : ` (${number})`)
  })
}

/** The default columns: the row's outcome, its content, the answer, then its other cells. */
export function toUsualColumns(options: {
  operation: string
  isAsync: boolean
  names: readonly string[]
  /** Indexes of the source columns in display order. */
  order: readonly number[]
  hasScores: boolean
  hasVerdicts: boolean
  /** Whether the source has several files (default: false). */
  hasFiles?: boolean
}): ShownColumn[] {
  const sourceNames = toSourceNames(options.names)
  const [first, ...others] = options.order
    .slice(0, SOURCE_COLUMNS_SHOWN)
    .flatMap((index) => sourceNames[index] ?? [])
  return [
    'sluice_row',
    ...(options.hasFiles ? ['sluice_file'] : []),
    ...['sluice_state', subjectOf(options.operation).column],
    ...(options.hasVerdicts ? [VERDICT] : []),
    ...(options.hasScores ? [SCORES] : []),
    ...(first === undefined ? [] : [first]),
    ...['sluice_status', 'sluice_duration_ms'],
    ...(options.isAsync ? ['sluice_callback_latency_ms'] : []),
    'sluice_attempts',
    ...others,
  ].map((name) => ({ name }))
}

/** The columns whose texts a page must include: all that are neither drawn nor source cells. */
export function listTextColumns(shown: readonly ShownColumn[], entries: readonly ColumnEntry[]): string[] {
  const known = new Set(entries.map(({ name }) => name))
  return shown
    .map(({ name }) => name)
    .filter((name) => !Object.hasOwn(LOOKS, name) && !name.startsWith(SOURCE))
    .filter((name) => known.has(name) || /^(answer|score)\../.test(name))
}

/** The chosen columns of the results table, content masked until revealed, without those the run lacks. */
export function createResultColumns(options: {
  shown: readonly ShownColumn[]
  entries: readonly ColumnEntry[]
  rowRem: number
  names: readonly string[]
  scale: ScoreScale
  isContent: ContentRule
  isRevealed: (row: number) => boolean
  verdictsOf: (row: number) => readonly RowVerdict[]
}): GridColumn<PageRow>[] {
  const { shown, entries, scale, verdictsOf } = options
  const entryOf = new Map(entries.map((entry) => [entry.name, entry]))
  const sourceNames = toSourceNames(options.names)
  const texts = listTextColumns(shown, entries)
  const growing = shown.find(({ name }) => name.startsWith(SOURCE))?.name
  return shown.flatMap(({ name, rem }): GridColumn<PageRow>[] => {
    const entry = entryOf.get(name)
    const base = { id: name, ...(rem === undefined ? {} : { rem }) }
    const look = LOOKS[name]
    if (look !== undefined) {
      if (entry === undefined) return []
      const { cell, em, sortBy, align } = look
      const drawn = { scale, verdictsOf, isRevealed: options.isRevealed }
      const usualRem = name === 'sluice_row' ? options.rowRem : look.rem
      return [
        {
          rem: usualRem,
          title: toColumnTitle(entry),
          isSortable: sortBy !== undefined,
          ...base,
          ...(align === undefined ? {} : { align }),
          cell: (row) => cell(row, drawn),
          em: em && ((row) => em(row, drawn)),
        },
      ]
    }
    const index = sourceNames.indexOf(name)
    if (index >= 0) {
      const isGrowing = name === growing && rem === undefined
      const read = (row: PageRow) => {
        const text = row.cells[index] ?? ''
        const length = row.cellLengths[index] ?? text.length
        const revealed = !options.isContent(index, text, length) || options.isRevealed(row.row)
        return { text, length, revealed }
      }
      return [
        {
          rem: MASK_REM,
          ...base,
          grow: isGrowing,
          ...drawTitle(options.names[index] || `Column ${index + 1}`),
          cell: (row) => <MaskedText {...read(row)} isCell />,
          em: (row) => toMaskedEm(read(row)),
        },
      ]
    }
    const at = texts.indexOf(name)
    if (at < 0) return []
    const isScore = name.startsWith('score.')
    const hasContent = entry?.hasContent ?? !isScore
    const read = (row: PageRow) => ({
      text: row.texts[at] ?? '',
      length: row.textLengths[at] ?? 0,
      revealed: !hasContent || options.isRevealed(row.row),
    })
    return [
      {
        rem: isScore ? 6 : MASK_REM,
        ...base,
        ...drawTitle(entry === undefined ? name : toColumnTitle(entry)),
        ...(isScore && { align: 'end' as const, isSortable: true }),
        cell: (row) => <MaskedText {...read(row)} isCell />,
        em: (row) => toMaskedEm(read(row)),
      },
    ]
  })
}

function drawTitle(name: string) {
  return { title: <SafeText text={name} max={60} />, name }
}

/** A column width that fits row numbers up to `rows`. */
export function toRowRem(rows: number): number {
  return Math.max(4.75, 1.75 + formatCount(rows).length * 0.56)
}

export function toSortBy(name: string): RowSort['by'] | null {
  if (name.startsWith('score.')) return { kind: 'score', className: name.slice('score.'.length) }
  return LOOKS[name]?.sortBy ?? null
}

export function orderColumns(count: number, content: readonly number[]): number[] {
  const all = Array.from({ length: count }, (_, index) => index)
  return [...content, ...all.filter((index) => !content.includes(index))]
}
