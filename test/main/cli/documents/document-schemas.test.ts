import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import {
  DOCUMENT_SCHEMAS,
  type DocumentName,
  toDocumentJsonSchema,
} from '../../../../src/main/cli/documents/document-schemas.ts'
import { listGoldenWorkspaces, readAnswers } from '../../../golden/answers.ts'
import { toExpected } from '../../../golden/intended-differences.ts'
import { checkDocuments, toSchemaFile } from './check-documents.ts'

const NAMES = Object.keys(DOCUMENT_SCHEMAS) as DocumentName[]

it.each(NAMES)('publishes the schema of the document %s as in the code', (name) => {
  const published = JSON.parse(readFileSync(toSchemaFile(name), 'utf8'))
  expect(published, 'npm run document-schemas writes it anew').toEqual(toDocumentJsonSchema(name))
})

it('publishes no schema for a document that is never printed', () => {
  const files = readdirSync(new URL('.', toSchemaFile('run')))
  expect(files.sort()).toEqual(NAMES.map((name) => `${name}.schema.json`).sort())
})

it.each(listGoldenWorkspaces())('describes every document about the golden workspace %s', (workspace) => {
  for (const answer of readAnswers(workspace)) {
    checkDocuments(answer.args, JSON.stringify(toExpected(answer, workspace).stdout))
  }
})

it('refuses documents with an extra or missing member or another version', () => {
  const answer = readAnswers('task-v1-sync').find(({ args }) => args[0] === 'show')
  const document =
    answer === undefined ? {} : (toExpected(answer, 'task-v1-sync').stdout as Record<string, unknown>)
  const check = (changed: object) => () =>
    checkDocuments(['show', 'latest', '--json'], JSON.stringify(changed))
  expect(check(document)).not.toThrow()
  expect(check({ ...document, more: 1 })).toThrow('more')
  expect(check({ ...document, rows: { read: 1 } })).toThrow('rows')
  expect(check({ ...document, schema_version: 1 })).toThrow('schema_version')
})
