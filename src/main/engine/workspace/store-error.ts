import { SluiceError } from '../../../shared/messages/errors.ts'
import { findDiskTrouble, toThrownText } from '../../../shared/messages/thrown.ts'

/** What is said of a file whose content is damaged. */
export type DamagedId =
  | 'annotations_unusable'
  | 'baselines_unusable'
  | 'labelling_unusable'
  | 'mappings_unusable'
  | 'result_views_unusable'
  | 'retention_unusable'
  | 'verdicts_unusable'

/** SQLite's primary result code while another connection holds the lock. */
const SQLITE_BUSY = 5

/**
 * Why a small file of the workspace cannot be used, as `WORKSPACE_UNUSABLE`. Only its content can be
 * damaged: a full or failing disk, missing permission or another process leave it whole, so no advice to remove it.
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
