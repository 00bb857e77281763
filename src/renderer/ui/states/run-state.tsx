import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleDashed,
  IconCircleX,
  IconClock,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
  IconPlugConnectedX,
  type TablerIcon,
} from '@tabler/icons-react'
import type { RunSummary, ShownState } from '../../../shared/run/run.ts'
import { IconLabel } from './row-states.tsx'
import styles from './states.module.css'

/** A run's state for people: finer while held here, and with the thresholds' verdict for a load test. */
export type DisplayState = ShownState | 'not connected'

const LOOKS: Record<DisplayState, { icon: TablerIcon; color: string; meaning: string }> = {
  running: { icon: IconPlayerPlay, color: 'var(--accent)', meaning: 'Rows are being sent.' },
  paused: {
    icon: IconPlayerPause,
    color: 'var(--state-rejected)',
    meaning: 'Nothing new is sent until it is resumed.',
  },
  ready: {
    icon: IconCircleDashed,
    color: 'var(--state-pending)',
    meaning: 'The rows are read and checked; nothing is being sent.',
  },
  awaiting: {
    icon: IconClock,
    color: 'var(--state-acknowledged)',
    meaning: 'Everything is sent; callbacks are awaited.',
  },
  completed: {
    icon: IconCircleCheck,
    color: 'var(--state-succeeded)',
    meaning: 'Everything that was to be sent was sent.',
  },
  'not connected': {
    icon: IconPlugConnectedX,
    color: 'var(--state-unknown)',
    meaning: 'The connection to Sluice is lost; what the run does is not known here.',
  },
  'threshold failed': {
    icon: IconCircleX,
    color: 'var(--state-failed)',
    meaning: 'A threshold of the load test does not hold.',
  },
  'stopped, threshold failed': {
    icon: IconCircleX,
    color: 'var(--state-failed)',
    meaning: 'It stopped by itself before the end, and a threshold does not hold.',
  },
  'interrupted, threshold failed': {
    icon: IconCircleX,
    color: 'var(--state-failed)',
    meaning: 'It was stopped before the end, and a threshold does not hold until then.',
  },
  'no success': {
    icon: IconCircleX,
    color: 'var(--state-failed)',
    meaning: 'No request of the load test succeeded.',
  },
  stopped: {
    icon: IconPlayerStop,
    color: 'var(--state-rejected)',
    meaning: 'It stopped by itself before the end; the reason stands with the run.',
  },
  interrupted: {
    icon: IconPlugConnectedX,
    color: 'var(--state-unknown)',
    meaning: 'It was stopped before the end and can be resumed.',
  },
}

/** Differences for load tests, which count requests and are never resumed. */
const LOAD_MEANINGS: Partial<Record<DisplayState, string>> = {
  running: 'Requests are being sent.',
  completed: 'It was measured to its end.',
  interrupted: 'Stopped early; results cover the time until then.',
}

export function RunStateLabel(props: { state: DisplayState; isLoadTest?: boolean }) {
  const { state, isLoadTest = false } = props
  const { meaning, ...look } = LOOKS[state]
  const title = (isLoadTest ? LOAD_MEANINGS[state] : undefined) ?? meaning
  return <IconLabel {...look} word={state} title={title} />
}

/** Whether a run is a load test, which counts requests and has no results by row. */
export function isLoadTest(run: RunSummary): boolean {
  return run.thresholds !== undefined
}

/** How many of a load test's thresholds failed: `✗ 1 of 2 thresholds failed`; null if it has none. */
export function describeThresholds({ thresholds = [] }: RunSummary): string | null {
  if (thresholds.length === 0) return null
  const failed = thresholds.filter(({ ok }) => !ok).length
  const noun = thresholds.length === 1 ? 'threshold' : 'thresholds'
  return failed === 0
    ? `✓ ${thresholds.length} ${noun} held`
    : `✗ ${failed} of ${thresholds.length} ${noun} failed`
}

const VERDICT_LOOKS = {
  held: { icon: IconCircleCheck, color: 'var(--state-succeeded)' },
  failed: { icon: IconCircleX, color: 'var(--state-failed)' },
  void: { icon: IconAlertTriangle, color: 'var(--state-rejected)' },
} as const

/** Whether something passed, as a word with its own icon and colour; `void` is neither. */
export function VerdictLabel({ verdict, word }: { verdict: keyof typeof VERDICT_LOOKS; word: string }) {
  const { icon: Icon, color } = VERDICT_LOOKS[verdict]
  return (
    <span className={styles.verdict} style={{ color }}>
      <Icon size="1.1em" stroke={2} aria-hidden />
      {word}
    </span>
  )
}
