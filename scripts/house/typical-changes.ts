import type { SourceFile } from './source-files.ts'

/** A common kind of change, and the files of `src` that name an existing example of it. */
export interface TypicalChange {
  change: string
  /** The existing example that stands for the kind. */
  example: string
  files: string[]
}

// A file whose code names the example counts as one that a new member of its kind would touch. The patterns
// cover every spelling in code: the contract's name, camel case, a file name in an import, a flag. Each
// example is a name that means nothing else.
const CHANGES = [
  { change: 'an operation of the service', example: 'index-remove', pattern: /index[-_]?remove/i },
  { change: 'a field of a task', example: 'group_id', pattern: /group_?id/i },
  { change: 'an option of a run', example: 'maxRetryAfterMs', pattern: /max-?retry-?after/i },
  { change: 'an option of a load', example: 'whenFull', pattern: /when-?full/i },
  { change: 'a threshold metric', example: 'http_req_tls_handshaking', pattern: /http_req_tls_handshaking/ },
  { change: 'a filter of results', example: 'languages', pattern: /\blanguages\b/ },
  { change: 'a state of a row', example: 'left_out', pattern: /\bleft_out\b/ },
  { change: 'a question to the engine', example: 'readCallbackBody', pattern: /readCallbackBody/ },
  { change: 'an export format', example: 'JUnit', pattern: /junit/i },
  // The other source formats are export formats too.
  { change: 'a source format', example: 'TSV', pattern: /\btsv\b/i },
]

// Not comments after code: there, `//` may be part of a string.
const COMMENTS = /\/\*\*?\s[\s\S]*?\*\/|^\s*\/\/.*$/gm

/** Files that each of ten typical changes touches. */
export function findTypicalChanges(files: readonly SourceFile[]): TypicalChange[] {
  return CHANGES.map(({ change, example, pattern }) => ({
    change,
    example,
    files: files.filter(({ text }) => pattern.test(text.replaceAll(COMMENTS, ''))).map(({ path }) => path),
  }))
}
