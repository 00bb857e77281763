import { useEffect } from 'react'
import type { AppDescription } from '../../shared/bridge/app.ts'
import { useAction } from '../bridge/use-action.ts'
import { CheckScreen } from '../features/check/check-screen.tsx'
import { MappingScreen } from '../features/mapping/mapping-screen.tsx'
import { ReviewScreen } from '../features/review/review-screen.tsx'
import { SourceScreen } from '../features/source/source-screen.tsx'
import { ErrorNotice } from '../ui/layout/error-notice.tsx'
import { changeDraft, useDraft } from './draft.ts'
import {
  applySettings,
  changeReading,
  checkDraft,
  continueFromSource,
  keepPreview,
  openSandboxTrial,
  sendAll,
  sendFirst,
} from './flow.ts'
import type { DraftStep } from './route.ts'
import styles from './shell/shell.module.css'
import type { OpenFile } from './use-open-file.ts'
import { goTo } from './use-route.ts'

/** The step that can be shown: one whose forerunners are missing gives way to the last that has them. */
function toShownStep(step: DraftStep, draft: { preview: unknown; heldRunId: string | null }): DraftStep {
  if (step === 'source' || draft.preview === null) return 'source'
  if (step === 'mapping' || draft.heldRunId !== null) return step
  return 'mapping'
}

/** The screens of a run that is being prepared, over the draft of this window. */
export function DraftScreens(props: { step: DraftStep; app: AppDescription | null; file: OpenFile }) {
  const draft = useDraft()
  const step = toShownStep(props.step, draft)
  const proceed = useAction(step === 'mapping' ? checkDraft : continueFromSource)
  const sandbox = useAction(openSandboxTrial)
  useEffect(() => {
    if (step !== props.step) goTo({ kind: 'draft', step }, { replace: true })
  }, [step, props.step])

  const error = proceed.error ?? sandbox.error ?? props.file.error
  const runId = draft.heldRunId ?? ''
  return (
    <>
      {error !== null && (
        <div className={styles.above}>
          <ErrorNotice error={error} />
        </div>
      )}
      {step === 'source' && (
        <SourceScreen
          source={draft.source}
          upload={props.file.upload}
          reading={draft.reading}
          busy={proceed.busy}
          onChoose={props.file.choose}
          onSandbox={() => void sandbox.run()}
          onReading={changeReading}
          onPreview={keepPreview}
          onContinue={() => void proceed.run()}
        />
      )}
      {step === 'mapping' && draft.preview !== null && (
        <MappingScreen
          preview={draft.preview}
          mapping={draft.mapping}
          operation={draft.operation}
          busy={proceed.busy}
          onMapping={(mapping) => changeDraft({ mapping })}
          onOperation={(operation) => changeDraft({ operation })}
          onContinue={() => void proceed.run()}
        />
      )}
      {step === 'check' && (
        <CheckScreen
          key={runId}
          runId={runId}
          mapping={draft.mapping}
          onBack={() => goTo({ kind: 'draft', step: 'source' })}
          onContinue={() => goTo({ kind: 'draft', step: 'review' })}
        />
      )}
      {step === 'review' && (
        <ReviewScreen
          runId={runId}
          settings={draft.settings}
          environmentHasKey={props.app?.hasEnvironmentKey ?? false}
          onSettings={applySettings}
          onSendFirst={sendFirst}
          onSendAll={sendAll}
        />
      )}
    </>
  )
}
