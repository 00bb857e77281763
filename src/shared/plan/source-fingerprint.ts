import { z } from 'zod'

/** What a source was like when a run read it. */
export const sourceFingerprintSchema = z.object({
  /** Of a file's content, of the names and contents of several tables, or of the names, sizes and times of a folder's files. */
  sha256: z.string(),
  bytes: z.number(),
  /** How many files there are; null of a source that is one. */
  files: z.number().nullable(),
  /** When the file, or the newest file of the folder, was written last. */
  modified_at: z.string(),
})

export type SourceFingerprint = z.infer<typeof sourceFingerprintSchema>

/** How a source has changed since a run read it. `unknown`: that run, of an earlier version, noted nothing. */
export type SourceChange =
  | { kind: 'missing' }
  | { kind: 'same' | 'unknown'; now: SourceFingerprint }
  | { kind: 'changed'; before: SourceFingerprint; now: SourceFingerprint }

export function isSameSource(a: SourceFingerprint, b: SourceFingerprint): boolean {
  return a.sha256 === b.sha256
}
