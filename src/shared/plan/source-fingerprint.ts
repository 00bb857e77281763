import { z } from 'zod'

/** Identifies a source's state when a run read it. */
export const sourceFingerprintSchema = z.object({
  /** Hash of a file's content, several tables' names and contents, or a folder's names, sizes and times. */
  sha256: z.string(),
  bytes: z.number(),
  /** Number of files; null if the source is a single file. */
  files: z.number().nullable(),
  /** When the file, or the newest file of the folder, was last written. */
  modified_at: z.string(),
})

export type SourceFingerprint = z.infer<typeof sourceFingerprintSchema>

/** How a source changed since a run read it. `unknown`: an earlier version's run, which did not note it. */
export type SourceChange =
  | { kind: 'missing' }
  | { kind: 'same' | 'unknown'; now: SourceFingerprint }
  | { kind: 'changed'; before: SourceFingerprint; now: SourceFingerprint }

export function isSameSource(a: SourceFingerprint, b: SourceFingerprint): boolean {
  return a.sha256 === b.sha256
}
