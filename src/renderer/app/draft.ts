import { create } from 'zustand'
import type { BridgePreview, ChosenSource } from '../../shared/bridge/source.ts'
import type { Operation } from '../../shared/operations/operations.ts'
import type { Fix } from '../../shared/plan/fixes.ts'
import type { Mapping, Plan } from '../../shared/plan/plan.ts'
import { DEFAULT_LOAD, type LoadSettings } from '../features/operation/load-settings.ts'
import {
  type CallbackSettings,
  chooseOperation,
  DEFAULT_CALLBACK,
  type RememberedOperations,
} from '../features/operation/operation-settings.ts'
import { DEFAULT_SETTINGS, type Settings } from '../features/review/settings.ts'
import { DEFAULT_MEDIA, type MediaSettings, type Reading } from '../features/source/reading.ts'
import type { DraftStep } from './route.ts'

/** A run that is being prepared: what each step has decided so far. */
export interface Draft {
  operation: Operation
  /** Whether the operation was chosen in this window; until then it is that of the newest run. */
  isOperationChosen: boolean
  /** Whether where the rows go was chosen in this window; until then it is the connection in use. */
  isDestinationChosen: boolean
  /** What was set for the other operations. */
  remembered: RememberedOperations
  /** Whether the rows are for a load test. */
  isLoad: boolean
  load: LoadSettings
  callback: CallbackSettings
  settings: Settings
  source: ChosenSource | null
  reading: Reading
  media: MediaSettings
  preview: BridgePreview | null
  mapping: Mapping
  /** What is sent otherwise than the source has it. */
  fixes: readonly Fix[]
  /** That only rows are sent which were not sent before; null while all are. */
  onlyNew: Plan['onlyNew'] | null
  /** Whether what this window had before a reload is being taken up again. */
  isRestoring: boolean
  /** The run that holds the checked rows and has sent nothing, or only the first few; null before the check. */
  heldRunId: string | null
}

/** What a window begins with where nothing was done before. */
export const FIRST_OPERATION: Operation = {
  kind: 'task',
  mode: 'sync',
  api: 'v1',
  legacy: false,
  models: [],
}

/** What begins again with another source. */
const OF_SOURCE = {
  source: null,
  reading: { header: true },
  preview: null,
  mapping: {},
  fixes: [],
  onlyNew: null,
  isRestoring: false,
  heldRunId: null,
} satisfies Partial<Draft>

const EMPTY: Draft = {
  operation: FIRST_OPERATION,
  isOperationChosen: false,
  isDestinationChosen: false,
  remembered: {},
  isLoad: false,
  load: DEFAULT_LOAD,
  callback: DEFAULT_CALLBACK,
  settings: DEFAULT_SETTINGS,
  media: DEFAULT_MEDIA,
  ...OF_SOURCE,
}

/** The draft of this window. Holds the API key in memory alone. */
export const useDraft = create<Draft>(() => EMPTY)

/** How far the draft has come: the step to go on with. */
export function toFurthestStep({ source, preview, heldRunId }: Draft): DraftStep {
  if (heldRunId !== null) return 'review'
  if (preview !== null) return 'mapping'
  return source === null ? 'operation' : 'source'
}

export function changeDraft(change: Partial<Draft>): void {
  useDraft.setState(change)
}

/** Begins again with another source; what is done with it, where and how fast stay as they were. */
export function restartDraft(source: ChosenSource | null): void {
  useDraft.setState({ ...OF_SOURCE, source })
}

/** Begins again with nothing: the kind of operation, where and how fast stay; its options and the source go. */
export function clearDraft(): void {
  restartDraft(null)
  useDraft.setState(({ operation }) => ({
    operation: chooseOperation(operation.kind, {}),
    isOperationChosen: true,
    remembered: {},
  }))
}
