import { join } from 'node:path'

/** A callback on its way into the inbox. */
export interface InboxEntry {
  runToken: string
  item: number
  /** When its last byte had come, Unix microseconds. */
  receivedAtUs: number
  /** The body, byte for byte. */
  body: Uint8Array
}

/** A callback that is in the inbox. */
export interface InboxCallback {
  /** Its place in the inbox: rises with each callback of the workspace, and is never given out again. */
  id: number
  item: number
  receivedAtUs: number
  /** The body as text; bytes that are no UTF-8 stand as U+FFFD. */
  body: string
}

/**
 * Why a request got no 200. `malformed` are stored anyway; `unstored` means that the disk failed. `forged`:
 * an address that was never given out; `bad_request`: no HTTP.
 */
export const REFUSALS = [
  'forged',
  'malformed',
  'oversized',
  'overloaded',
  'slow',
  'broken',
  'unstored',
  'wrong_method',
  'bad_request',
] as const

/** One of {@link REFUSALS}. */
export type Refusal = (typeof REFUSALS)[number]

/** What a workspace's receiver has counted since the workspace was made. */
export interface InboxCounts {
  /** Callbacks stored. */
  received: number
  /** Requests that got no 200, by why; only what occurred. */
  refused: Partial<Record<Refusal, number>>
}

/** Where the process that holds the inbox listens. */
export interface InboxAddress {
  baseUrl: string
  host: string
  port: number
}

/** Where a workspace's inbox is. */
export function toInboxFile(workspace: string): string {
  return join(workspace, 'inbox')
}

/** Begins the tokens of self-tests, which are no runs; nothing of them is counted or kept. */
export const SELF_TEST_PREFIX = 'self-test-'

const decoder = new TextDecoder()

/** A body as text, without a byte order mark; bytes that are no UTF-8 become U+FFFD. */
export function decodeBody(body: Uint8Array): string {
  return decoder.decode(body)
}
