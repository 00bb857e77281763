import { Group, NativeSelect, Stack } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { IconChartHistogram, IconPlus } from '@tabler/icons-react'
import { memo, type ReactNode, useMemo, useState } from 'react'
import type {
  DrawnScore,
  Evaluation,
  JudgedRule,
  JudgedScore,
  ThresholdPoint,
} from '../../../shared/lookback/evaluation.ts'
import { FIGURES, formatArea, formatScore, toShareText } from '../../../shared/lookback/evaluation-view.ts'
import { toComparable } from '../../../shared/lookback/labels.ts'
import {
  findBestF1,
  findForPrecision,
  findsAll,
  listPoints,
  toPointAt,
} from '../../../shared/lookback/score-curve.ts'
import { formatCount, formatCounted, formatShare } from '../../../shared/messages/figure-text.ts'
import { BottomLabels, LeftAxis } from '../../ui/charts/axes.tsx'
import { ActionButton, NumberField } from '../../ui/controls.tsx'
import { Empty, Panel } from '../../ui/layout/screen.tsx'
import { type Column, Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './evaluate.module.css'
import scoreStyles from './scores.module.css'
import { ThresholdSlider } from './threshold-slider.tsx'

type AskedScores = readonly { className: string; rule: string }[]

/** How well the scores of each class tell the rows of a rule apart, and what another threshold would find. */
export function ScoresPanel(props: {
  evaluation: Evaluation
  scores: readonly DrawnScore[]
  /** Classes that rows have scores of. */
  classes: readonly string[]
  asked: AskedScores
  onAsk: (asked: AskedScores) => void
}) {
  const { evaluation, scores, classes, asked, onAsk } = props
  const [chosen, setChosen] = useState('')
  if (classes.length === 0 && scores.length === 0) {
    return (
      <Panel title="Scores">
        <Empty icon={IconChartHistogram} title="No scores">
          The service returned no scores of classes for this run, so there are no thresholds to try. Rules are
          judged by what they decided. For scores, turn on “Legacy answer” in Operation, or choose v2 with
          models, before the next run.
        </Empty>
      </Panel>
    )
  }
  const at = Math.max(
    0,
    scores.findIndex((score) => toKey(score) === chosen),
  )
  const [drawn, judged] = [scores[at], evaluation.scores[at]]
  return (
    <Panel title="Scores and thresholds">
      <Group gap="var(--space-3) var(--space-6)" align="flex-end" justify="space-between">
        {scores.length > 0 && (
          <NativeSelect
            label="Scores of"
            value={drawn === undefined ? '' : toKey(drawn)}
            onChange={(event) => setChosen(event.currentTarget.value)}
            data={scores.map((score) => ({
              value: toKey(score),
              label: `${score.class}, as a test for ${score.rule}`,
            }))}
          />
        )}
        <AskScores
          rules={evaluation.rules.map(({ rule }) => rule)}
          classes={classes}
          scores={scores}
          onAsk={(one) => onAsk([...asked.filter(({ className }) => className !== one.className), one])}
        />
      </Group>
      {drawn === undefined || judged === undefined ? (
        <p className="small">
          No class has the name of a judged rule or of a label. Choose above which class to hold against which
          rule.
        </p>
      ) : (
        <ScoreView
          key={toKey(drawn)}
          drawn={drawn}
          judged={judged}
          rule={evaluation.rules.find(({ rule }) => rule === drawn.rule) ?? null}
        />
      )}
    </Panel>
  )
}

function toKey(score: Pick<DrawnScore, 'class' | 'rule'>): string {
  return JSON.stringify([score.class, score.rule])
}

/** Holds a class against a rule that does not have its name. */
function AskScores(props: {
  rules: readonly string[]
  classes: readonly string[]
  scores: readonly DrawnScore[]
  onAsk: (one: { className: string; rule: string }) => void
}) {
  const { rules, classes, scores, onAsk } = props
  const left = classes.filter((className) => scores.every((score) => score.class !== className))
  const [className, setClass] = useState('')
  const [rule, setRule] = useState('')
  if (left.length === 0 || rules.length === 0) return null
  const chosen = left.includes(className) ? className : (left[0] ?? '')
  const against = rules.some((one) => toComparable(one) === toComparable(rule)) ? rule : (rules[0] ?? '')
  return (
    <fieldset className="flex flex-wrap items-end gap-3 m-0 p-0 border-0">
      <legend className="visually-hidden">Hold another class against a rule</legend>
      <NativeSelect
        label="Another class"
        value={chosen}
        onChange={(event) => setClass(event.currentTarget.value)}
        data={left}
      />
      <NativeSelect
        label="as a test for"
        value={against}
        onChange={(event) => setRule(event.currentTarget.value)}
        data={[...rules]}
      />
      <ActionButton label="Add" icon={IconPlus} onClick={() => onAsk({ className: chosen, rule: against })} />
    </fieldset>
  )
}

/** The precision that is asked for at first, percent. */
const WANTED = 90

/** One class: a threshold that moves over the distribution of its scores, and what it would find. */
function ScoreView({
  drawn,
  judged,
  rule,
}: {
  drawn: DrawnScore
  judged: JudgedScore
  rule: JudgedRule | null
}) {
  const { curve, bars } = drawn
  const best = useMemo(() => findBestF1(curve), [curve])
  const thresholds = useMemo(() => curve.thresholds.toReversed(), [curve])
  const points = useMemo(() => listPoints(curve, curve.thresholds.length), [curve])
  const [moved, setMoved] = useState<number | null>(null)
  const [wanted, setWanted] = useState(WANTED)
  const [unreached, setUnreached] = useState<number | null>(null)
  const threshold = moved ?? best?.threshold ?? thresholds[0] ?? 0
  const point = toPointAt(curve, threshold)
  const move = (to: number) => {
    setMoved(to)
    setUnreached(null)
  }
  const reach = () => {
    const found = findForPrecision(curve, wanted / 100)
    if (found === null) setUnreached(wanted)
    else move(found.threshold)
  }
  return (
    <Stack gap="sm" mt="sm">
      <p>
        Average precision <strong>{formatArea(judged.average_precision)}</strong>, ROC AUC{' '}
        <strong>{formatArea(judged.roc_auc)}</strong>{' '}
        <span className="small">
          (1 would be perfect; an AUC of 0.5 is no better than chance) · {formatCounted(judged.rows, 'row')}{' '}
          with a score
          {judged.without_score > 0 && `, ${formatCounted(judged.without_score, 'row')} without one left out`}
        </span>
      </p>
      <div className={scoreStyles.scoreColumns}>
        <div>
          <ThresholdSlider
            name={`Threshold of ${drawn.class}`}
            bars={bars}
            thresholds={thresholds}
            threshold={threshold}
            describe={(at) => describePoint(toPointAt(curve, at))}
            onThreshold={move}
          />
          <div className={`row flex-wrap gap-2 mt-3 ${scoreStyles.reach}`}>
            <ActionButton
              label="Best F1"
              disabled={best === null}
              onClick={() => best !== null && move(best.threshold)}
            />
            <ActionButton label="Lowest threshold with a precision of" onClick={reach} />
            <NumberField
              aria-label="Wanted precision, percent"
              w="5.5rem"
              min={1}
              max={100}
              allowDecimal={false}
              clampBehavior="strict"
              suffix=" %"
              value={wanted}
              onValue={(value) => value !== null && value >= 1 && setWanted(value)}
            />
          </div>
          <p className="small" role="status">
            {unreached !== null && `No threshold reaches a precision of ${formatShare(unreached / 100)}.`}
            {unreached === null &&
              best !== null &&
              findsAll(best) &&
              threshold === best.threshold &&
              'No threshold has a better F1 than flagging every row.'}
          </p>
        </div>
        <PrecisionRecallCurve points={points} at={point} rule={rule} />
      </div>
      <WhatIf point={point} rule={rule} />
    </Stack>
  )
}

function describePoint(point: ThresholdPoint): string {
  const { precision, recall } = point
  return `score at least ${formatScore(point.threshold)}: precision ${toShareText(precision)}, recall ${toShareText(recall)}`
}

const COUNTS = [
  { name: 'true_positives', label: 'found' },
  { name: 'false_positives', label: 'wrongly' },
  { name: 'false_negatives', label: 'missed' },
  { name: 'true_negatives', label: 'rightly not' },
] as const

/** What the threshold would find, next to what the rule decided. */
function WhatIf({ point, rule }: { point: ThresholdPoint; rule: JudgedRule | null }) {
  const lines: WhatIfLine[] = [
    {
      name: `Score ≥ ${formatScore(point.threshold)}`,
      figures: FIGURES.map(({ name }) => point[name]),
      counts: point,
    },
  ]
  if (rule !== null) {
    lines.push({
      name: (
        <>
          <SafeText text={rule.rule} max={60} />, as it decided
        </>
      ),
      figures: FIGURES.map(({ name }) => rule[name].value),
      counts: rule.estimated ?? rule.matrix,
    })
  }
  return (
    <Table
      look="dense"
      className={`${styles.table} ${scoreStyles.whatIf}`}
      caption="What the threshold would find"
      rows={lines}
      columns={WHAT_IF_COLUMNS}
    />
  )
}

interface WhatIfLine {
  name: ReactNode
  figures: (number | null)[]
  counts: Record<(typeof COUNTS)[number]['name'], number>
}

const WHAT_IF_COLUMNS: readonly Column<WhatIfLine>[] = [
  { cell: ({ name }) => name },
  ...FIGURES.map(
    ({ label }, index): Column<WhatIfLine> => ({
      ...{ title: label, isNumber: true },
      cell: ({ figures }) => toShareText(figures[index] ?? null),
    }),
  ),
  ...COUNTS.map(
    ({ name, label }): Column<WhatIfLine> => ({
      ...{ title: label, isNumber: true },
      cell: ({ counts }) => formatCount(counts[name]),
    }),
  ),
]

/** Sizes in pixels. */
const FRAME = { height: 190, left: 60, right: 8, top: 8, bottom: 34 }

const TICKS = [0, 0.5, 1]

interface Place {
  x: (recall: number) => number
  y: (precision: number) => number
}

/** Precision against recall at every threshold, with where the chosen one stands and where the rule itself does. */
function PrecisionRecallCurve(props: {
  /** Ascending by threshold. */
  points: readonly ThresholdPoint[]
  at: ThresholdPoint
  rule: JudgedRule | null
}) {
  const { points, at, rule } = props
  const { ref, width } = useElementSize()
  const [inner, tall] = [
    Math.max(1, width - FRAME.left - FRAME.right),
    FRAME.height - FRAME.top - FRAME.bottom,
  ]
  const place = {
    x: (recall: number) => FRAME.left + recall * inner,
    y: (precision: number) => FRAME.top + (1 - precision) * tall,
  }
  const decided = rule === null ? null : { precision: rule.precision.value, recall: rule.recall.value }
  return (
    <figure ref={ref} className={scoreStyles.curve}>
      <svg
        width="100%"
        height={FRAME.height}
        role="img"
        aria-label={`Precision against recall; at this threshold precision ${toShareText(at.precision)}, recall ${toShareText(at.recall)}`}
      >
        <Curve points={points} width={inner} />
        {decided !== null && decided.precision !== null && decided.recall !== null && (
          <rect
            fill="none"
            stroke="var(--chart-2)"
            strokeWidth={2}
            x={place.x(decided.recall) - 8}
            y={place.y(decided.precision) - 8}
            width={16}
            height={16}
          />
        )}
        {at.precision !== null && at.recall !== null && (
          <circle
            fill="var(--surface)"
            stroke="var(--text)"
            strokeWidth={2}
            cx={place.x(at.recall)}
            cy={place.y(at.precision)}
            r={6}
          />
        )}
      </svg>
      <figcaption className={`small flex flex-wrap ${scoreStyles.sliderKey}`}>
        <span>circle: this threshold</span>
        {rule !== null && <span>square: the rule as it decided</span>}
      </figcaption>
    </figure>
  )
}

/** Axes and line, which stay as they are while the threshold moves. */
const Curve = memo(function Curve({ points, width }: { points: readonly ThresholdPoint[]; width: number }) {
  const tall = FRAME.height - FRAME.top - FRAME.bottom
  const place: Place = {
    x: (recall) => FRAME.left + recall * width,
    y: (precision) => FRAME.top + (1 - precision) * tall,
  }
  const line = points
    .filter(({ precision, recall }) => precision !== null && recall !== null)
    .map(
      ({ precision, recall }) => `${place.x(recall ?? 0).toFixed(1)},${place.y(precision ?? 0).toFixed(1)}`,
    )
  return (
    <>
      <LeftAxis
        ticks={TICKS.map((tick) => ({ y: place.y(tick), label: `${tick * 100} %` }))}
        left={FRAME.left}
        right={FRAME.left + width}
      />
      <BottomLabels
        // Labels at the ends stay beside those of the other axis and inside the drawing.
        labels={TICKS.map((tick) => ({
          ...{ x: place.x(tick), label: `${tick * 100} %` },
          ...(tick === 0 ? { anchor: 'start' } : tick === 1 && { anchor: 'end' }),
        }))}
        y={FRAME.height - FRAME.bottom + 14}
      />
      <BottomLabels labels={[{ x: FRAME.left + width / 2, label: 'recall' }]} y={FRAME.height - 6} />
      <text
        fill="var(--text-2)"
        fontSize="0.75rem"
        transform={`translate(10 ${FRAME.top + tall / 2}) rotate(-90)`}
        textAnchor="middle"
      >
        precision
      </text>
      <polyline fill="none" stroke="var(--chart-1)" strokeWidth={2} points={line.join(' ')} />
      {line.length <= DOTS_MAX &&
        line.map((point) => {
          const [x, y] = point.split(',')
          return <circle key={point} fill="var(--chart-1)" cx={x} cy={y} r={2.5} />
        })}
    </>
  )
})

/** Points that are drawn one by one. */
const DOTS_MAX = 40
