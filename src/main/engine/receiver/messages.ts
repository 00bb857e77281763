import type { ErrorMessage } from '../../../shared/messages/error-messages.ts'
import type { SealedSecret } from '../secrets/bound-secret.ts'
import type { InboxCounts } from './inbox.ts'
import type { ReceiverLimits } from './listen.ts'
import type { MediaFolder } from './media-registry.ts'

/** How a receiver is opened. */
export interface ReceiverTask {
  workspace: string
  /** Address to listen on (default: loopback). */
  host?: string
  /** Port to listen on, this time (default: the workspace's own). */
  port?: number
  /** Its limits (default: the usual ones). */
  limits?: Partial<ReceiverLimits>
  /** Taken out of every callback before it is stored. */
  secrets?: readonly SealedSecret[]
}

/** Where a workspace's receiver is and who listens. */
export interface ReceiverStanding {
  /** Scheme, host and port, without a trailing slash. */
  baseUrl: string
  port: number
  /** `standby`: another process of the workspace listens there; this one takes over when it goes. */
  role: 'listening' | 'standby'
}

/** What the receiver's thread is asked, each with what it is given and what it gives. */
export interface ReceiverCalls {
  counts: { give: null; get: InboxCounts }
  selfTest: { give: string; get: null }
  serveFolder: { give: MediaFolder; get: null }
  stopServing: { give: Pick<MediaFolder, 'runToken' | 'runId'>; get: null }
  guard: { give: readonly SealedSecret[]; get: null }
  forget: { give: readonly string[]; get: null }
  close: { give: null; get: null }
}

/** The name of a call. */
export type ReceiverCallKind = keyof ReceiverCalls

/** A call on its way to the thread. */
export type ReceiverCall = {
  [K in ReceiverCallKind]: { id: number; kind: K; give: ReceiverCalls[K]['give'] }
}[ReceiverCallKind]

/** What the thread says: how it stands now, that it cannot stand at all, and the answers to calls. */
export type ReceiverEvent =
  | { kind: 'standing'; standing: ReceiverStanding }
  | { kind: 'failed'; error: ErrorMessage }
  | { kind: 'answer'; id: number; value: unknown }
  | { kind: 'error'; id: number; error: ErrorMessage }
