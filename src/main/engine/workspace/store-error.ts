import { SluiceError } from '../../../shared/messages/errors.ts'
import { findDiskTrouble, toThrownText } from '../../../shared/messages/thrown.ts'

/** Messages for files with damaged content. */
export type DamagedId =
  | 'annotations_unusable'
  | 'baselines_unusable'
  | 'labelling_unusable'
  | 'mappings_unusable'
  | 'result_views_unusable'
  | 'retention_unusable'
  | 'verdicts_unusable'

/** SQLite's primary result code if another connection holds the lock. */
const SQLITE_BUSY = 5

/**
 * Turns the error of a small workspace file into `WORKSPACE_UNUSABLE`. Removing the file is advised only if
 * its content is damaged: a full or failing disk, missing permission or another process leave it intact.
 */
export function toStoreError(id: DamagedId, file: string, error: unknown): SluiceError {
  if (error instanceof SluiceError) return error
  if (error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY) {
    return new SluiceError({ id: 'held_elsewhere', what: file }, { cause: error })
  }
  const isOfSystem = error instanceof Error && 'syscall' in error
  const disk = findDiskTrouble(error) ?? (isOfSystem ? 'failing' : null)
  const reason = toThrownText(error)
  if (disk !== null)
    return new SluiceError({ id: 'store_out_of_reach', file, reason, disk }, { cause: error })
  return new SluiceError({ id, file, reason }, { cause: error })
}
