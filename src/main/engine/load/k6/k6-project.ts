import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { ExportResult } from '../../../../shared/run/results.ts'
import { type Body, writeBody } from '../../mapping/json-text.ts'
import { refuseForeignLinks } from '../../workspace/foreign-links.ts'
import { checkTarget, toFileError } from '../../workspace/replace-file.ts'
import { CONFIG_MAP_MAX_BYTES, formatK6Manifest } from './k6-manifest.ts'
import { formatK6Readme } from './k6-readme.ts'
import { formatK6Script, type K6Plan, type K6RowsFile, SCRIPT_BEGINNING } from './k6-script.ts'

/** What a k6 project is made of. */
export interface K6Project {
  /** Folder to write; what an earlier export wrote there is replaced, results of k6 next to it stay. */
  folder: string
  plan: K6Plan
  appVersion: string
  /** Bodies of the rows that are sent, in order, page by page. */
  bodies: Iterable<readonly K6Body[]> | AsyncIterable<readonly K6Body[]>
  /** Largest file of rows (default: 4 MiB). */
  rowsFileMaxBytes?: number
}

const SCRIPT = 'script.js'
const ROWS_FILE = /^rows-\d{3,}\.json$/

/**
 * Writes a plan's load as a project of k6: script, rows, manifest of k6-operator, README. Its files take the place of
 * an earlier project's once all of them are written. Throws `BAD_USAGE` for a folder that holds something else, or
 * without a row; `FILE_UNWRITABLE` or `DISK_FULL`.
 */
export async function writeK6Project(project: K6Project): Promise<ExportResult> {
  const folder = resolve(project.folder)
  const temporary = join(dirname(folder), `.${basename(folder)}.${randomBytes(6).toString('hex')}.part`)
  try {
    refuseForeignLinks(folder)
    await refuseForeign(folder)
    await mkdir(temporary)
    const result = await writeFiles(temporary, project)
    await moveInto(folder, temporary)
    return { ...result, file: project.folder }
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    throw toFileError(project.folder, error)
  }
}

/** Throws as {@link writeK6Project} does if it could not write to that folder, which stays as it is. */
export async function checkK6Folder(named: string): Promise<void> {
  const folder = resolve(named)
  try {
    refuseForeignLinks(folder)
    await refuseForeign(folder)
    await checkTarget(join(dirname(folder), `.${basename(folder)}.part`))
  } catch (error) {
    throw error instanceof SluiceError && error.said.id === 'file_unwritable'
      ? new SluiceError({ ...error.said, file: named }, { cause: error })
      : toFileError(named, error)
  }
}

async function writeFiles(folder: string, project: K6Project): Promise<Omit<ExportResult, 'file'>> {
  const { plan, appVersion } = project
  const rows = await writeRows(folder, project)
  if (rows.files.length === 0) {
    throw new SluiceError({ id: 'k6_without_rows' })
  }
  const script = formatK6Script(plan, rows.files, appVersion)
  const isConfigMap = rows.sizeBytes + Buffer.byteLength(script) <= CONFIG_MAP_MAX_BYTES
  const texts = {
    [SCRIPT]: script,
    'testrun.yaml': formatK6Manifest(plan, isConfigMap),
    'README.md': formatK6Readme(plan, rows.files, { isConfigMap, appVersion }),
  }
  let sizeBytes = rows.sizeBytes
  for (const [name, text] of Object.entries(texts)) {
    await writeFile(join(folder, name), text)
    sizeBytes += Buffer.byteLength(text)
  }
  return { rows: rows.files.reduce((sum, file) => sum + file.rows, 0), sizeBytes }
}

const BUFFERED_CHARACTERS = 256 * 1024

