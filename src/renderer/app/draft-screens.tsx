import { Group } from '@mantine/core'
import {
  type Icon,
  IconArrowsSplit2,
  IconListCheck,
  IconSend,
  IconTable,
  IconTargetArrow,
  IconTrash,
} from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { AppDescription } from '../../shared/bridge/app.ts'
import type { ConnectionEntry } from '../../shared/bridge/connections.ts'
import { toPlanMapping, toWholeMapping } from '../../shared/mapping/match-columns.ts'
import { CheckScreen } from '../features/check/check-screen.tsx'
import { MappingScreen } from '../features/mapping/mapping-screen.tsx'
import { toCapacityBounds, toPlanLoad } from '../features/operation/load-settings.ts'
import { OperationScreen } from '../features/operation/operation-screen.tsx'
import { ReviewScreen } from '../features/review/review-screen.tsx'
import { withDestination } from '../features/review/settings.ts'
import { SourceScreen } from '../features/source/source-screen.tsx'
import { nameDestination, toServiceUrl } from '../ui/connection/destination.ts'
import { ActionButton } from '../ui/controls.tsx'
import { ErrorNotice, Screen, ScreenFrame } from '../ui/layout/screen.tsx'
import { OperationStrip } from '../ui/operations/operation-looks.tsx'
import type { KeyNames } from '../ui/problems/sent-before.tsx'
import { SafeText } from '../ui/text/safe-text.tsx'
import { type Draft, useDraft } from './draft.ts'
import {
  applySettings,
  changeChecked,
  changeFixes,
  changeMapping,
  changeOperation,
  changeReading,
  checkDraft,
  chooseActivity,
  chooseOnlyNew,
  continueFromOperation,
  continueFromSource,
  discardDraft,
  keepPreview,
  leaveOutFile,
  openSandboxTrial,
  openScratchpad,
  searchCapacity,
  sendAll,
  sendFirst,
  showSent,
  useIsChecking,
} from './flow.ts'
import type { OpenFile } from './open-file.tsx'
import { type DraftStep, goTo } from './route.ts'
import { findMediaTodo, findOperationTodo } from './run-request.ts'
import { type Place, PlaceLink } from './shell/rail.tsx'
import styles from './shell/shell.module.css'

/** The step to show: if earlier steps are incomplete, the last one whose earlier steps are complete. */
function toShownStep(step: DraftStep, draft: { preview: unknown; heldRunId: string | null }): DraftStep {
  if (step === 'operation') return step
  if (step === 'source' || draft.preview === null) return 'source'
  if (step === 'mapping' || draft.heldRunId !== null) return step
  return 'mapping'
}

const goToOperation = () => goTo({ kind: 'draft', step: 'operation' })
const goToSource = () => goTo({ kind: 'draft', step: 'source' })

