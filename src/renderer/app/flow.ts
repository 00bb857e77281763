import { create } from 'zustand'
import type { AppDescription } from '../../shared/bridge/app.ts'
import type { ConnectionEntry } from '../../shared/bridge/connections.ts'
import type { RunRequestInput } from '../../shared/bridge/runs.ts'
import type { BridgePreview, ChosenSource } from '../../shared/bridge/source.ts'
import { isObvious } from '../../shared/mapping/check-mapping.ts'
import { keepKnownFields, suggestMapping } from '../../shared/mapping/match-columns.ts'
import { isSameMapping } from '../../shared/mapping/saved-mappings.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { type Operation, withTarget } from '../../shared/operations/operations.ts'
import type { Fix } from '../../shared/plan/fixes.ts'
import type { Mapping } from '../../shared/plan/plan.ts'
import type { AcceptCode } from '../../shared/run/accept-code.ts'
import { ask, bridge, queryClient } from '../bridge/client.ts'
import type { ListDraft } from '../features/lists/lists-screen.tsx'
import { toCapacityBounds } from '../features/operation/load-settings.ts'
import { chooseOperation } from '../features/operation/operation-settings.ts'
import { type Settings, withDestination } from '../features/review/settings.ts'
import { openFromRow } from '../features/scratchpad/scratchpad.ts'
import type { Reading } from '../features/source/reading.ts'
import {
  type Destination,
  findEntry,
  nameDestination,
  rememberTypedKey,
} from '../ui/connection/destination.ts'
import { dismissToast, showToast } from '../ui/layout/toasts.tsx'
import type { Activity } from '../ui/operations/operation-looks.tsx'
import { changeDraft, clearDraft, type Draft, restartDraft, toFurthestStep, useDraft } from './draft.ts'
import { goTo } from './route.ts'
import { findOperationTodo, toRunRequest, typedKey } from './run-request.ts'

/** Begins a new draft with a source, and shows it. */
export function openSource(source: ChosenSource): void {
  dismissToast(STARTED_OVER)
  dropRun(useDraft.getState().heldRunId)
  restartDraft(source)
  goTo({ kind: 'draft', step: 'source' })
}

/** Goes on with the draft where it was left. */
export function continueDraft(): void {
  goTo({ kind: 'draft', step: toFurthestStep(useDraft.getState()) })
}

const STARTED_OVER = 'started-over'

/**
 * Resets the draft: the kind of operation and the destination stay; its options, the number in flight and the
 * source are removed, which can be undone. The rows must be checked again then.
 */
export function discardDraft(): void {
  const draft = useDraft.getState()
  dropRun(draft.heldRunId)
  clearDraft()
  goTo({ kind: 'draft', step: 'operation' })
  showToast({
    key: STARTED_OVER,
    kind: 'info',
    title: 'Started over',
    text: 'Undo brings back the source, its mapping and corrections, and the options.',
    undo: async () => {
      changeDraft({ ...draft, heldRunId: null })
      continueDraft()
    },
  })
}

/** Starts the sandbox and opens its sample, which is content to submit, on the Source screen. */
export async function openSandboxTrial(): Promise<void> {
  const { sample } = await bridge.sandbox.start()
  chooseActivity('task')
  openSource(sample)
  const { settings } = useDraft.getState()
  changeDraft({ isDestinationChosen: true, settings: { ...settings, destination: { kind: 'sandbox' } } })
}

/**
 * Begins a draft for entries of a list, with the service that they came from, and checks it at once. Whatever
 * prevents the check, such as a missing key, is shown by its steps.
 */
export async function openListDraft(
  { kind, list, service, isSandbox, source }: ListDraft,
  connections: readonly ConnectionEntry[],
): Promise<void> {
  chooseActivity(kind)
  const { operation } = useDraft.getState()
  const [connection] = service.connections
  const destination: Destination =
    connection !== undefined
      ? { kind: 'stored', name: connection, apiKey: '' }
      : isSandbox
        ? { kind: 'sandbox' }
        : { kind: 'service', baseUrl: service.base_url, taskBaseUrl: '', apiKey: '' }
  changeOperation(list === null ? operation : withTarget(operation, list))
  openSource(source)
  changeDraft({
    isDestinationChosen: true,
    settings: withDestination(useDraft.getState().settings, destination, connections),
  })
  keepPreview(await bridge.source.preview({ source: { sourceId: source.sourceId, header: true } }))
  if (findOperationTodo(useDraft.getState(), { connections }) === null) await checkDraft()
  else goTo({ kind: 'draft', step: 'operation' })
}

