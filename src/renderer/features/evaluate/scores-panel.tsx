import { Group, Stack } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { IconChartHistogram, IconPlus } from '@tabler/icons-react'
import { type KeyboardEvent, memo, type PointerEvent, type ReactNode, useMemo, useState } from 'react'
import type {
  DrawnScore,
  Evaluation,
  JudgedRule,
  JudgedScore,
  ScoreBar,
  ThresholdPoint,
} from '../../../shared/lookback/evaluation.ts'
import {
  FIGURES,
  formatArea,
  formatScore,
  MATRIX_CELLS,
  toShareText,
} from '../../../shared/lookback/evaluation-view.ts'
import { toComparable } from '../../../shared/lookback/labels.ts'
import {
  findBestF1,
  findForPrecision,
  findsAll,
  listPoints,
  toPointAt,
} from '../../../shared/lookback/score-curve.ts'
import { formatCount, formatCounted, formatShare } from '../../../shared/messages/figure-text.ts'
import { BottomLabels, LeftAxis, placePlot } from '../../ui/charts/plot.tsx'
import { ActionButton, NumberField, SelectField } from '../../ui/controls.tsx'
import { Empty, Panel } from '../../ui/layout/screen.tsx'
import { type Column, Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './evaluate.module.css'

type AskedScores = readonly { className: string; rule: string }[]

/** How well the scores of each class separate a rule's rows from others, and other thresholds' results. */
export function ScoresPanel(props: {
  evaluation: Evaluation
  scores: readonly DrawnScore[]
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
          <SelectField
            label="Scores of"
            value={drawn === undefined ? '' : toKey(drawn)}
            onValue={setChosen}
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

/** Compares a class with a rule of another name. */
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
      <SelectField label="Another class" value={chosen} onValue={setClass} data={left} />
      <SelectField label="as a test for" value={against} onValue={setRule} data={rules} />
      <ActionButton label="Add" icon={IconPlus} onClick={() => onAsk({ className: chosen, rule: against })} />
    </fieldset>
  )
}

const WANTED = 90

/** One class: a threshold that moves over the distribution of its scores, and its result. */
function ScoreView(props: { drawn: DrawnScore; judged: JudgedScore; rule: JudgedRule | null }) {
  const { drawn, judged, rule } = props
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
      <div className={styles.scoreColumns}>
        <div>
          <ThresholdSlider
            name={`Threshold of ${drawn.class}`}
            bars={bars}
            thresholds={thresholds}
            threshold={threshold}
            describe={(at) => describePoint(toPointAt(curve, at))}
            onThreshold={move}
          />
          <div className={`row flex-wrap gap-2 mt-3 ${styles.reach}`}>
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

/** The result of the threshold, beside the decisions of the rule. */
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
      className={`${styles.table} ${styles.whatIf}`}
      caption="What the threshold would find"
      rows={lines}
      columns={WHAT_IF_COLUMNS}
    />
  )
}

interface WhatIfLine {
  name: ReactNode
  figures: (number | null)[]
  counts: Record<(typeof MATRIX_CELLS)[number]['count'], number>
}

const WHAT_IF_COLUMNS: readonly Column<WhatIfLine>[] = [
  { cell: ({ name }) => name },
  ...FIGURES.map(
    ({ label }, index): Column<WhatIfLine> => ({
      title: label,
      isNumber: true,
      cell: ({ figures }) => toShareText(figures[index] ?? null),
    }),
  ),
  ...MATRIX_CELLS.map(
    ({ count, word }): Column<WhatIfLine> => ({
      title: word,
      isNumber: true,
      cell: ({ counts }) => formatCount(counts[count]),
    }),
  ),
]

const FRAME = { height: 190, left: 60, right: 8, top: 8, bottom: 34 }

const TICKS = [0, 0.5, 1]

/** Precision against recall at every threshold, with marks for the chosen threshold and the rule itself. */
function PrecisionRecallCurve(props: {
  /** Ascending by threshold. */
  points: readonly ThresholdPoint[]
  at: ThresholdPoint
  rule: JudgedRule | null
}) {
  const { points, at, rule } = props
  const { ref, width } = useElementSize()
  const place = placePlot(FRAME, width)
  const decided = rule === null ? null : { precision: rule.precision.value, recall: rule.recall.value }
  return (
    <figure ref={ref} className="min-w-0">
      <svg
        width="100%"
        height={FRAME.height}
        role="img"
        aria-label={`Precision against recall; at this threshold precision ${toShareText(at.precision)}, recall ${toShareText(at.recall)}`}
      >
        <Curve points={points} width={width} />
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
      <figcaption className={`small flex flex-wrap ${styles.sliderKey}`}>
        <span>circle: this threshold</span>
        {rule !== null && <span>square: the rule as it decided</span>}
      </figcaption>
    </figure>
  )
}