/** The screens of a run that is being prepared; they show this window's draft. */
export function DraftScreens(props: {
  step: DraftStep
  app: AppDescription | null
  connections: readonly ConnectionEntry[]
  file: OpenFile
}) {
  const { app, connections, file } = props
  const draft = useDraft()
  const isChecking = useIsChecking()
  const step = toShownStep(props.step, draft)
  const proceed = useMutation({ mutationFn: step === 'mapping' ? checkDraft : continueFromSource })
  const sandbox = useMutation({ mutationFn: openSandboxTrial })
  const { isRestoring } = draft
  useEffect(() => {
    if (!isRestoring && step !== props.step) goTo({ kind: 'draft', step }, { replace: true })
  }, [isRestoring, step, props.step])

  if (isRestoring)
    return (
      <Screen title="New run" subtitle="Taking up where this window was">
        {null}
      </Screen>
    )
  const error = proceed.error ?? sandbox.error ?? file.error
  const runId = draft.heldRunId ?? ''
  const { operation, settings } = draft
  const { models } = draft.mapping
  const load = draft.isLoad ? toPlanLoad(draft.load) : undefined
  const operationTodo = findOperationTodo(draft, { connections })
  const strip = (
    <OperationStrip
      operation={operation}
      {...(load !== undefined && { load })}
      destination={nameDestination(settings.destination, connections)}
      gap={operationTodo}
      onChange={goToOperation}
    />
  )
  return (
    <ScreenFrame value={{ above: <Stepper current={step} /> }}>
      {error !== null && (
        <div className={styles.above}>
          <ErrorNotice error={error} />
        </div>
      )}
      {step === 'operation' && (
        <OperationScreen
          operation={operation}
          modelsColumn={models?.kind === 'column' ? String(models.column) : null}
          load={draft.isLoad ? draft.load : null}
          callback={draft.callback}
          destination={settings.destination}
          connections={connections}
          lastBaseUrl={app?.lastBaseUrl ?? null}
          todo={operationTodo}
          onActivity={chooseActivity}
          onOperation={changeOperation}
          onLoad={(changed) => changeChecked({ isOperationChosen: true, load: changed })}
          onCallback={(callback) => changeChecked({ callback })}
          onDestination={(destination) =>
            changeChecked({
              isOperationChosen: true,
              isDestinationChosen: true,
              settings: withDestination(settings, destination, connections),
            })
          }
          onContinue={continueFromOperation}
        />
      )}
      {step === 'source' && (
        <SourceScreen
          source={draft.source}
          upload={file.upload}
          reading={draft.reading}
          media={draft.media}
          serviceUrl={toServiceUrl(settings.destination, connections)}
          operation={operation}
          mapping={draft.mapping}
          strip={strip}
          todo={operationTodo ?? findMediaTodo(draft)}
          busy={proceed.isPending}
          onChoose={file.choose}
          onChooseFolder={file.chooseFolder}
          onSandbox={() => sandbox.mutate()}
          onReading={changeReading}
          onMapping={changeMapping}
          onMedia={(media) => changeChecked({ media })}
          onLeaveOut={leaveOutFile}
          onPreview={keepPreview}
          onContinue={() => proceed.mutate()}
        />
      )}
      {step === 'mapping' && draft.preview !== null && (
        <MappingScreen
          preview={draft.preview}
          mapping={draft.mapping}
          operation={operation}
          strip={strip}
          todo={operationTodo}
          busy={proceed.isPending}
          onMapping={changeMapping}
          onContinue={() => proceed.mutate()}
        />
      )}
      {step === 'check' && (
        <CheckScreen
          runId={runId}
          operation={operation}
          isLoad={draft.isLoad}
          columns={draft.preview?.columns ?? []}
          mapping={draft.mapping}
          fixes={draft.fixes}
          parentRunId={null}
          place={null}
          onFixes={changeFixes}
          onBack={goToSource}
          onContinue={() => goTo({ kind: 'draft', step: 'review' })}
          onScratchpad={openScratchpad}
        />
      )}
      {step === 'review' && (
        <ReviewScreen
          runId={runId}
          isChecking={isChecking}
          operation={operation}
          load={load ?? null}
          bounds={draft.isLoad ? toCapacityBounds(draft.load) : null}
          settings={settings}
          connections={connections}
          lastBaseUrl={app?.lastBaseUrl ?? null}
          onSettings={applySettings}
          onlyNew={draft.onlyNew ?? null}
          keyNames={toKeyNames(draft)}
          onOnlyNew={chooseOnlyNew}
          onSendFirst={sendFirst}
          onSendAll={sendAll}
          onOpenRun={showSent}
          onSearch={searchCapacity}
          onMend={(step) => goTo({ kind: 'draft', step })}
          onScratchpad={openScratchpad}
        />
      )}
    </ScreenFrame>
  )
}

/** The fields that a draft sends, and the columns of its source. */
function toKeyNames({ mapping, preview, operation }: Draft): KeyNames {
  const columns = preview?.columns ?? []
  const whole = toWholeMapping({ operation, mapping: toPlanMapping(mapping, columns, operation) }, columns)
  const isFilled = (field: string) => {
    const source = whole[field]
    return source?.kind === 'column' || source?.template !== ''
  }
  return { fields: Object.keys(whole).filter(isFilled), columns }
}

/** The steps of a new run, in order; a step that cannot be opened yet says why. */
export function toSteps(draft: Pick<Draft, 'source' | 'preview' | 'heldRunId'>, current: DraftStep): Place[] {
  const hasPreview = draft.preview !== null
  const isChecked = draft.heldRunId !== null
  /** `why` says why it is closed, if it is. */
  const toStep = (step: DraftStep, icon: Icon, done: boolean, why?: string | false): Place => ({
    label: `${step.charAt(0).toUpperCase()}${step.slice(1)}`,
    icon,
    done: done && step !== current,
    route: { kind: 'draft', step },
    ...(why && { closed: why }),
  })
  return [
    toStep('operation', IconTargetArrow, draft.source !== null),
    toStep('source', IconTable, hasPreview),
    toStep('mapping', IconArrowsSplit2, isChecked, !hasPreview && 'choose a source first'),
    toStep('check', IconListCheck, isChecked && current === 'review', !isChecked && 'map the columns first'),
    toStep('review', IconSend, false, !isChecked && 'check the rows first'),
  ]
}

/** Shown above each step of a new run. Opening another place leaves the draft unchanged. */
function Stepper({ current }: { current: DraftStep }) {
  const draft = useDraft()
  return (
    <div className={`flex-wrap items-center border-b ${styles.stepper}`}>
      <div className={`gap-2 min-w-0 nowrap ${styles.stepperHead}`} title={draft.source?.name}>
        <strong>New run</strong>
        {draft.source !== null && <SafeText text={draft.source.name} max={80} />}
      </div>
      <nav className="flex-1" aria-label="Steps of the new run">
        <Group component="ol" gap="0 var(--space-1)" align="stretch">
          {toSteps(draft, current).map((place) => (
            <li key={place.label} className="flex">
              <PlaceLink
                place={place}
                here={'step' in place.route && place.route.step === current ? 'page' : undefined}
              />
            </li>
          ))}
        </Group>
      </nav>
      {draft.source !== null && (
        <ActionButton
          label="Start over"
          variant="subtle"
          color="gray"
          small
          icon={IconTrash}
          onClick={discardDraft}
        />
      )}
    </div>
  )
}
