import { create } from 'zustand'
import type { BridgePreview } from '../../shared/bridge/source.ts'
import type { Mapping, Operation } from '../../shared/plan.ts'
import { DEFAULT_SETTINGS, type Settings } from '../features/review/settings.ts'
import type { ChosenSource } from '../features/source/chosen-source.ts'
import type { Reading } from '../features/source/source-controls.tsx'

/** A run that is being prepared: what each step has decided so far. */
export interface Draft {
  source: ChosenSource | null
  reading: Reading
  preview: BridgePreview | null
  mapping: Mapping
  operation: Operation
  settings: Settings
  /** The run that holds the checked rows and has sent nothing, or only the first few; null before the check. */
  heldRunId: string | null
}

const EMPTY: Draft = {
  source: null,
  reading: { header: true },
  preview: null,
  mapping: {},
  operation: { kind: 'task', mode: 'sync', api: 'v1', legacy: false, models: [] },
  settings: DEFAULT_SETTINGS,
  heldRunId: null,
}

/** The draft of this window. Holds the API key in memory alone: nothing here is ever stored. */
export const useDraft = create<Draft>(() => EMPTY)

/** Changes some of the draft. */
export function changeDraft(change: Partial<Draft>): void {
  useDraft.setState(change)
}

/** Begins anew with another source; where and how fast to send stay as they were. */
export function restartDraft(source: ChosenSource | null): void {
  useDraft.setState(({ settings }) => ({ ...EMPTY, settings, source }))
}
