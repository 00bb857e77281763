import { IconAlertTriangle, IconCircleCheck, IconCircleX, IconInfoCircle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import styles from './layout.module.css'

const KINDS = {
  info: { icon: IconInfoCircle, word: 'Note', className: styles.noticeInfo },
  good: { icon: IconCircleCheck, word: 'Done', className: styles.noticeGood },
  warning: { icon: IconAlertTriangle, word: 'Warning', className: styles.noticeWarning },
  error: { icon: IconCircleX, word: 'Error', className: styles.noticeError },
} as const

/** Something to know: what happened, and under it what to do. Errors are announced as they appear. */
export function Notice(props: {
  kind: keyof typeof KINDS
  title: ReactNode
  children?: ReactNode
  actions?: ReactNode
}) {
  const { icon: Icon, word, className } = KINDS[props.kind]
  return (
    <div className={`${styles.notice} ${className}`} role={props.kind === 'error' ? 'alert' : 'status'}>
      <Icon size="1.25rem" stroke={2} aria-hidden />
      <div className={styles.noticeText}>
        <strong>
          <span className="visually-hidden">{word}: </span>
          {props.title}
        </strong>
        {props.children !== undefined && <div>{props.children}</div>}
      </div>
      {props.actions !== undefined && <div className={styles.noticeActions}>{props.actions}</div>}
    </div>
  )
}
