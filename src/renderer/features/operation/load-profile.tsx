import { useElementSize } from '@mantine/hooks'
import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react'
import { createLinearScale, formatTick } from '../../../shared/load/chart-scale.ts'
import { type Stage, type StagesPace, toTotalMs } from '../../../shared/load/load-pace.ts'
import { formatSetDuration } from '../../../shared/messages/duration.ts'
import { BottomLabels, LeftAxis, placePlot } from '../../ui/charts/plot.tsx'
import { formatClock } from '../../ui/format-time.ts'
import styles from './load-profile.module.css'
import { changeDuration, moveLevel, removeStage, type StagePart, toDurationStep, toStep } from './stages.ts'

const FRAME = { height: 230, left: 56, right: 20, top: 20, bottom: 30 }

/** Room for dragging, above the highest level and after the last stage. */
const HEADROOM = 1.25
const TAILROOM = 1.08

/** A smaller movement in one direction is ignored: people rarely drag a level exactly upwards. */
const DEAD_PX = 4

const TIME_LABEL_PX = 70

/** Maps levels and times to the picture. */
interface ProfileScale {
  ticks: readonly number[]
  topLevel: number
  totalMs: number
  toX(ms: number): number
  toY(level: number): number
}

function createScale({ stages }: StagesPace, width: number): ProfileScale {
  const peak = Math.max(...stages.flatMap(({ from, to }) => [from, to]))
  const scale = createLinearScale((peak * HEADROOM) / 1.04)
  const totalMs = toTotalMs(stages) * TAILROOM
  const plot = placePlot(FRAME, width)
  return {
    ticks: scale.ticks,
    topLevel: scale.ticks.at(-1) ?? 1,
    totalMs,
    toX: (ms) => plot.x(Math.min(ms, totalMs) / totalMs),
    toY: (level) => plot.y(scale.toShare(level)),
  }
}

/** The part of a stage that is being dragged, with the stages and the scale from before. */
interface Drag {
  index: number
  part: StagePart
  before: StagesPace
  scale: ProfileScale
  x: number
  y: number
}

/**
 * A drawing of the load over time, whose points and lines are dragged or moved by arrow keys. Each is a
 * slider for the keyboard and for screen readers; Delete removes its stage.
 */
export function LoadProfile(props: {
  pace: StagesPace
  /** False if the load ends after a number of requests, so that its end time is unknown. */
  hasEnd: boolean
  onPace: (pace: StagesPace) => void
}) {
  const { pace, hasEnd, onPace } = props
  const { ref, width } = useElementSize()
  const drag = useRef<Drag | null>(null)
  const [held, setHeld] = useState<ProfileScale | null>(null)
  const unit = pace.of === 'rate' ? 'requests/s' : 'requests in flight'
  const scale = held ?? createScale(pace, width)
  const placed = placeStages(pace.stages, scale)

  const startDrag = (event: PointerEvent, index: number, part: StagePart) => {
    event.currentTarget.setPointerCapture(event.pointerId)
    drag.current = { index, part, before: pace, scale, x: event.clientX, y: event.clientY }
    setHeld(scale)
  }
  const continueDrag = (event: PointerEvent) => {
    if (drag.current !== null) onPace(toDragged(drag.current, event.clientX, event.clientY, hasEnd))
  }
  const endDrag = () => {
    drag.current = null
    setHeld(null)
  }
  const press = (event: KeyboardEvent, index: number, part: StagePart) => {
    const moved = toPressed(pace, { index, part, key: event.key, isLarge: event.shiftKey, hasEnd })
    if (moved === null) return
    event.preventDefault()
    onPace(moved)
  }
  const toHandle = (index: number, part: StagePart) => ({
    role: 'slider',
    tabIndex: 0,
    'aria-label': `Stage ${index + 1}, ${PART_NAMES[part]}`,
    'aria-orientation': 'vertical' as const,
    'aria-valuemin': 0,
    'aria-valuemax': scale.topLevel,
    'aria-valuenow': toPartLevel(pace.stages[index], part),
    'aria-valuetext': describeStage(pace.stages[index], unit),
    onPointerDown: (event: PointerEvent) => startDrag(event, index, part),
    onPointerMove: continueDrag,
    onPointerUp: endDrag,
    onPointerCancel: endDrag,
    onKeyDown: (event: KeyboardEvent) => press(event, index, part),
  })

  return (
    <figure ref={ref} className={`min-w-0 ${styles.profile}`}>
      <svg width="100%" height={FRAME.height}>
        <title>Load over time, in {unit}</title>
        <Axes scale={scale} width={width} unit={unit} hasEnd={hasEnd} />
        <path fill="var(--accent-wash)" d={toArea(placed, scale)} />
        {placed.map(({ stage, x0, x1, y0, y1 }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a stage is its place in the sequence
          <g key={index}>
            <path fill="none" stroke="var(--chart-1)" strokeWidth={2.5} d={`M${x0} ${y0}L${x1} ${y1}`} />
            <path
              className={styles.grip}
              d={`M${x0} ${y0}L${x1} ${y1}`}
              data-flat={stage.from === stage.to}
              {...toHandle(index, 'line')}
            />
          </g>
        ))}
        {placed.map(({ stage, x0, x1, y0, y1 }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a stage is its place in the sequence
          <g key={index}>
            {placed[index - 1]?.stage.to !== stage.from && (
              <circle className={styles.point} cx={x0} cy={y0} r={6} {...toHandle(index, 'from')} />
            )}
            {hasEnd && <circle className={styles.point} cx={x1} cy={y1} r={6} {...toHandle(index, 'to')} />}
          </g>
        ))}
      </svg>
      <figcaption className="small">
        Drag a point or a line. With the keyboard: arrow keys move it, with Shift ten steps at once
        {pace.stages.length > 1 && '; Delete removes the stage'}.
      </figcaption>
    </figure>
  )
}

