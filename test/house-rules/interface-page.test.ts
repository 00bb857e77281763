import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { appealStatusPath } from '../../src/shared/operations/appeal-status.ts'
import { INDEX_ADD_FIELDS, indexAddPath } from '../../src/shared/operations/index-add.ts'
import { INDEX_REMOVE_FIELDS, indexRemovePath } from '../../src/shared/operations/index-remove.ts'
import { taskPath } from '../../src/shared/operations/task.ts'
import { TERM_FIELDS } from '../../src/shared/operations/watchlist.ts'
import { WATCHLIST_ADD_PATH } from '../../src/shared/operations/watchlist-add.ts'
import { WATCHLIST_UPDATE_PATH } from '../../src/shared/operations/watchlist-update.ts'
import { SERVICE_ERRORS } from '../../src/shared/service/errors.ts'
import { MODELS } from '../../src/shared/service/models.ts'
import {
  NOTES_MAX_CHARACTERS,
  type RequestField,
  TERM_MAX_CHARACTERS,
  VIDEO_MAX_HOURS,
} from '../../src/shared/service/request-field.ts'
import { TASK_FIELDS } from '../../src/shared/service/tasks.ts'
import { PROJECT_FOLDER } from './read-module.ts'

const PAGE = readFileSync(join(PROJECT_FOLDER, 'docs', 'interface.md'), 'utf8')

/** The text of one section of the page without its subsections. */
function readSection(number: string): string {
  const section = PAGE.split(/^#{2,3} /m).find((part) => part.startsWith(`${number} `))
  if (section === undefined) throw new Error(`docs/interface.md has no section ${number}`)
  return section
}

/** The cells of the table whose first heading is `heading`, without code marks. */
function readTable(number: string, heading: string): string[][] {
  const tables = readSection(number)
    .split(/\n(?!\|)/)
    .map((block) =>
      block
        .split('\n')
        .filter((line) => line.startsWith('|'))
        .map((line) =>
          line
            .slice(1, -1)
            .replaceAll('`', '')
            .split('|')
            .map((cell) => cell.trim()),
        ),
    )
  const table = tables.find(([headings]) => headings?.[0] === heading)
  if (table === undefined) throw new Error(`docs/interface.md §${number} has no table of "${heading}"`)
  return table.slice(2)
}

const TYPES = { string: 'string', json_object: 'JSON object', string_array: 'array of strings' }
const REQUIRED = { always: 'yes', never: 'no', content: expect.stringMatching(/one of `?\w+`? and `?\w+/) }

function toCells({ name, kind, required, mode }: RequestField) {
  return [name, TYPES[kind], REQUIRED[required], mode]
}

describe('the page about the interface', () => {
  it.each([
    ['2.1', TASK_FIELDS],
    ['4.3', INDEX_ADD_FIELDS],
    ['4.4', INDEX_REMOVE_FIELDS],
  ])("lists in §%s the fields that the code knows, in the code's order", (section, fields) => {
    expect(readTable(section, 'field').map((cells) => cells.slice(0, 4))).toEqual(fields.map(toCells))
  })

  it('lists the fields of a watchlist term that the code knows', () => {
    const fields = TERM_FIELDS.map((field) => toCells(field).slice(0, 3))
    expect(readTable('2.5', 'field').map((cells) => cells.slice(0, 3))).toEqual(fields)
  })

  it('lists for v2 the fields that the code takes without a warning', () => {
    const sentence = /The fields listed are ([^.]+)\./.exec(readSection('4.2'))?.[1] ?? ''
    const listed = [...sentence.matchAll(/`(\w+)`/g)].map(([, name]) => name)
    const known = TASK_FIELDS.filter(({ v2 }) => v2).map(({ name }) => name)
    expect(listed.toSorted()).toEqual(known.toSorted())
  })

  it('lists the models that the code knows, and the modes they are listed for', () => {
    const toWord = (isListed: boolean) => (isListed ? 'yes' : 'not listed')
    expect(readTable('4.1', 'value of models')).toEqual(
      MODELS.map(({ value, label, sync, async }) => [value, label, toWord(sync), toWord(async)]),
    )
  })

  it('lists every path that the code sends to', () => {
    const index = { indexId: 'ID' }
    const paths = [
      ...(['v1', 'v2'] as const).flatMap((api) =>
        (['sync', 'async'] as const).map((mode) => taskPath({ api, mode, legacy: false })),
      ),
      indexAddPath({ ...index, mode: 'sync' }),
      indexRemovePath({ ...index, mode: 'sync' }),
      WATCHLIST_ADD_PATH,
      WATCHLIST_UPDATE_PATH,
      appealStatusPath('ID'),
    ]
    const listed = [...readSection('1').matchAll(/`(?:POST|GET) ([^`]+)`/g)].map(([, path = '']) =>
      path.replace(/\{\w+\}/, 'ID'),
    )
    expect(listed.toSorted()).toEqual(paths.toSorted())
  })

  it('lists the errors that the code knows, except the contradictory pairs', () => {
    const toEndpoint = (name: string) => name.replace('index-', 'custom index ').replaceAll('-', ' ')
    const listed = readTable('7.1', 'status').flatMap(([status, code, , endpoints = '']) =>
      endpoints.split(', ').map((endpoint) => `${status} ${code} ${endpoint}`),
    )
    const known = SERVICE_ERRORS.filter(({ consistent }) => consistent !== false).map(
      ({ status, errorCode, operation }) => `${status} ${errorCode} ${toEndpoint(operation)}`,
    )
    expect(listed.toSorted()).toEqual(known.toSorted())
  })

  it('lists the limits that the code holds', () => {
    const limits = new Map(readTable('8', 'limit').map(([limit, value]) => [limit, value]))
    expect(limits.get('length of a term')).toBe(`${TERM_MAX_CHARACTERS} characters`)
    expect(limits.get('length of notes')).toBe(`${NOTES_MAX_CHARACTERS} characters`)
    expect(limits.get('length of a video')).toBe(`${VIDEO_MAX_HOURS} hour`)
  })
})
