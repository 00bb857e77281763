import type { TablerIcon } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import styles from './layout.module.css'

/** What stands where there is nothing yet: what will be here, and how it comes to be. */
export function Empty(props: { icon: TablerIcon; title: string; children?: ReactNode; actions?: ReactNode }) {
  const Icon = props.icon
  return (
    <div className={styles.empty}>
      <Icon size="2rem" stroke={1.25} aria-hidden />
      <p className={styles.emptyTitle}>{props.title}</p>
      {props.children !== undefined && <div className={styles.emptyText}>{props.children}</div>}
      {props.actions !== undefined && <div className={styles.emptyActions}>{props.actions}</div>}
    </div>
  )
}
