import { z } from 'zod'
import { toSegment } from '../service/endpoints.ts'
import { OPTIONAL_TEXT } from '../service/request-field.ts'
import { defineOperation } from './operation-entry.ts'

/** Path of an appeal's status; GET, without a key (docs/interface.md §4.7, §5.6). */
export function appealStatusPath(appealId: string): string {
  return `/api/v1/appeals/status/${toSegment(appealId)}`
}

/** Reads the status of each row's appeal (docs/interface.md §4.7). */
export const APPEAL_STATUS = defineOperation({
  kind: 'appeal-status',
  subject: 'appeal',
  schema: z.object({ kind: z.literal('appeal-status') }),
  /** A GET; its text has the id as a body would have it. */
  scratch: z.strictObject({ kind: z.literal('appeal-status') }),
  first: { kind: 'appeal-status' },
  fields: [
    {
      ...OPTIONAL_TEXT,
      name: 'appeal_id',
      required: 'always',
      note: 'Identifier of the appeal whose status is read.',
    },
  ],
  namedBy: ['appeal_id'],
  checks: [
    { rule: 'required', field: 'appeal_id' },
    { rule: 'path segment', field: 'appeal_id' },
  ],
  endpoint: {
    method: 'GET',
    path: (_operation, { appeal_id: id }) => appealStatusPath(String(id)),
    sendsKey: false,
  },
  // docs/interface.md §2.6
  echoes: [{ field: 'appeal_id', isUnique: true }],
  isRepeatable: true,
  errors: [{ status: 400, errorCode: 'INVALID_APPEAL', condition: 'The appeal_id is unknown.' }],
  ledger: { of: 'appeals', effect: 'reads' },
  words: {
    title: 'Appeal status',
    command: 'appeal',
    meaning: 'Looks up appeals: in review, upheld or overturned. It changes nothing.',
    describe: () => 'only reads',
    verb: 'reads appeals of',
    single: 'reads an appeal',
  },
  single: {
    of: ({ kind }) => ({ kind }),
    first: () => ({ kind: 'appeal-status' }),
    example: () => ({ appeal_id: 'appeal-1' }),
  },
})
