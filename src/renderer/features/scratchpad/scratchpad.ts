import { applyEdits, findNodeAtLocation, format, modify, parseTree } from 'jsonc-parser'
import { create } from 'zustand'
import type { ScratchDestination, ScratchDraft } from '../../../shared/bridge/scratchpad.ts'
import {
  OPERATIONS,
  type OperationKind,
  type ScratchEndpoint,
} from '../../../shared/operations/operations.ts'
import type { ScratchCallback, ScratchExchange, ScratchProblem } from '../../../shared/service/scratchpad.ts'
import { bridge } from '../../bridge/client.ts'

export interface SentRequest {
  exchange: ScratchExchange
  endpoint: ScratchEndpoint
  destination: ScratchDestination
  /** As typed, without the added callback address. */
  text: string
  callbackUrl: string
  isOwn: boolean
  /** Null until it arrives. */
  callback: ScratchCallback | null
}

interface Scratchpad {
  endpoint: ScratchEndpoint
  text: string
  destination: ScratchDestination | null
  /** Public address for callbacks; empty if the receiver is reached directly. */
  callbackUrl: string
  /**
   * Whether a person typed all of the text here, or it is an example. The text of a row, which users wrote,
   * is hidden at first.
   */
  isOwn: boolean
  /** Whether a person revealed the text of a row. */
  isRevealed: boolean
  sent: readonly SentRequest[]
  /** Why the last request failed, also if another screen was shown by then; null if it did not. */
  failure: unknown
  set(part: Partial<Omit<Scratchpad, 'set' | 'sent'>>): void
}

/** Exchanges kept until the page is reloaded. */
const SENT_MAX = 20

const FIRST = OPERATIONS.task.single.first({ kind: 'task' })

/** The request being written, and sent ones; only in memory, since they contain content. */
export const useScratchpad = create<Scratchpad>((set) => ({
  endpoint: FIRST,
  text: toExample(FIRST),
  destination: { kind: 'sandbox' },
  callbackUrl: '',
  isOwn: true,
  isRevealed: false,
  sent: [],
  failure: null,
  set: (part) => set(part),
}))

/** Starts with the request of a row. */
export async function openFromRow(runId: string, row: number): Promise<void> {
  openDraft(await bridge.scratchpad.fromRow({ runId, row }))
}

function openDraft({ endpoint, text, destination }: ScratchDraft): void {
  useScratchpad.setState({
    endpoint,
    text: formatText(text),
    destination,
    isOwn: false,
    isRevealed: false,
  })
}

/** Adds an exchange before the others. */
export function keepSent(request: SentRequest): void {
  useScratchpad.setState(({ sent }) => ({ sent: [request, ...sent].slice(0, SENT_MAX) }))
}

/** Requests the callback of an exchange, which is returned only once, and stores it if it has arrived. */
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

/** A request that the endpoint's service accepts. */
export function toExample(endpoint: ScratchEndpoint): string {
  return JSON.stringify(OPERATIONS[endpoint.kind].single.example(endpoint, createPostId()), null, 2)
}

/** Another kind of endpoint, with the settings that it shares with the previous one. */
export function changeKind(before: ScratchEndpoint, kind: OperationKind): ScratchEndpoint {
  return OPERATIONS[kind].single.first(before)
}

const INDENT = { formattingOptions: { insertSpaces: true, tabSize: 2 } }

export function setMember(text: string, name: string, value: string): string {
  return applyEdits(text, modify(text, [name], value, INDENT))
}

/** The text with line breaks; digits and order are unchanged. */
export function formatText(text: string): string {
  return applyEdits(text, format(text, undefined, { insertSpaces: true, tabSize: 2 }))
}

/** The place of a problem in a text: UTF-16 code units, and the line for a person. */
interface TextPlace {
  start: number
  end: number
  line: number
}

/** Finds the place of a problem in the text; a missing field is located at the object that lacks it. */
export function findPlace(text: string, problem: ScratchProblem): TextPlace {
  const { line, character } = problem.details ?? {}
  if (typeof line === 'number' && typeof character === 'number') {
    const before = text.split('\n').slice(0, line - 1)
    const start = before.reduce((sum, one) => sum + one.length + 1, 0) + character - 1
    return { start, end: Math.min(text.length, start + 1), line }
  }
  const root = parseTree(text)
  for (let depth = problem.path.length; root !== undefined && depth > 0; depth -= 1) {
    const node = findNodeAtLocation(root, problem.path.slice(0, depth))
    if (node !== undefined) return toPlace(text, node.offset, node.length)
  }
  return toPlace(text, root?.offset ?? 0, 1)
}

function toPlace(text: string, start: number, length: number): TextPlace {
  return { start, end: start + length, line: text.slice(0, start).split('\n').length }
}

/** The places of triggered rules' names in a text, in order and without overlaps. */
export function findRuleMarks(
  text: string,
  rules: readonly { ruleId: string; ruleName: string }[],
): { start: number; end: number; label: string }[] {
  const words = rules
    .flatMap(({ ruleId, ruleName }) => [ruleId, ruleName])
    .map((word) => JSON.stringify(word))
  const found = [...new Set(words)].flatMap((word) => {
    const marks: { start: number; end: number; label: string }[] = []
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      marks.push({ start: at + 1, end: at + word.length - 1, label: 'triggered rule' })
    }
    return marks
  })
  const apart: typeof found = []
  for (const mark of found.sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (mark.start >= (apart.at(-1)?.end ?? 0)) apart.push(mark)
  }
  return apart
}
