import { IconAlertTriangle, IconCircleCheck, IconCircleX } from '@tabler/icons-react'
import styles from './states.module.css'

const LOOKS = {
  held: { icon: IconCircleCheck, color: 'var(--state-succeeded)' },
  failed: { icon: IconCircleX, color: 'var(--state-failed)' },
  void: { icon: IconAlertTriangle, color: 'var(--state-rejected)' },
} as const

/** Whether something held, in a word, with an icon and a colour of its own; `void` says nothing either way. */
export function VerdictLabel({ verdict, word }: { verdict: keyof typeof LOOKS; word: string }) {
  const { icon: Icon, color } = LOOKS[verdict]
  return (
    <span className={styles.verdict} style={{ color }}>
      <Icon size="1.1em" stroke={2} aria-hidden />
      {word}
    </span>
  )
}
