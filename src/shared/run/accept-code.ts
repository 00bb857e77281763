import { z } from 'zod'

/**
 * What may be wrong with all that is sent, so that a person has to accept it before anything is: content may be cut or
 * replaced, a spreadsheet changed ids, rows that are hidden in the spreadsheet are sent, the encoding is uncertain.
 */
const acceptCodeSchema = z.enum(['content_cut', 'ids_changed', 'hidden_rows', 'encoding_uncertain'])

/** See {@link acceptCodeSchema}. */
export type AcceptCode = z.infer<typeof acceptCodeSchema>
