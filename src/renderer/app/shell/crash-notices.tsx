import { sayError } from '../../../shared/messages/error-messages.ts'
import { bridge } from '../../bridge/client.ts'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import { ActionButton } from '../../ui/controls.tsx'
import { Notice } from '../../ui/layout/notice.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { goTo, type Route } from '../route.ts'
import styles from './shell.module.css'

/**
 * What crashed, on every screen until it is dismissed: what is left, and what to do. The screen of a run says itself what
 * ended it.
 */
export function CrashNotices({ route }: { route: Route }) {
  const all = useLiveRuns((live) => live.crashes)
  const shownRunId = route.kind === 'run' ? route.runId : null
  const crashes = all.filter(({ runId }) => runId === null || runId !== shownRunId)
  if (crashes.length === 0) return null
  return (
    <div className={`${styles.above} ${styles.crashes}`}>
      {crashes.map(({ crashId, said, runId }) => {
        const { message, hint } = sayError(said, 'window')
        const dismiss = () => void bridge.crashes.dismiss({ crashId }).catch(() => {})
        return (
          <Notice
            key={crashId}
            kind="error"
            title={<SafeText text={message} max={600} lines />}
            actions={
              <>
                {runId !== null && (
                  <ActionButton
                    label="Open the run"
                    variant="filled"
                    small
                    onClick={() => {
                      goTo({ kind: 'run', runId })
                      dismiss()
                    }}
                  />
                )}
                <ActionButton label="Dismiss" small onClick={dismiss} />
              </>
            }
          >
            {hint}
          </Notice>
        )
      })}
    </div>
  )
}
