import { IconAlertTriangle, IconCircleCheck, IconCircleX, IconInfoCircle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { toShownError } from '../../../shared/bridge/errors.ts'
import { ActionButton } from '../controls.tsx'
import { MessageText } from '../text/safe-text.tsx'
import styles from './layout.module.css'

const KINDS = {
  info: { icon: IconInfoCircle, word: 'Note', className: styles.noticeInfo },
  good: { icon: IconCircleCheck, word: 'Done', className: styles.noticeGood },
  warning: { icon: IconAlertTriangle, word: 'Warning', className: styles.noticeWarning },
  error: { icon: IconCircleX, word: 'Error', className: styles.noticeError },
} as const

/** Something to know: what happened, and under it what to do. It is announced as it appears. */
export function Notice(props: {
  kind: keyof typeof KINDS
  title: ReactNode
  children?: ReactNode
  actions?: ReactNode
  /** What is around it announces it. */
  isSilent?: boolean
}) {
  const { icon: Icon, word, className } = KINDS[props.kind]
  const role = props.kind === 'error' ? 'alert' : 'status'
  return (
    <div
      className={`flex flex-wrap items-start gap-3 p-3-4 border rounded-large ${styles.notice} ${className}`}
      role={props.isSilent === true ? undefined : role}
    >
      <Icon size="1.25rem" stroke={2} aria-hidden />
      <div className={styles.noticeText}>
        <strong>
          <span className="visually-hidden">{word}: </span>
          {props.title}
        </strong>
        {props.children !== undefined && <div>{props.children}</div>}
      </div>
      {props.actions !== undefined && <div className="flex flex-none gap-2">{props.actions}</div>}
    </div>
  )
}

/** Why a call to the engine failed, and what to do. */
export function ErrorNotice(props: {
  error: unknown
  isSilent?: boolean
  onRetry?: () => void
  onDismiss?: () => void
}) {
  const { message, hint } = toShownError(props.error)
  return (
    <Notice
      kind="error"
      isSilent={props.isSilent === true}
      title={<MessageText text={message} max={1_000} />}
      actions={
        <>
          {props.onRetry && <ActionButton label="Try again" small onClick={() => props.onRetry?.()} />}
          {props.onDismiss && <ActionButton label="Dismiss" small onClick={() => props.onDismiss?.()} />}
        </>
      }
    >
      <MessageText text={hint} max={1_000} />
    </Notice>
  )
}
