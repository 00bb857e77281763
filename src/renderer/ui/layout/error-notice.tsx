import { Button } from '@mantine/core'
import type { WordedError } from '../../../shared/messages/error-messages.ts'
import { SafeText } from '../text/safe-text.tsx'
import { Notice } from './notice.tsx'

/** An error of the engine as a person reads it: what failed, then what to do. */
export function ErrorNotice(props: { error: WordedError; onRetry?: () => void; onDismiss?: () => void }) {
  return (
    <Notice
      kind="error"
      title={<SafeText text={props.error.message} max={1_000} lines />}
      actions={
        <>
          {props.onRetry && (
            <Button variant="default" size="compact-xs" onClick={props.onRetry}>
              Try again
            </Button>
          )}
          {props.onDismiss && (
            <Button variant="default" size="compact-xs" onClick={props.onDismiss}>
              Dismiss
            </Button>
          )}
        </>
      }
    >
      <SafeText text={props.error.hint} max={1_000} lines />
    </Notice>
  )
}