const PART_NAMES: Record<StagePart, string> = { from: 'start', to: 'end', line: 'level' }

function toPartLevel(stage: Stage | undefined, part: StagePart): number {
  return (part === 'to' ? stage?.to : stage?.from) ?? 0
}

/** `50 to 200 requests/s for 2 min`. */
function describeStage(stage: Stage | undefined, unit: string): string {
  if (stage === undefined) return ''
  const { from, to, durationMs } = stage
  return `${from === to ? to : `${from} to ${to}`} ${unit} for ${formatSetDuration(durationMs)}`
}

interface PlacedStage {
  stage: Stage
  x0: number
  x1: number
  y0: number
  y1: number
}

function placeStages(stages: readonly Stage[], { toX, toY }: ProfileScale): PlacedStage[] {
  let atMs = 0
  return stages.map((stage) => {
    const x0 = toX(atMs)
    atMs += stage.durationMs
    return { stage, x0, x1: toX(atMs), y0: toY(stage.from), y1: toY(stage.to) }
  })
}

function toArea(placed: readonly PlacedStage[], { toY }: ProfileScale): string {
  const first = placed[0]
  const last = placed.at(-1)
  if (first === undefined || last === undefined) return ''
  const outline = placed.map(({ x0, x1, y0, y1 }) => `L${x0} ${y0}L${x1} ${y1}`).join('')
  return `M${first.x0} ${toY(0)}${outline}L${last.x1} ${toY(0)}Z`
}

/** The stages after a part of them was dragged to this position. */
function toDragged({ index, part, before, scale, x, y }: Drag, toX: number, toY: number, hasEnd: boolean) {
  const stage = before.stages[index]
  if (stage === undefined) return before
  const [byX, byY] = [toX - x, toY - y]
  const levelStep = toStep(scale.topLevel, before.of === 'rate' ? 0.001 : 1)
  const perLevel = scale.toY(0) - scale.toY(scale.topLevel)
  const byLevel = (-byY * scale.topLevel) / perLevel
  const snap = (value: number, step: number) => Math.round(value / step) * step
  const level = toPartLevel(stage, part)
  const moved =
    Math.abs(byY) < DEAD_PX
      ? before
      : moveLevel(before, index, part, Math.min(scale.topLevel, snap(level + byLevel, levelStep)))
  if (part !== 'to' || !hasEnd || Math.abs(byX) < DEAD_PX) return moved
  const perMs = (scale.toX(scale.totalMs) - scale.toX(0)) / scale.totalMs
  return changeDuration(moved, index, snap(stage.durationMs + byX / perMs, toDurationStep(scale.totalMs)))
}

/** The stages after a key on a part of them; null if the key has no effect. */
function toPressed(
  pace: StagesPace,
  pressed: { index: number; part: StagePart; key: string; isLarge: boolean; hasEnd: boolean },
): StagesPace | null {
  const { index, part, key, isLarge, hasEnd } = pressed
  const stage = pace.stages[index]
  if (stage === undefined) return null
  const peak = Math.max(...pace.stages.flatMap(({ from, to }) => [from, to]))
  const levelStep = toStep(peak, 1) * (isLarge ? 10 : 1)
  const timeStep = toDurationStep(toTotalMs(pace.stages)) * (isLarge ? 10 : 1)
  const level = toPartLevel(stage, part)
  if (key === 'ArrowUp') return moveLevel(pace, index, part, level + levelStep)
  if (key === 'ArrowDown') return moveLevel(pace, index, part, Math.max(0, level - levelStep))
  if (key === 'Delete' || key === 'Backspace') return removeStage(pace, index)
  if (!hasEnd || part !== 'to') return null
  if (key === 'ArrowRight') return changeDuration(pace, index, stage.durationMs + timeStep)
  return key === 'ArrowLeft' ? changeDuration(pace, index, stage.durationMs - timeStep) : null
}

const TIME_STEPS_S = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400,
]

function Axes(props: { scale: ProfileScale; width: number; unit: string; hasEnd: boolean }) {
  const { scale, width, unit } = props
  const most = Math.max(2, Math.floor((width - FRAME.left - FRAME.right) / TIME_LABEL_PX))
  const step = (TIME_STEPS_S.find((one) => scale.totalMs / 1000 / one <= most) ?? 86_400) * 1000
  const times = Array.from({ length: Math.floor(scale.totalMs / step) + 1 }, (_, i) => i * step)
  return (
    <g aria-hidden>
      <LeftAxis
        ticks={scale.ticks.map((tick) => ({ y: scale.toY(tick), label: formatTick(tick) }))}
        left={FRAME.left}
        right={width - FRAME.right}
        gap={12}
      />
      <text fill="var(--text-2)" fontSize="0.75rem" x={FRAME.left} y={FRAME.top - 5}>
        {unit}
      </text>
      {props.hasEnd && (
        <BottomLabels
          labels={times.map((ms) => ({ x: scale.toX(ms), label: formatClock(ms / 1000) }))}
          y={FRAME.height - 8}
        />
      )}
    </g>
  )
}
