import type { Output } from '../terminal/output.ts'

/** Version of the documents that `--json` prints; docs/migrating.md says what changed with each. */
export const SCHEMA_VERSION = 2

/** Prints a document, or an array of documents, as `--json` does: each begins with its version. */
export function writeDocument(out: Output, document: object | readonly object[]): Promise<void> {
  return out.writeLine(JSON.stringify(toVersioned(document), null, 2))
}

/** The same on one line, for documents that have always been on one. */
export function writeDocumentLine(out: Output, document: object): Promise<void> {
  return out.writeLine(JSON.stringify(toVersioned(document)))
}

function toVersioned(document: object | readonly object[]): object {
  if (Array.isArray(document)) return document.map(toVersioned)
  return { schema_version: SCHEMA_VERSION, ...document }
}
