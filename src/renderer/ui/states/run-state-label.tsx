import {
  IconCircleCheck,
  IconPlayerPlay,
  IconPlayerStop,
  IconPlugConnectedX,
  type TablerIcon,
} from '@tabler/icons-react'
import type { RunState } from '../../../shared/run.ts'
import styles from './states.module.css'

const LOOKS: Record<RunState, { icon: TablerIcon; color: string; meaning: string }> = {
  running: { icon: IconPlayerPlay, color: 'var(--accent)', meaning: 'Rows are being sent.' },
  completed: {
    icon: IconCircleCheck,
    color: 'var(--state-succeeded)',
    meaning: 'Every row that could be sent was sent.',
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

/** A run's state as an icon and a word in its colour. */
export function RunStateLabel({ state }: { state: RunState }) {
  const { icon: Icon, color, meaning } = LOOKS[state]
  return (
    <span className={styles.label} style={{ color }} title={meaning}>
      <Icon size="1.1em" stroke={2} aria-hidden />
      {state}
    </span>
  )
}
