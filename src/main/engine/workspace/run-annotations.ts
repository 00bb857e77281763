import { rmSync } from 'node:fs'
import {
  type AnnotationChange,
  type Annotations,
  annotationsSchema,
  applyAnnotationChange,
  findAnnotationMistakes,
  NO_ANNOTATIONS,
  TAGS_MAX,
} from '../../../shared/lookback/annotations.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import { takeLease } from './lease.ts'
import { readTextFile } from './regular-file.ts'
import { replaceFileSync } from './replace-file.ts'
import { toStoreError } from './store-error.ts'
import { toAnnotationsFile } from './workspace-files.ts'

/**
 * The name, tags and note of a run and its retries, by the id of the first. Throws `WORKSPACE_UNUSABLE` where the file is
 * damaged.
 */
function readAnnotations(workspace: string, firstRunId: string): Annotations {
  const file = toAnnotationsFile(workspace, firstRunId)
  try {
    return annotationsSchema.parse(JSON.parse(readTextFile(file)))
  } catch (error) {
    if (toSystemCode(error) === 'ENOENT') return NO_ANNOTATIONS
    throw toStoreError('annotations_unusable', file, error)
  }
}

/** The same for a person who looks at the run, which a damaged file must not hide: nothing was noted then. */
export function findAnnotations(workspace: string, firstRunId: string): Annotations {
  try {
    return readAnnotations(workspace, firstRunId)
  } catch {
    return NO_ANNOTATIONS
  }
}

/** Changes them, one process at a time. Throws `BAD_USAGE` where they cannot be so, and `WORKSPACE_UNUSABLE`. */
export function changeAnnotations(
  workspace: string,
  firstRunId: string,
  change: AnnotationChange,
): Annotations {
  const file = toAnnotationsFile(workspace, firstRunId)
  const lease = takeLease(file, `the annotation file of run ${firstRunId}`)
  try {
    const changed = applyAnnotationChange(readAnnotations(workspace, firstRunId), change)
    const mistakes = findAnnotationMistakes(change)
    if (changed.tags.length > TAGS_MAX) mistakes.push(`a run has at most ${TAGS_MAX} tags`)
    if (mistakes.length > 0) throw new SluiceError({ id: 'annotations_refused', reason: mistakes.join('; ') })
    const isEmpty = changed.name === null && changed.note === null && changed.tags.length === 0
    if (isEmpty) rmSync(file, { force: true })
    else replaceFileSync(file, `${JSON.stringify(changed, null, 2)}\n`, { isPrivate: true })
    return changed
  } catch (error) {
    throw toStoreError('annotations_unusable', file, error)
  } finally {
    lease.release()
  }
}
