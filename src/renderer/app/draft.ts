import { z } from 'zod'
import { create } from 'zustand'
import type { BridgePreview, ChosenSource } from '../../shared/bridge/source.ts'
import { chosenSourceSchema } from '../../shared/bridge/source.ts'
import type { Operation } from '../../shared/operations/operations.ts'
import { operationSchema } from '../../shared/operations/operations.ts'
import type { Fix } from '../../shared/plan/fixes.ts'
import { fixesSchema } from '../../shared/plan/fixes.ts'
import { planSchema } from '../../shared/plan/plan.ts'
import { bridge } from '../bridge/client.ts'
import { DEFAULT_LOAD, loadSettingsSchema } from '../features/operation/load-settings.ts'
import {
  chooseOperation,
  DEFAULT_CALLBACK,
  type RememberedOperations,
} from '../features/operation/operation-settings.ts'
import { DEFAULT_SETTINGS, type Settings, sendingSettingsSchema } from '../features/review/settings.ts'
import { DEFAULT_MEDIA, PREVIEW_ROWS, readingSchema } from '../features/source/reading.ts'
import type { DraftStep } from './route.ts'

/** A window's first operation if nothing was done before. */
export const FIRST_OPERATION: Operation = {
  kind: 'task',
  mode: 'sync',
  api: 'v1',
  legacy: false,
  models: [],
}

const destinationSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sandbox') }),
  z.object({ kind: z.literal('stored'), name: z.string() }),
  z.object({ kind: z.literal('service'), baseUrl: z.string(), taskBaseUrl: z.string() }),
])

/** What survives a reload of the page: everything except the API key and the content of rows. */
const memorySchema = z.object({
  // An operation whose index or watchlist was not typed yet is invalid, so the first one replaces it.
  operation: operationSchema.catch(FIRST_OPERATION),
  /** Whether the operation was chosen in this window; until then it is the newest run's. */
  isOperationChosen: z.boolean().catch(true),
  /** Whether the destination was chosen in this window; until then it is the connection in use. */
  isDestinationChosen: z.boolean().catch(true),
  isLoad: z.boolean().catch(false),
  load: loadSettingsSchema.catch(DEFAULT_LOAD),
  callback: z.object({ publicUrl: z.string(), overdueMinutes: z.int().min(1) }),
  settings: sendingSettingsSchema.extend({ destination: destinationSchema }),
  source: chosenSourceSchema.nullable(),
  reading: readingSchema,
  media: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('host'), publicUrl: z.string() }),
    z.object({ kind: z.literal('template'), template: z.string() }),
  ]),
  mapping: planSchema.shape.mapping.unwrap(),
  /** Corrections of what the source has. */
  fixes: fixesSchema.default([]),
  /** Restricts sending to rows that were not sent before; null to send all. */
  onlyNew: planSchema.shape.onlyNew.nullable().default(null),
  /** The run that holds the checked rows and has sent none or only the first few; null before the check. */
  heldRunId: z.string().nullable(),
})

type Memory = z.infer<typeof memorySchema>

/** A run that is being prepared: the decisions of each step so far. */
export interface Draft extends Omit<Memory, 'settings' | 'fixes'> {
  remembered: RememberedOperations
  settings: Settings
  preview: BridgePreview | null
  fixes: readonly Fix[]
  /** The fixes that the held rows were checked with. */
  heldFixes: readonly Fix[]
  /** Whether this window's draft from before a reload is being restored. */
  isRestoring: boolean
}