const Curve = memo(function Curve({ points, width }: { points: readonly ThresholdPoint[]; width: number }) {
  const place = placePlot(FRAME, width)
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
        right={place.right}
      />
      <BottomLabels
        // Labels at the ends stay clear of those of the other axis and inside the drawing.
        labels={TICKS.map((tick) => ({
          x: place.x(tick),
          label: `${tick * 100} %`,
          ...(tick === 0 ? { anchor: 'start' } : tick === 1 && { anchor: 'end' }),
        }))}
        y={place.base + 14}
      />
      <BottomLabels labels={[{ x: place.x(0.5), label: 'recall' }]} y={FRAME.height - 6} />
      <text
        fill="var(--text-2)"
        fontSize="0.75rem"
        transform={`translate(10 ${place.y(0.5)}) rotate(-90)`}
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

const DOTS_MAX = 40

/** Sizes in pixels: half of the picture for each kind of rows, with the score axis below. */
const SLIDER_FRAME = { half: 84, left: 8, right: 8, axis: 22 }
const SLIDER_HEIGHT = 2 * SLIDER_FRAME.half + SLIDER_FRAME.axis
const LABEL_PX = 48

/** Share of all thresholds that Page Up and Page Down skip. */
const LEAP = 0.1

/**
 * The distribution of the scores, with rows that should trigger above the line and all others below it, on
 * one scale, and a threshold to drag or to move by keys. `thresholds` are ascending.
 */
function ThresholdSlider(props: {
  name: string
  bars: readonly ScoreBar[]
  thresholds: readonly number[]
  threshold: number
  describe: (threshold: number) => string
  onThreshold: (threshold: number) => void
}) {
  const { name, bars, thresholds, threshold, onThreshold } = props
  const { ref, width } = useElementSize()
  const inner = Math.max(1, width - SLIDER_FRAME.left - SLIDER_FRAME.right)
  const at = Math.max(
    0,
    thresholds.findIndex((one) => one >= threshold),
  )
  const x = SLIDER_FRAME.left + toShare(bars, threshold) * inner
  const drag = (event: PointerEvent<HTMLElement>) => {
    const from = event.currentTarget.getBoundingClientRect().left
    const score = toScore(bars, (event.clientX - from - SLIDER_FRAME.left) / inner)
    const nearest = findNearest(thresholds, score)
    if (nearest !== null && nearest !== threshold) onThreshold(nearest)
  }
  const press = (event: KeyboardEvent) => {
    const leap = Math.max(1, Math.round(thresholds.length * LEAP))
    const next: Record<string, number> = {
      ArrowLeft: at - 1,
      ArrowDown: at - 1,
      ArrowRight: at + 1,
      ArrowUp: at + 1,
      PageDown: at - leap,
      PageUp: at + leap,
      Home: 0,
      End: thresholds.length - 1,
    }
    const index = next[event.key]
    if (index === undefined) return
    event.preventDefault()
    const chosen = thresholds[Math.min(thresholds.length - 1, Math.max(0, index))]
    if (chosen !== undefined) onThreshold(chosen)
  }
  return (
    <figure className="min-w-0">
      <div
        ref={ref}
        className={styles.slider}
        role="slider"
        tabIndex={0}
        aria-label={name}
        aria-valuemin={thresholds[0] ?? 0}
        aria-valuemax={thresholds.at(-1) ?? 0}
        aria-valuenow={threshold}
        aria-valuetext={props.describe(threshold)}
        onKeyDown={press}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          drag(event)
        }}
        onPointerMove={(event) => {
          if (event.currentTarget.hasPointerCapture(event.pointerId)) drag(event)
        }}
      >
        <svg width="100%" height={SLIDER_HEIGHT} aria-hidden="true">
          <rect
            fill="var(--accent-wash)"
            x={x}
            y={0}
            width={Math.max(0, SLIDER_FRAME.left + inner - x)}
            height={2 * SLIDER_FRAME.half}
          />
          <Histogram bars={bars} inner={inner} />
          <line stroke="var(--text)" strokeWidth={2} x1={x} x2={x} y1={0} y2={2 * SLIDER_FRAME.half} />
          <circle
            fill="var(--surface)"
            stroke="var(--text)"
            strokeWidth={2}
            cx={x}
            cy={SLIDER_FRAME.half}
            r={6}
          />
        </svg>
      </div>
      <figcaption className={`small flex flex-wrap ${styles.sliderKey}`}>
        <span data-kind="positives">
          above the line: should trigger, at most {formatCounted(toHighest(bars, 'positives'), 'row')} a bar
        </span>
        <span data-kind="negatives">
          below: should not, at most {formatCounted(toHighest(bars, 'negatives'), 'row')} a bar
        </span>
        <span>shaded: would trigger, score ≥ {formatScore(threshold)}</span>
      </figcaption>
    </figure>
  )
}