/** Begins with the operation of the newest run, unless the person has chosen something in this window. */
export function beginWith(operation: Operation): void {
  const { isOperationChosen, source } = useDraft.getState()
  if (!isOperationChosen && source === null) changeDraft({ operation })
}

/**
 * Sets the draft's destination to the one in `described`, unless the person chose one in this window or rows
 * are checked. There may already be a source, opened with the program or dropped before `described` arrived.
 * The list of connections is newer than `described` if a connection was just added or put in use.
 */
export function beginAt(
  described: AppDescription['beginsAt'],
  connections: readonly ConnectionEntry[],
): void {
  const inUse = connections.find(({ isInUse }) => isInUse)
  const beginsAt = inUse === undefined ? described : ({ kind: 'stored', name: inUse.name } as const)
  const { isDestinationChosen, isRestoring, heldRunId, settings } = useDraft.getState()
  if (isDestinationChosen || isRestoring || heldRunId !== null) return
  // A plain address only comes from the newest run, which another window may have sent.
  if (beginsAt.kind === 'service' && settings.destination.kind !== 'sandbox') return
  const destination = toDestination(beginsAt)
  // If the stored connection is not listed yet, its destination is set once it is.
  if (destination.kind === 'stored' && findEntry(destination, connections) === null) return
  changeDraft({ settings: withDestination(settings, destination, connections) })
}

function toDestination(beginsAt: AppDescription['beginsAt']): Destination {
  if (beginsAt.kind === 'sandbox') return beginsAt
  return beginsAt.kind === 'stored'
    ? { kind: 'stored', name: beginsAt.name, apiKey: '' }
    : { kind: 'service', baseUrl: beginsAt.baseUrl, taskBaseUrl: '', apiKey: '' }
}

/**
 * Sets the draft's destination to the connection that the person just put in use, overriding earlier choices.
 * Checked rows keep their destination.
 */
export function followConnection(name: string, connections: readonly ConnectionEntry[]): void {
  const { heldRunId, settings } = useDraft.getState()
  if (heldRunId !== null) return
  const destination: Destination = { kind: 'stored', name, apiKey: '' }
  changeDraft({ settings: withDestination(settings, destination, connections) })
}

/** The destination of the draft's checked rows, if not the connection in use; null without such rows. */
export function findOtherPlace(draft: Draft, connections: readonly ConnectionEntry[]): string | null {
  const { destination } = draft.settings
  if (draft.heldRunId === null || findEntry(destination, connections)?.isInUse === true) return null
  return nameDestination(destination, connections).name
}

/** Switches to another operation, or a load test of submitting content; each keeps its earlier settings. */
export function chooseActivity(activity: Activity): void {
  const { operation, remembered } = useDraft.getState()
  const known = { ...remembered, [operation.kind]: operation }
  changeOperation(chooseOperation(activity === 'load' ? 'task' : activity, known))
  changeDraft({ remembered: known, isLoad: activity === 'load' })
}

/** Sets the operation. Columns are matched again if the fields differ. */
export function changeOperation(operation: Operation): void {
  const { operation: old, preview, mapping } = useDraft.getState()
  const isOther = old.kind !== operation.kind
  changeChecked({
    operation,
    isOperationChosen: true,
    ...(isOther && { fixes: [] }),
    mapping: isOther
      ? suggestMapping(preview?.columns ?? [], operation, preview).mapping
      : keepKnownFields(mapping, operation),
  })
}

/** Changes how the source is read. This drops corrections, which name rows and fields as read before. */
export function changeReading(reading: Reading): void {
  changeChecked({ reading, fixes: [] })
}

/** Leaves out one of the source's files, by index. Drops corrections, which name rows as counted before. */
export async function leaveOutFile(file: number): Promise<void> {
  const { source } = useDraft.getState()
  if (source === null) return
  const left = await bridge.source.leaveOut({ sourceId: source.sourceId, file })
  changeChecked({ source: left, fixes: [] })
}

/** Changes what fills the fields. */
export function changeMapping(mapping: Mapping): void {
  changeChecked({ mapping })
}

/** Changes something that checked rows depend on, so they must be checked again. */
export function changeChecked(change: Partial<Draft>): void {
  dropRun(useDraft.getState().heldRunId)
  // The key that identifies rows may change with it.
  changeDraft({ onlyNew: null, ...change, heldRunId: null })
}

/** Stores the source's preview; columns with other names are matched again. */
export function keepPreview(preview: BridgePreview): void {
  const { preview: old, operation } = useDraft.getState()
  if (old !== null && old.columns.join('\n') === preview.columns.join('\n')) changeDraft({ preview })
  else changeDraft({ preview, mapping: suggestMapping(preview.columns, operation, preview).mapping })
}

