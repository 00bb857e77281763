import { Button } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconCircleX, IconInfoCircle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { toShownError } from '../../../shared/bridge/errors.ts'
import type { Exported } from '../../../shared/bridge/results.ts'
import { formatBytes } from '../../../shared/messages/figure-text.ts'
import { SafeText } from '../text/safe-text.tsx'
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

/** A file that was written: `what`, its size, and where it is. */
export function ExportedNotice({ exported, what }: { exported: Exported; what: string }) {
  return (
    <Notice kind="good" title={`${what}, ${formatBytes(exported.sizeBytes)}`}>
      <SafeText
        text={exported.kind === 'file' ? exported.file : `${exported.name}, in your downloads`}
        max={300}
        lines
      />
    </Notice>
  )
}

/** Why a call to the engine failed, and what to do. */
export function ErrorNotice(props: { error: unknown; onRetry?: () => void; onDismiss?: () => void }) {
  const { message, hint } = toShownError(props.error)
  return (
    <Notice
      kind="error"
      title={<SafeText text={message} max={1_000} lines />}
      actions={
        <>
          {props.onRetry && (
            <Button variant="default" size="compact-xs" onClick={() => props.onRetry?.()}>
              Try again
            </Button>
          )}
          {props.onDismiss && (
            <Button variant="default" size="compact-xs" onClick={() => props.onDismiss?.()}>
              Dismiss
            </Button>
          )}
        </>
      }
    >
      <SafeText text={hint} max={1_000} lines />
    </Notice>
  )
}
