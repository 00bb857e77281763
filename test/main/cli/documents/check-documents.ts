import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { DOCUMENT_SCHEMAS, type DocumentName } from '../../../../src/main/cli/documents/document-schemas.ts'

const NAMES = Object.keys(DOCUMENT_SCHEMAS) as DocumentName[]
const schemas = new Map<DocumentName, z.ZodType>()

/** The path of a document's published schema. */
export function toSchemaFile(name: DocumentName): URL {
  return new URL(`../../../../docs/schemas/${name}.schema.json`, import.meta.url)
}

function openSchema(name: DocumentName): z.ZodType {
  const schema = schemas.get(name) ?? z.fromJSONSchema(JSON.parse(readFileSync(toSchemaFile(name), 'utf8')))
  schemas.set(name, schema)
  return schema
}

/** The documents that a command prints, including errors. */
function listDocuments(args: readonly string[]): DocumentName[] {
  return NAMES.filter((name) =>
    DOCUMENT_SCHEMAS[name].commands.some((command) => {
      const words = command.replace(/ --.*/, '').split(' ')
      return name === 'error' || words.every((word, index) => args[index] === word)
    }),
  )
}

/**
 * Throws if a command printed JSON with `--json` that follows none of its published schemas. Members that a
 * schema does not name are not allowed.
 */
export function checkDocuments(args: readonly string[], stdout: string): void {
  if (!args.includes('--json')) return
  const printed = parseJson(stdout)
  if (printed === undefined) return
  const names = listDocuments(args)
  for (const document of Array.isArray(printed) ? printed : [printed]) {
    const mistakes = names.map((name) => [name, openSchema(name).safeParse(document).error] as const)
    if (mistakes.some(([, error]) => error === undefined)) continue
    const said = mistakes.map(
      ([name, error]) => `${name}: ${error === undefined ? '' : z.prettifyError(error)}`,
    )
    throw new Error(`sluice ${args.join(' ')} printed a document without a schema:\n${said.join('\n')}`)
  }
}

/** Undefined if the text is not a document, for example if the command was ended meanwhile. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