async function writeRows(
  folder: string,
  { bodies, rowsFileMaxBytes = ROWS_FILE_MAX_BYTES }: K6Project,
): Promise<{ files: K6RowsFile[]; sizeBytes: number }> {
  const files: K6RowsFile[] = []
  let sizeBytes = 0
  let handle: Awaited<ReturnType<typeof open>> | null = null
  let buffered = ''
  try {
    for await (const { text, rows, isEnd } of toRowsPieces(bodies, rowsFileMaxBytes)) {
      const name = `rows-${String(files.length + 1).padStart(3, '0')}.json`
      handle ??= await open(join(folder, name), 'wx')
      buffered += text
      if (!isEnd && buffered.length < BUFFERED_CHARACTERS) continue
      const bytes = Buffer.from(buffered)
      buffered = ''
      await handle.writeFile(bytes)
      sizeBytes += bytes.length
      if (!isEnd) continue
      await handle.close()
      handle = null
      files.push({ name, rows })
    }
  } finally {
    await handle?.close()
  }
  return { files, sizeBytes }
}

async function listNames(folder: string): Promise<string[] | null> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
}

/** Replaces nothing but an earlier project: a folder given by mistake may hold anything. */
async function refuseForeign(folder: string): Promise<void> {
  const [name] = (await listNames(folder)) ?? []
  if (name === undefined) return
  const script = await readFile(join(folder, SCRIPT), 'utf8').catch(() => '')
  if (script.startsWith(SCRIPT_BEGINNING)) return
  throw new SluiceError({ id: 'k6_folder_in_use', folder, holds: name })
}

async function moveInto(folder: string, written: string): Promise<void> {
  const before = await listNames(folder)
  if (before === null) return rename(written, folder)
  const names = await readdir(written)
  // The script last: until it is there, the folder is that of the project before.
  for (const name of names.toSorted((a, b) => Number(a === SCRIPT) - Number(b === SCRIPT))) {
    await rename(join(written, name), join(folder, name))
  }
  for (const name of before) {
    if (ROWS_FILE.test(name) && !names.includes(name)) await rm(join(folder, name))
  }
  await rm(written, { recursive: true })
}

/** A row's body as the mapper made it. */
export type K6Body = Readonly<Body>

/** Stands for the post_id while a body is written; no content holds it by chance. */
const POST_ID_MARK = '\u0001sluice-post-id\u0001'

const WRITTEN_MARK = JSON.stringify(POST_ID_MARK).slice(1, -1)

/** The JSON of a body in two parts, between which the post_id of a submission goes; it takes the place of its own. */
export function splitAtPostId(body: K6Body): [head: string, tail: string] {
  const text = writeBody({ ...body, post_id: POST_ID_MARK })
  const at = text.lastIndexOf(WRITTEN_MARK)
  return [text.slice(0, at), text.slice(at + WRITTEN_MARK.length)]
}

/** Largest file of rows: k6 reads each whole. Small sources stay small enough for one configMap with their script. */
const ROWS_FILE_MAX_BYTES = 4 * 1024 * 1024

/** A piece of a rows file: text to append, and whether the file ends with it. */
export interface RowsPiece {
  text: string
  rows: number
  isEnd: boolean
}

/** Divides rows into JSON arrays of at most `maxBytes` each (a larger row has one of its own), a piece a row. */
export async function* toRowsPieces(
  pages: Iterable<readonly K6Body[]> | AsyncIterable<readonly K6Body[]>,
  maxBytes = ROWS_FILE_MAX_BYTES,
): AsyncGenerator<RowsPiece> {
  let sizeBytes = 0
  let rows = 0
  for await (const page of pages) {
    for (const body of page) {
      const row = JSON.stringify(splitAtPostId(body))
      const rowBytes = Buffer.byteLength(row) + 2
      if (rows > 0 && sizeBytes + rowBytes > maxBytes) {
        yield { text: '\n]\n', rows, isEnd: true }
        sizeBytes = 0
        rows = 0
      }
      yield { text: `${rows === 0 ? '[\n' : ',\n'}${row}`, rows, isEnd: false }
      sizeBytes += rowBytes
      rows += 1
    }
  }
  if (rows > 0) yield { text: '\n]\n', rows, isEnd: true }
}
