import { skipToken, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { LabelChoice, RunPair } from '../../../shared/bridge/compare.ts'
import type { ChangeOfMetrics, DecisionComparison } from '../../../shared/lookback/comparison.ts'
import { formatP, formatPoints } from '../../../shared/lookback/comparison-text.ts'
import type { Metric } from '../../../shared/lookback/evaluation.ts'
import { formatCount, formatCounted, formatShare } from '../../../shared/messages/figure-text.ts'
import { ask } from '../../bridge/client.ts'
import { LabelsForm } from '../../ui/labels/labels-form.tsx'
import { ErrorNotice, Panel } from '../../ui/layout/screen.tsx'
import { type Column, Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './compare.module.css'
import { Joining, useDecisions } from './decisions-view.tsx'

/** How right both runs were, by the labels of a column or by verdicts. */
export function LabelsView({ pair }: { pair: RunPair }) {
  const [labels, setLabels] = useState<LabelChoice | null>(null)
  const judged = useQuery(
    ask.compare.byLabels.queryOptions({ input: labels === null ? skipToken : { ...pair, labels } }),
  )
  const choices = useQuery(ask.evaluate.choices.queryOptions({ input: { runId: pair.b } }))
  const decisions = useDecisions(pair)
  const error = choices.error ?? decisions.error
  if (error !== null) return <ErrorNotice error={error} />
  if (choices.data === undefined || decisions.data === undefined) return <Joining />
  return (
    <div className={styles.stack}>
      <Panel title="Labels of the rows of B">
        <LabelsForm
          choices={choices.data}
          rules={decisions.data.joined.rules.map(({ rule }) => rule)}
          action="Compare by labels"
          busy={judged.isFetching}
          onLabels={setLabels}
        />
      </Panel>
      {judged.error !== null && <ErrorNotice error={judged.error} />}
      {labels !== null && judged.isPending && <Joining />}
      {judged.data !== undefined && <MetricsPanel judged={judged.data} />}
    </div>
  )
}

type JudgedPair = NonNullable<DecisionComparison['labels']>

function MetricsPanel({ judged }: { judged: JudgedPair }) {
  const left = [
    [judged.without_label, 'without a label'],
    [judged.unsure, 'marked as unsure'],
    [judged.conflicting_label, 'with contradicting labels'],
  ] as const
  const shown = left.filter(([rows]) => rows > 0).map(([rows, what]) => `${formatCount(rows)} ${what}`)
  const rules = [
    ...(judged.rules.length > 1 ? [{ rule: 'Any of these rules', ...judged.overall }] : []),
    ...judged.rules,
  ]
  return (
    <Panel
      title={`${formatCounted(judged.rows, 'labelled row')} that both runs answered`}
      aside={shown.length === 0 ? undefined : `left out: ${shown.join(', ')}`}
      flush
      scrolls
    >
      <Table
        className={styles.table}
        caption="Precision, recall and F1 of both runs by rule"
        rows={rules.flatMap((rule) => METRICS.map(([key, name], index) => ({ rule, key, name, index })))}
        columns={COLUMNS}
      />
      <p className="small p-3-4 border-t">
        Where an interval does not cross the middle line, the change is unlikely to be chance.
      </p>
    </Panel>
  )
}

const METRICS = [
  ['precision', 'Precision'],
  ['recall', 'Recall'],
  ['f1', 'F1'],
] as const

interface MetricLine {
  rule: { rule: string } & ChangeOfMetrics
  key: (typeof METRICS)[number][0]
  name: string
  index: number
}

/** The first line of a rule has what all of its lines share. */
const spanLines: Column<MetricLine>['toCell'] = ({ index }) =>
  index === 0 ? { rowSpan: METRICS.length } : null

const COLUMNS: readonly Column<MetricLine>[] = [
  { title: 'Rule', toCell: spanLines, cell: ({ rule }) => <SafeText text={rule.rule} max={60} /> },
  { title: 'Metric', className: styles.metric, cell: ({ name }) => name },
  { title: 'A', isNumber: true, cell: ({ rule, key }) => formatMetric(rule.a[key]) },
  { title: 'B', isNumber: true, cell: ({ rule, key }) => formatMetric(rule.b[key]) },
  {
    title: 'Change in points, with its 95 % interval',
    cell: ({ rule, key, name }) => (
      <ChangeDrawing name={`${name} of ${rule.rule}`} change={rule.change[key]} />
    ),
  },
  { title: 'Right only in', toCell: spanLines, cell: ({ rule }) => <RightOnly rule={rule} /> },
]

function formatMetric({ value }: Metric): string {
  return value === null ? '–' : formatShare(value)
}

function RightOnly({ rule }: { rule: ChangeOfMetrics }) {
  return (
    <>
      A: {formatCounted(rule.right_only_in_a, 'row')}
      <br />
      B: {formatCounted(rule.right_only_in_b, 'row')}
      <br />
      <span className="quiet">p {formatP(rule.p)}</span>
    </>
  )
}

/** Sizes in pixels; the drawing reaches from −100 to +100 points. */
const DRAWING = { width: 200, height: 18 }

/** A change of a share with its interval, around none in the middle. */
function ChangeDrawing({ name, change }: { name: string; change: Metric }) {
  const { value, low, high } = change
  if (value === null) return '–'
  const toX = (share: number) => ((share + 1) / 2) * DRAWING.width
  const range = low === null || high === null ? '' : `${formatPoints(low)} to ${formatPoints(high)}`
  const isSure = low !== null && high !== null && (low > 0 || high < 0)
  return (
    <span
      className={`inline-flex items-center gap-3 nowrap ${styles.change}`}
      data-direction={!isSure ? 'unclear' : value > 0 ? 'better' : 'worse'}
    >
      <svg
        width={DRAWING.width}
        height={DRAWING.height}
        role="img"
        aria-label={`Change of ${name}: ${formatPoints(value)} points${range === '' ? '' : `, ${range}`}`}
      >
        <line stroke="var(--line)" x1="0" x2={DRAWING.width} y1="9" y2="9" />
        <line stroke="var(--line-strong)" x1={toX(0)} x2={toX(0)} y1="0" y2={DRAWING.height} />
        {low !== null && high !== null && (
          <rect x={toX(low)} y="6" width={Math.max(1, toX(high) - toX(low))} height="6" rx="1" />
        )}
        <circle cx={toX(value)} cy="9" r="4" />
      </svg>
      <span>
        {formatPoints(value)} <span className="quiet">{range}</span>
      </span>
    </span>
  )
}