/** Parts that are reset with another source. */
const OF_SOURCE = {
  source: null,
  reading: { header: true },
  preview: null,
  mapping: {},
  fixes: [],
  heldFixes: [],
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

/** The draft of this window. It keeps the API key in memory only. */
export const useDraft = create<Draft>(() => EMPTY)

/** The furthest step that the draft can continue with. */
export function toFurthestStep({ source, preview, heldRunId }: Draft): DraftStep {
  if (heldRunId !== null) return 'review'
  if (preview !== null) return 'mapping'
  return source === null ? 'operation' : 'source'
}

export function changeDraft(change: Partial<Draft>): void {
  useDraft.setState(change)
}

/** Resets the draft to another source; operation and destination stay, the number in flight does not. */
export function restartDraft(source: ChosenSource | null): void {
  useDraft.setState(({ settings }) => ({
    ...OF_SOURCE,
    source,
    settings: { ...settings, concurrency: DEFAULT_SETTINGS.concurrency },
  }))
}

/** Resets the draft; the kind of operation and the destination stay, its options and the source do not. */
export function clearDraft(): void {
  restartDraft(null)
  useDraft.setState(({ operation }) => ({
    operation: chooseOperation(operation.kind, {}),
    isOperationChosen: true,
    remembered: {},
  }))
}

/** The stored part of a draft: the schema's members, which exclude the typed key. */
export function toMemory(draft: Draft): Memory {
  // Fixes of single cells contain their text; they are restored from the held run's plan.
  return memorySchema.parse({ ...draft, fixes: draft.fixes.filter(({ kind }) => kind !== 'cell') })
}

/** Reads the result of {@link toMemory}; null if it is from another version, or incomplete. */
export function parseMemory(
  text: string | null,
): Omit<Draft, 'preview' | 'remembered' | 'heldFixes' | 'isRestoring'> | null {
  const { data } = memorySchema.safeParse(parseJson(text))
  if (data === undefined) return null
  const { destination } = data.settings
  return {
    ...data,
    settings: {
      ...data.settings,
      destination: destination.kind === 'sandbox' ? destination : { ...destination, apiKey: '' },
    },
  }
}

function parseJson(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text)
  } catch {
    return null
  }
}

const KEY = 'sluice.draft'

function forgetDraft(): void {
  try {
    sessionStorage.removeItem(KEY)
  } catch {
    // It stores nothing.
  }
}

/** Keeps this window's draft over a reload of the page; each window has its own. */
export function rememberDraft(): void {
  useDraft.subscribe((draft) => {
    if (draft.isRestoring) return
    try {
      sessionStorage.setItem(KEY, JSON.stringify(toMemory(draft)))
    } catch {
      // If the browser stores nothing, the page loses the draft, as it says; but no older one may return.
      forgetDraft()
    }
  })
}

/**
 * Restores the draft that this window had before a reload: reads the source again, and keeps the checked rows
 * if the engine still holds them. Missing parts are left out; the API key must be typed again.
 */
export async function restoreDraft(): Promise<void> {
  const memory = parseMemory(sessionStorage.getItem(KEY))
  if (memory === null) return
  const { source, reading, heldRunId, ...rest } = memory
  changeDraft({ ...rest, reading, isRestoring: source !== null })
  if (source === null) return
  try {
    const [preview, held] = await Promise.all([
      bridge.source.preview({ source: { sourceId: source.sourceId, ...reading }, limit: PREVIEW_ROWS }),
      heldRunId === null ? null : readHeld(heldRunId),
    ])
    // Another source was chosen meanwhile.
    if (!useDraft.getState().isRestoring) return
    changeDraft({ heldRunId: null, ...held, source, preview, isRestoring: false })
  } catch {
    if (!useDraft.getState().isRestoring) return
    // The file is gone or unreadable, so the choices for it are useless.
    changeDraft({ source: null, preview: null, mapping: {}, fixes: [], isRestoring: false })
  }
}

/** A run that the engine still holds, and the fixes that its rows were checked with; null if it is gone. */
async function readHeld(heldRunId: string): Promise<Pick<Draft, 'heldRunId' | 'fixes' | 'heldFixes'> | null> {
  const { entries } = await bridge.runs.list({ search: heldRunId })
  if (!entries.some(({ summary, isHeld }) => isHeld && summary.run_id === heldRunId)) return null
  const { fixes = [] } = await bridge.runs.readPlan({ runId: heldRunId })
  return { heldRunId, fixes, heldFixes: fixes }
}
