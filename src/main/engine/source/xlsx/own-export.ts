import type { Archive } from './archive.ts'
import { parseXmlPart } from './parse-xml.ts'

const PART = 'docProps/app.xml'
const MAX_PART_BYTES = 1024 * 1024
const PROPERTIES = { name: 'the part of properties', maxElements: 1_000_000 }

/** Whether a workbook was written by us, and by no spreadsheet program since: its cells then carry no guard. */
export async function isOwnExport(archive: Archive): Promise<boolean> {
  if (!archive.names.has(PART.toLowerCase())) return false
  let isApplication = false
  let application = ''
  await parseXmlPart(archive.path, PROPERTIES, archive.readPart(PART, MAX_PART_BYTES), {
    open(name) {
      isApplication = name === 'Application'
    },
    text(text) {
      if (isApplication) application += text
    },
    close() {
      isApplication = false
    },
  })
  return application === 'Sluice'
}
