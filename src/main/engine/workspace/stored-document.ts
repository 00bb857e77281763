import { rmSync } from 'node:fs'
import type { z } from 'zod'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import { readTextFile } from './regular-file.ts'
import { replaceFileSync } from './replace-file.ts'
import { type DamagedId, toStoreError } from './store-error.ts'

/** A small JSON file with a person's settings or notes. */
interface StoredDocument<Schema extends z.ZodType> {
  file: string
  schema: Schema
  /** The message if the file cannot be used. */
  unusable: DamagedId
}

/** Reads a document; `none` if it was never written. Throws `WORKSPACE_UNUSABLE`. */
export function readDocument<Schema extends z.ZodType, None>(
  { file, schema, unusable }: StoredDocument<Schema>,
  none: None,
): z.infer<Schema> | None {
  try {
    return schema.parse(JSON.parse(readTextFile(file)))
  } catch (error) {
    if (toSystemCode(error) === 'ENOENT') return none
    throw toStoreError(unusable, file, error)
  }
}

/** Replaces a document, or removes it if null. Throws `WORKSPACE_UNUSABLE`. */
export function writeDocument<Schema extends z.ZodType>(
  { file, unusable }: StoredDocument<Schema>,
  content: z.infer<Schema> | null,
): void {
  try {
    if (content === null) rmSync(file, { force: true })
    else replaceFileSync(file, `${JSON.stringify(content, null, 2)}\n`, { isPrivate: true })
  } catch (error) {
    throw toStoreError(unusable, file, error)
  }
}
