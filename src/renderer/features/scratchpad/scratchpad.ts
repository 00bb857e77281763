import { create } from 'zustand'
import type { ScratchDestination, ScratchDraft } from '../../../shared/bridge/scratchpad.ts'
import {
  OPERATIONS,
  type OperationKind,
  type ScratchEndpoint,
} from '../../../shared/operations/operations.ts'
import type { ScratchCallback, ScratchExchange } from '../../../shared/service/scratchpad.ts'
import { bridge } from '../../bridge/client.ts'
import { formatText } from './request-text.ts'

/** What was sent, and what came of it. */
export interface SentRequest {
  exchange: ScratchExchange
  endpoint: ScratchEndpoint
  destination: ScratchDestination
  /** As it was typed, without the callback address that was added. */
  text: string
  callbackUrl: string
  isOwn: boolean
  /** Null while it has not come. */
  callback: ScratchCallback | null
}

interface Scratchpad {
  endpoint: ScratchEndpoint
  text: string
  destination: ScratchDestination | null
  /** Public address for callbacks; empty where the receiver is reached directly. */
  callbackUrl: string
  /** Whether a person typed all of the text here, or it is an example. What users wrote in a row is hidden at first. */
  isOwn: boolean
  /** Whether a person had the text of a row shown. */
  isRevealed: boolean
  /** The newest first. */
  sent: readonly SentRequest[]
  set(part: Partial<Omit<Scratchpad, 'set' | 'sent'>>): void
}

/** Exchanges that are remembered until the page is reloaded. */
const SENT_MAX = 20

const FIRST = OPERATIONS.task.single.first({ kind: 'task' })

/** The request that is being written, and those that were sent; in memory alone, as they hold content. */
export const useScratchpad = create<Scratchpad>((set) => ({
  endpoint: FIRST,
  text: toExample(FIRST),
  destination: { kind: 'sandbox' },
  callbackUrl: '',
  isOwn: true,
  isRevealed: false,
  sent: [],
  set: (part) => set(part),
}))

/** Begins with the request of a row. */
export async function openFromRow(runId: string, row: number): Promise<void> {
  openDraft(await bridge.scratchpad.fromRow({ runId, row }))
}

function openDraft({ endpoint, text, destination }: ScratchDraft): void {
  useScratchpad.setState({
    ...{ endpoint, text: formatText(text), destination },
    ...{ isOwn: false, isRevealed: false },
  })
}

/** Remembers an exchange in front of the others. */
export function keepSent(request: SentRequest): void {
  useScratchpad.setState(({ sent }) => ({ sent: [request, ...sent].slice(0, SENT_MAX) }))
}

/** Asks for the callback of an exchange, and remembers it where it has come: it is given once. */
export async function takeCallback(id: string): Promise<ScratchCallback | null> {
  const callback = await bridge.scratchpad.takeCallback({ id })
  if (callback === null) return null
  useScratchpad.setState(({ sent }) => ({
    sent: sent.map((one) => (one.exchange.id === id ? { ...one, callback } : one)),
  }))
  return callback
}

/** A post_id that was not sent before. */
export function createPostId(): string {
  return `scratch-${Date.now().toString(36)}`
}

/** A request that the service of an endpoint would take. */
export function toExample(endpoint: ScratchEndpoint): string {
  return JSON.stringify(OPERATIONS[endpoint.kind].single.example(endpoint, createPostId()), null, 2)
}

/** Another kind of endpoint, with the settings that it shares with the one before. */
export function changeKind(before: ScratchEndpoint, kind: OperationKind): ScratchEndpoint {
  return OPERATIONS[kind].single.first(before)
}