const Histogram = memo(function Histogram({ bars, inner }: { bars: readonly ScoreBar[]; inner: number }) {
  const step = inner / Math.max(1, bars.length)
  const gap = step > 4 ? Math.max(1, step * 0.08) : 0
  const most = Math.max(toHighest(bars, 'positives'), toHighest(bars, 'negatives'))
  // Even a small count gets a visible bar.
  const toHeight = (rows: number) => (rows === 0 ? 0 : Math.max(1.5, (rows / most) * (SLIDER_FRAME.half - 6)))
  const every = Math.max(1, Math.ceil(LABEL_PX / step))
  return (
    <>
      {bars.map((bar, index) => {
        const [up, down] = [toHeight(bar.positives), toHeight(bar.negatives)]
        const place = { x: SLIDER_FRAME.left + index * step + gap / 2, width: Math.max(1, step - gap) }
        const range =
          bar.from === bar.to ? formatScore(bar.from) : `${formatScore(bar.from)} to ${formatScore(bar.to)}`
        return (
          <g key={bar.from}>
            <title>
              {`score ${range}: ${formatCount(bar.positives)} that should trigger, ${formatCount(bar.negatives)} that should not`}
            </title>
            <rect fill="transparent" {...place} y={0} height={2 * SLIDER_FRAME.half} />
            <rect fill="var(--chart-1)" {...place} y={SLIDER_FRAME.half - up} height={up} />
            <rect fill="var(--chart-2)" {...place} y={SLIDER_FRAME.half} height={down} />
            {index % every === 0 && (
              <text
                fill="var(--text-2)"
                fontSize="0.75rem"
                textAnchor={bar.from === bar.to ? 'middle' : 'start'}
                x={bar.from === bar.to ? place.x + place.width / 2 : place.x}
                y={SLIDER_HEIGHT - 6}
              >
                {String(Number(bar.from.toPrecision(3)))}
              </text>
            )}
          </g>
        )
      })}
      <line
        stroke="var(--line-strong)"
        x1={SLIDER_FRAME.left}
        x2={SLIDER_FRAME.left + inner}
        y1={SLIDER_FRAME.half}
        y2={SLIDER_FRAME.half}
      />
    </>
  )
})

function toHighest(bars: readonly ScoreBar[], kind: 'positives' | 'negatives'): number {
  return bars.reduce((most, bar) => Math.max(most, bar[kind]), 0)
}

/** A threshold's position: at the left edge of its score if each score has a bar, else along the scores. */
function toShare(bars: readonly ScoreBar[], threshold: number): number {
  if (isEach(bars)) {
    const at = bars.findIndex(({ from }) => from >= threshold)
    return at === -1 ? 1 : at / bars.length
  }
  const [lowest, highest] = [bars[0]?.from ?? 0, bars.at(-1)?.to ?? 1]
  return highest === lowest ? 0 : Math.min(1, Math.max(0, (threshold - lowest) / (highest - lowest)))
}

function toScore(bars: readonly ScoreBar[], share: number): number {
  const within = Math.min(1, Math.max(0, share))
  if (isEach(bars)) return bars[Math.min(bars.length - 1, Math.round(within * bars.length))]?.from ?? 0
  const [lowest, highest] = [bars[0]?.from ?? 0, bars.at(-1)?.to ?? 1]
  return lowest + within * (highest - lowest)
}

function isEach(bars: readonly ScoreBar[]): boolean {
  return bars.every(({ from, to }) => from === to)
}

function findNearest(thresholds: readonly number[], score: number): number | null {
  let [from, to] = [0, thresholds.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((thresholds[middle] ?? 0) < score) from = middle + 1
    else to = middle
  }
  const [below, above] = [thresholds[from - 1], thresholds[from]]
  if (below === undefined || above === undefined) return above ?? below ?? null
  return score - below < above - score ? below : above
}
