import { Stack } from '@mantine/core'
import type { Cell, Evaluation, Judged, JudgedRule, Metric } from '../../../shared/lookback/evaluation.ts'
import {
  AVERAGES,
  CELL_WORDS,
  countSupport,
  describeFigure,
  FIGURES,
  formatInterval,
  MATRIX_CELLS,
  OVERALL_NAME,
  toShareText,
} from '../../../shared/lookback/evaluation-view.ts'
import { formatCount, formatCounted, formatShare } from '../../../shared/messages/figure-text.ts'
import { Panel } from '../../ui/layout/screen.tsx'
import { type Column, Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './evaluate.module.css'

/** The rule shown in detail, by name; null for any of the rules. */
export type PickedRule = string | null

/** The selected rule; if there is only one rule, that one. */
export function findPicked(
  { overall, rules }: Pick<Evaluation, 'overall' | 'rules'>,
  picked: PickedRule,
): { name: string; rule: string | null; judged: Judged } {
  const [only] = rules
  const found: JudgedRule | undefined = rules.length === 1 ? only : rules.find(({ rule }) => rule === picked)
  return found === undefined
    ? { name: OVERALL_NAME, rule: null, judged: overall }
    : { name: found.rule, rule: found.rule, judged: found }
}

export function RulePanels(props: {
  evaluation: Evaluation
  picked: PickedRule
  onPick: (rule: PickedRule) => void
  /** Opens the rows of a cell; a null rule stands for any of the rules. */
  onCell: (cell: Cell, rule: string | null) => void
}) {
  const { evaluation, picked, onPick, onCell } = props
  const { rules } = evaluation
  const close = findPicked(evaluation, picked)
  return (
    <div
      className={`grid gap-4 one-column items-start ${styles.rules}`}
      data-several={rules.length > 1 || undefined}
    >
      {rules.length > 1 && <RulesTable evaluation={evaluation} close={close.rule} onPick={onPick} />}
      <Panel title="Matrix and figures">
        <h3 className="mb-2 text-lg bold">
          <SafeText text={close.name} max={80} />
        </h3>
        <div className={styles.close}>
          <Matrix judged={close.judged} onCell={(cell) => onCell(cell, close.rule)} />
          <FigureList judged={close.judged} />
        </div>
      </Panel>
    </div>
  )
}

/** Each rule with its figures, any of the rules taken as one, and the averages. */
function RulesTable(props: {
  evaluation: Evaluation
  close: string | null
  onPick: (rule: PickedRule) => void
}) {
  const { evaluation, close, onPick } = props
  const { overall, rules, not_judged: others } = evaluation
  const lines = [
    ...rules.map((judged) => ({ rule: judged.rule, judged: judged as Judged })),
    { rule: null, judged: overall },
  ]
  const fired = others.filter(({ rows }) => rows > 0)
  return (
    <Panel title="Rules" aside="choose one to look at it closely" flush>
      <Table
        look="dense"
        className={styles.table}
        rows={[...lines, ...AVERAGES]}
        toKey={(line) => ('judged' in line ? `rule ${line.rule ?? ''}` : line.name)}
        toRow={(line) => ({ 'data-picked': ('judged' in line && line.rule === close) || undefined })}
        columns={[
          {
            title: 'Rule',
            toCell: (line) => ('judged' in line ? {} : { colSpan: 2, className: 'quiet' }),
            cell: (line) =>
              'judged' in line ? (
                <button
                  type="button"
                  className={`link ${styles.pick}`}
                  aria-pressed={line.rule === close}
                  onClick={() => onPick(line.rule)}
                >
                  {line.rule === null ? OVERALL_NAME : <SafeText text={line.rule} max={60} />}
                </button>
              ) : (
                line.meaning
              ),
          },
          {
            title: 'Should trigger',
            isNumber: true,
            toCell: (line) => ('judged' in line ? {} : null),
            cell: (line) => 'judged' in line && formatEstimate(line.judged, countSupport(line.judged)),
          },
          ...toFigureColumns((line: (typeof lines)[number] | (typeof AVERAGES)[number]) =>
            'judged' in line ? line.judged : evaluation[line.name],
          ),
        ]}
      />
      {fired.length > 0 && (
        <p className="small p-2-4">
          Not judged, because no label stands for them:{' '}
          {fired.slice(0, SHOWN).map(({ rule, rows }, index) => (
            <span key={rule}>
              {index > 0 && ', '}
              <SafeText text={rule} max={60} /> ({formatCounted(rows, 'row')})
            </span>
          ))}
          {fired.length > SHOWN && ` and ${formatCounted(fired.length - SHOWN, 'further rule')}`}
        </p>
      )}
    </Panel>
  )
}

/** Columns for precision, recall and F1 of each row, drawn with intervals, or for averages. */
export function toFigureColumns<Row>(toJudged: (row: Row) => Judged | Evaluation['macro']): Column<Row>[] {
  return FIGURES.map(({ name, label }) => ({
    title: label,
    className: styles.figure,
    cell: (row) => {
      const metric = toJudged(row)[name]
      if (metric === null || typeof metric === 'number') {
        return <span className="small">{toShareText(metric)}</span>
      }
      return (
        <>
          <span className="small">{toShareText(metric.value)}</span>
          <IntervalBar name={label} metric={metric} />
        </>
      )
    },
  }))
}

const SHOWN = 10

type MatrixCell = (typeof MATRIX_CELLS)[number]

const [TP, FP, FN, TN] = MATRIX_CELLS

const CELLS: readonly (readonly [triggered: MatrixCell, not: MatrixCell])[] = [
  [TP, FN],
  [FP, TN],
]

const EXPECTATIONS = ['should trigger', 'should not'] as const

/** Rows by what a rule did and what it should have done; each cell opens its rows. */
function Matrix({ judged, onCell }: { judged: Judged; onCell: (cell: Cell) => void }) {
  const { matrix, estimated } = judged
  const counts = estimated ?? matrix
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const toCell = ({ cell, word, count }: MatrixCell) => (
    <button
      type="button"
      className={`stack items-center w-full ${styles.cell}`}
      data-right={cell === 'tp' || cell === 'tn'}
      disabled={matrix[count] === 0}
      title={matrix[count] === 0 ? 'No rows' : `Show the ${formatCounted(matrix[count], 'row')} in Results`}
      onClick={() => onCell(cell)}
    >
      <span className={`medium leading-tight ${styles.cellCount}`}>
        {formatEstimate(judged, counts[count])}
      </span>
      <span className={styles.cellWord}>{word}</span>
      <span className="small">
        {formatShare(counts[count], all)} of the rows
        <span className="visually-hidden">: {CELL_WORDS[cell]}</span>
      </span>
    </button>
  )
  return (
    <Table
      className={styles.matrix}
      caption="Rows by what the rule did and should have done"
      rows={CELLS}
      columns={[
        { cell: (_, line) => EXPECTATIONS[line] },
        { title: 'triggered', cell: ([triggered]) => toCell(triggered) },
        { title: 'not triggered', cell: ([, not]) => toCell(not) },
      ]}
    />
  )
}

/** Precision, recall and F1, each drawn with its interval and explained in words. */
function FigureList({ judged }: { judged: Judged }) {
  return (
    <Stack component="dl" gap="sm">
      {FIGURES.map(({ name, label, meaning }) => {
        const metric = judged[name]
        const interval = formatInterval(metric)
        return (
          <div key={name}>
            <dt>
              <strong>{label}</strong>{' '}
              <span className={`text-lg medium ${styles.figureValue}`}>{toShareText(metric.value)}</span>
            </dt>
            <dd>
              <IntervalBar name={label} metric={metric} large />
              <span className="small">{interval === null ? 'no such rows' : `${interval} · ${meaning}`}</span>
            </dd>
          </div>
        )
      })}
      <div>
        <dt>
          <strong>support</strong>{' '}
          <span className={`text-lg medium ${styles.figureValue}`}>
            {formatEstimate(judged, countSupport(judged))}
          </span>
        </dt>
        <dd>
          <span className="small">rows that should trigger</span>
        </dd>
      </div>
    </Stack>
  )
}

/** A count; estimates for more rows than were labelled are marked. */
export function formatEstimate({ estimated }: Judged, count: number): string {
  return `${estimated === null ? '' : '~'}${formatCount(count)}`
}

/** Width of the mark, in pixels. */
const MARK_PX = 3

/** A share on a line from 0 to 100 %: its 95 % interval as a band, the share as a mark. `name` names it. */
function IntervalBar({ name, metric, large = false }: { name: string; metric: Metric; large?: boolean }) {
  const { value, low, high } = metric
  return (
    <span
      className={`relative block overflow-hidden w-full rounded ${styles.bar} ${large ? styles.large : ''}`}
      role="img"
      aria-label={value === null ? `${name}: no such rows` : `${name} ${describeFigure(metric)}`}
      title={value === null ? 'No such rows' : describeFigure(metric)}
    >
      {low !== null && high !== null && (
        <span className={styles.band} style={{ left: toPercent(low), width: toPercent(high - low) }} />
      )}
      {value !== null && (
        <span className={styles.point} style={{ width: MARK_PX, left: toMarkPlace(value) }} />
      )}
    </span>
  )
}

/** The left edge of the mark, which stays inside the bar at 0 and 100 %. */
function toMarkPlace(share: number): string {
  return `clamp(0px, calc(${toPercent(share)} - ${MARK_PX / 2}px), calc(100% - ${MARK_PX}px))`
}

function toPercent(share: number): string {
  return `${(share * 100).toFixed(2)}%`
}
