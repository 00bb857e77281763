// `npm run document-schemas`: regenerates the published schemas of the documents that --json prints.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  DOCUMENT_SCHEMAS,
  type DocumentName,
  toDocumentJsonSchema,
} from '../src/main/cli/documents/document-schemas.ts'

const folder = join(import.meta.dirname, '..', 'docs', 'schemas')
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
for (const name of Object.keys(DOCUMENT_SCHEMAS) as DocumentName[]) {
  const file = join(folder, `${name}.schema.json`)
  writeFileSync(file, `${JSON.stringify(toDocumentJsonSchema(name), null, 2)}\n`)
  process.stdout.write(`${file}\n`)
}
