import type { ConnectionEntry } from '../../shared/bridge/app.ts'
import { isAsync } from '../../shared/plan/operation.ts'
import { findCallbackGap } from '../features/operation/callback-settings.ts'
import { findLoadGap } from '../features/operation/load-settings.ts'
import { findOperationGap } from '../features/operation/operation-draft.ts'
import { findMediaGap } from '../features/source/reading.ts'
import { findDestinationGap } from '../ui/connection/destination.ts'
import type { Draft } from './draft.ts'

/** What the operation and where it goes still lack before rows can be checked, or null. */
export function findOperationTodo(
  draft: Draft,
  known: { connections: readonly ConnectionEntry[] },
): string | null {
  const { operation, callback, settings } = draft
  return (
    findOperationGap(operation) ??
    (draft.isLoad ? findLoadGap(draft.load) : null) ??
    (isAsync(operation) ? findCallbackGap(callback) : null) ??
    findDestinationGap(settings.destination, {
      ...known,
      needsKey: operation.kind !== 'appeal-status',
    })
  )
}

/** What a folder still lacks before its media files can be sent, or null. */
export function findMediaTodo({ preview, media }: Draft): string | null {
  return preview?.format === 'folder' ? findMediaGap(media) : null
}
