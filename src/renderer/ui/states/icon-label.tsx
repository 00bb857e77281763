import type { TablerIcon } from '@tabler/icons-react'
import styles from './states.module.css'

/** A word in its colour, after an icon of its own shape. */
export function IconLabel(props: { icon: TablerIcon; color: string; word: string; title?: string }) {
  const { icon: Icon, color, title } = props
  return (
    <span
      className={`inline-flex items-center medium nowrap ${styles.label}`}
      style={{ color }}
      title={title}
    >
      <Icon size="1.1em" stroke={2} className="flex-none" aria-hidden />
      {props.word}
    </span>
  )
}
