import type { RecordSyntax } from '../../src/main/engine/source/csv/parse-exactly.ts'

/** The syntax of RFC 4180. */
export const PLAIN_SYNTAX: RecordSyntax = { delimiter: ',', newline: '\n', quote: '"', escape: '' }