/** Leaves the Operation screen. From now on the destination counts as chosen. */
export function continueFromOperation(): void {
  changeDraft({ isDestinationChosen: true })
  goTo({ kind: 'draft', step: 'source' })
}

/** Leaves the Source screen: to Mapping, or straight to Check if every header is already a field. */
export async function continueFromSource(): Promise<void> {
  const { preview, operation } = useDraft.getState()
  if (preview === null) return
  const suggested = suggestMapping(preview.columns, operation, preview)
  const isClear = isObvious(suggested, operation, preview.columns, preview.rows)
  if (isClear && !(await wasMappedOtherwise(preview.columns, operation, suggested.mapping)))
    await checkDraft()
  else goTo({ kind: 'draft', step: 'mapping' })
}

/** Whether the last run of a source with the same columns had another mapping, which Mapping then offers. */
async function wasMappedOtherwise(
  columns: readonly string[],
  operation: Operation,
  mapping: Mapping,
): Promise<boolean> {
  const last = await bridge.mappings.findLast({ operation, columns: [...columns] }).catch(() => null)
  return last !== null && !isSameMapping(keepKnownFields(last.mapping, operation), mapping)
}

/** Reads and checks every row without sending, and shows what was found. */
export async function checkDraft(): Promise<void> {
  if (await holdRun()) goTo({ kind: 'draft', step: 'check' })
}

let correcting: Promise<void> = Promise.resolve()

/** Sets the corrections, and checks all rows again; of several changes at once, the last counts. */
export function changeFixes(fixes: Fix[]): Promise<void> {
  changeDraft({ fixes })
  const recheck = correcting.then(async () => {
    if (useDraft.getState().fixes !== fixes) return
    try {
      await holdRun()
    } catch (error) {
      const { fixes: newest, heldFixes } = useDraft.getState()
      if (newest === fixes) changeDraft({ fixes: heldFixes })
      throw error
    }
  })
  correcting = recheck.catch(() => {})
  return recheck
}

/** Whether a run holds the draft's rows: false if another source was opened meanwhile, or none is left. */
async function holdRun(): Promise<boolean> {
  const count = (more: 1 | -1) => useChecks.setState(({ begun }) => ({ begun: begun + more }))
  count(1)
  try {
    return await holdNewest()
  } finally {
    count(-1)
  }
}

/** Number of runs being started to hold the draft's rows. */
const useChecks = create(() => ({ begun: 0 }))

/** Whether the draft's current rows are about to be held; the held ones may be older. */
export function useIsChecking(): boolean {
  return useChecks(({ begun }) => begun > 0)
}

async function holdNewest(): Promise<boolean> {
  const draft = useDraft.getState()
  // A running sandbox forgets earlier submissions, so that the same rows are not duplicates.
  if (draft.settings.destination.kind === 'sandbox') await bridge.sandbox.start()
  const { runId } = await bridge.runs.start(await toStart(draft))
  const now = useDraft.getState()
  if (!isUnchanged(draft, now)) {
    dropRun(runId)
    return now.source === draft.source && holdNewest()
  }
  // The old run goes only now: without any, the screens that need one would close.
  dropRun(now.heldRunId)
  changeDraft({ heldRunId: runId, heldFixes: now.fixes })
  return true
}

/** Whether a run started from one draft has the same rows, destination and pace as another draft. */
function isUnchanged({ heldRunId: _old, heldFixes: _checked, ...before }: Draft, now: Draft): boolean {
  return Object.entries(before).every(([name, value]) => {
    const newest = now[name as keyof Draft]
    // A new value may equal the old one.
    return newest === value || JSON.stringify(newest) === JSON.stringify(value)
  })
}

/** The draft in the form that starts a run, with the typed key, which is remembered. */
async function toStart(draft: Draft): Promise<{ request: RunRequestInput; apiKey?: string }> {
  const { destination } = draft.settings
  const connections = destination.kind === 'stored' ? await bridge.connections.list() : []
  const request = toRunRequest(draft, connections)
  if (request === null) throw toNoPlace(destination)
  const apiKey = typedKey(draft)
  const place =
    request.destination.kind === 'service'
      ? request.destination
      : findEntry(destination, connections)?.connection
  if (apiKey !== null && place !== undefined) rememberTypedKey(place, apiKey)
  return { request, ...(apiKey !== null && { apiKey }) }
}

function toNoPlace(destination: Destination): SluiceError {
  return new SluiceError({
    id: 'destination_missing',
    connection: destination.kind === 'stored' ? destination.name : null,
  })
}

