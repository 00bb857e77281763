import type { RowState } from '../../../shared/run/results.ts'
import { toStateLook } from './state-looks.ts'
import styles from './states.module.css'

/** A state as an icon and a word in its colour; the word can be left to the reader's voice alone in tight places. */
export function StateLabel({
  state,
  attempts = 0,
  iconOnly = false,
}: {
  state: RowState
  /** Tries so far, of a row. */
  attempts?: number
  iconOnly?: boolean
}) {
  const look = toStateLook({ state, attempts })
  const Icon = look.icon
  return (
    <span className={styles.label} style={{ color: look.color }} title={look.meaning}>
      <Icon size="1.1em" stroke={2} aria-hidden />
      <span className={iconOnly ? 'visually-hidden' : undefined}>{look.word}</span>
    </span>
  )
}
