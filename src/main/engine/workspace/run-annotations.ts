import {
  type AnnotationChange,
  type Annotations,
  annotationsSchema,
  applyAnnotationChange,
  findAnnotationMistakes,
  findChangedSince,
  NO_ANNOTATIONS,
  TAGS_MAX,
} from '../../../shared/lookback/annotations.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { underLease } from './lease.ts'
import { readDocument, writeDocument } from './stored-document.ts'
import { toAnnotationsFile } from './workspace-files.ts'

/**
 * Reads the name, tags and note that a run shares with its retries, by the id of the first run. Throws
 * `WORKSPACE_UNUSABLE` if the file is damaged.
 */
function readAnnotations(workspace: string, firstRunId: string): Annotations {
  return readDocument(toDocument(workspace, firstRunId), NO_ANNOTATIONS)
}

function toDocument(workspace: string, firstRunId: string) {
  const file = toAnnotationsFile(workspace, firstRunId)
  return { file, schema: annotationsSchema, unusable: 'annotations_unusable' } as const
}

/** Reads the same for showing the run; a damaged file counts as empty so that it does not hide the run. */
export function findAnnotations(workspace: string, firstRunId: string): Annotations {
  try {
    return readAnnotations(workspace, firstRunId)
  } catch {
    return NO_ANNOTATIONS
  }
}

/**
 * Changes name, tags and note, one process at a time. Throws `BAD_USAGE` if they are invalid or were changed
 * since, and `WORKSPACE_UNUSABLE`.
 */
export function changeAnnotations(
  workspace: string,
  firstRunId: string,
  change: AnnotationChange,
): Annotations {
  const document = toDocument(workspace, firstRunId)
  return underLease(document.file, `the annotation file of run ${firstRunId}`, () => {
    const stored = readAnnotations(workspace, firstRunId)
    const changedSince = findChangedSince(stored, change)
    if (changedSince !== null) throw new SluiceError({ id: 'annotations_changed', ...changedSince })
    const changed = applyAnnotationChange(stored, change)
    const mistakes = findAnnotationMistakes(change)
    if (changed.tags.length > TAGS_MAX) mistakes.push(`a run has at most ${TAGS_MAX} tags`)
    if (mistakes.length > 0) throw new SluiceError({ id: 'annotations_refused', reason: mistakes.join('; ') })
    const isEmpty = changed.name === null && changed.note === null && changed.tags.length === 0
    writeDocument(document, isEmpty ? null : changed)
    return changed
  })
}
