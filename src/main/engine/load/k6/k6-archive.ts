import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import yazl from 'yazl'
import type { ExportResult } from '../../../../shared/run/written-rows.ts'
import { replaceFile, toFileError } from '../../workspace/replace-file.ts'
import { type K6Project, writeK6Project } from './k6-project.ts'

const FOLDER = 'k6-project'

/**
 * Writes a k6 project as one zip file, for windows that cannot name a folder. An existing file is replaced
 * once the new one is complete. Throws `BAD_USAGE` without a row; `FILE_UNWRITABLE` or `DISK_FULL`.
 */
export async function writeK6Archive(
  project: Omit<K6Project, 'folder'> & { file: string },
): Promise<ExportResult> {
  const { file } = project
  let temporary: string | null = null
  try {
    temporary = await mkdtemp(join(dirname(file), `.${basename(file)}.`))
    const folder = join(temporary, FOLDER)
    const { rows } = await writeK6Project({ ...project, folder })
    const names = await readdir(folder)
    const sizeBytes = await replaceFile(file, async (append) => {
      for await (const piece of packFiles(folder, names.toSorted())) await append(piece)
    })
    return { file, rows, sizeBytes }
  } catch (error) {
    throw toFileError(file, error)
  } finally {
    if (temporary !== null) await rm(temporary, { recursive: true, force: true })
  }
}

function packFiles(folder: string, names: readonly string[]): AsyncIterable<Buffer> {
  const zip = new yazl.ZipFile()
  const output = zip.outputStream as Readable
  zip.on('error', (error: Error) => output.destroy(error))
  for (const name of names) zip.addFile(join(folder, name), `${FOLDER}/${name}`)
  zip.end()
  return output
}