/** Sends all rows, or only rows that were not sent before, for which the source is read again. */
export async function chooseOnlyNew(onlyNew: Draft['onlyNew']): Promise<void> {
  const { onlyNew: before } = useDraft.getState()
  changeDraft({ onlyNew })
  try {
    await holdRun()
    const { heldRunId: runId } = useDraft.getState()
    if (runId !== null) await bridge.runs.awaitReady({ runId })
  } catch (error) {
    changeDraft({ onlyNew: before })
    throw error
  }
}

/** Changes destination and pace. The held run is checked again if it cannot adopt a change. */
export async function applySettings(settings: Settings): Promise<void> {
  const { settings: old, heldRunId } = useDraft.getState()
  changeDraft({ settings, isDestinationChosen: true })
  const { concurrency: _old, ...oldRest } = old
  const { concurrency, ...rest } = settings
  if (JSON.stringify(oldRest) !== JSON.stringify(rest)) {
    try {
      await holdRun()
    } catch (error) {
      // Held rows keep the destination that they were checked for.
      if (useDraft.getState().settings === settings) changeDraft({ settings: old })
      throw error
    }
    const { heldRunId: runId } = useDraft.getState()
    if (runId !== null) await bridge.runs.awaitReady({ runId })
  } else if (heldRunId !== null && concurrency !== old.concurrency) {
    await bridge.runs.setConcurrency({ runId: heldRunId, concurrency })
  }
}

export async function sendFirst(limit: number, accept: AcceptCode[]): Promise<void> {
  const { heldRunId } = useDraft.getState()
  if (heldRunId !== null) await bridge.runs.begin({ runId: heldRunId, limit, accept })
}

/** Sends everything that is left of the held run, and shows the run; the draft is done. */
export async function sendAll(accept: AcceptCode[]): Promise<void> {
  const { heldRunId } = useDraft.getState()
  if (heldRunId === null) return
  await bridge.runs.begin({ runId: heldRunId, accept })
  // Meanwhile, the draft may have been changed or another one begun, which is not done.
  if (useDraft.getState().heldRunId === heldRunId) showSent()
}

/** Shows the run that was made from the draft and has begun to send all rows, and ends the draft. */
export function showSent(): void {
  const draft = useDraft.getState()
  const { heldRunId } = draft
  if (heldRunId === null) return
  useSentDraft.setState({ runId: heldRunId, draft }, true)
  // Change the address first: a draft without a source would redirect to its first step.
  goTo({ kind: 'run', runId: heldRunId })
  restartDraft(null)
}

/** The draft that this window sent last, with its run; only in memory, like drafts. */
const useSentDraft = create<{ runId: string | null; draft: Draft | null }>(() => ({
  runId: null,
  draft: null,
}))

/** Whether the draft of a run can be restored. */
export function useIsDraftKnown(runId: string): boolean {
  return useSentDraft((sent) => sent.runId === runId)
}

/** Begins a new draft from the last sent one, with its source and mapping, at one of its steps. */
export function mendDraft(step: 'operation' | 'mapping'): void {
  const { draft } = useSentDraft.getState()
  if (draft === null) return
  dismissToast(STARTED_OVER)
  dropRun(useDraft.getState().heldRunId)
  changeDraft({ ...draft, heldRunId: null })
  goTo({ kind: 'draft', step })
}

/** Begins a capacity search with the draft's load test as its probe, and shows it; the draft is done. */
export async function searchCapacity(accept: AcceptCode[]): Promise<void> {
  const draft = useDraft.getState()
  const bounds = toCapacityBounds(draft.load)
  if (bounds === null) return
  const { searchId } = await bridge.capacity.start({ ...(await toStart(draft)), bounds, accept })
  void queryClient.invalidateQueries({ queryKey: ask.capacity.key() })
  const { source, heldRunId } = useDraft.getState()
  // Meanwhile, another draft may have been begun, which is not done.
  if (source !== draft.source || heldRunId !== draft.heldRunId) return
  dropRun(draft.heldRunId)
  goTo({ kind: 'capacity', searchId })
  restartDraft(null)
}

/** Ends a held run that is not needed any more; it stays in Runs if it has sent something. */
function dropRun(runId: string | null): void {
  if (runId !== null) bridge.runs.drop({ runId }).catch(() => {})
}

/** Opens the request of a row in the Scratchpad, sent or not. */
export async function openScratchpad(runId: string, row: number): Promise<void> {
  await openFromRow(runId, row)
  goTo({ kind: 'scratchpad' })
}
