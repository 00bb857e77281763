import { describe, expect, it } from 'vitest'
import {
  ERROR_MESSAGES,
  type ErrorId,
  type ErrorMessage,
  isErrorMessage,
  renameSource,
  sayError,
} from '../../../src/shared/messages/error-messages.ts'
import { SluiceError, toErrorMessage } from '../../../src/shared/messages/errors.ts'

/** Arguments for every entry; each takes those that it names. */
const ARGUMENTS = {
  value: 'x',
  now: ['agree'],
  apiKeyEnv: 'KEY',
  baseUrl: 'http://127.0.0.1:1',
  begins: 'u1',
  by: '20260302-y2',
  cells: 3,
  characters: 9_000_000,
  candidates: ['sluice_row', 'sluice_state'],
  column: 'body',
  columns: 2,
  connection: 'staging',
  conflicts: ['--rate: too high'],
  content: 'zip',
  copyOf: 'week.csv',
  delimiter: '"',
  encoding: 'utf-7',
  ending: '.txt',
  entry: 'staging/default in /data/runs',
  example: 'id_1',
  excerpt: 'Bad Gateway',
  expected: 'a share',
  lacks: 'comma',
  expression: 'recall(Spam)>=0.9',
  faults: ['name: too long'],
  file: 'posts.csv',
  folder: '/data',
  foreign: 'the view run',
  format: 'csv',
  failure: { kind: 'exit', exitCode: 3 } as const,
  flag: '--out',
  found: 'https://other.test',
  from: 'KEY',
  generated: null,
  help: 'Write it so.',
  holds: 'notes.txt',
  how: 'is',
  use: 'plan',
  host: '127.0.0.1',
  certFile: 'client.pem',
  keyFile: 'client.key',
  keyFrom: null,
  label: 'spare',
  max: 1_000,
  mixedIn: ['README.txt'],
  message: 'latency must be a duration',
  mistake: 'stages',
  most: 1_000,
  newest: '20260302-y2',
  offset: 12,
  option: '--label',
  operation: 'task',
  otherOperation: 'watchlist-add',
  part: null,
  path: 'client.key',
  place: 'keyring',
  postId: 'p-1',
  program: 'pass',
  publicUrl: 'https://example.com/hooks',
  reference: '2026',
  sent: 'the API key in KEY to https://api.test',
  takesBytes: 1_000,
  template: 'https://cdn.test/',
  tries: 10,
  sourceColumns: ['id'],
  unnamed: ['order'],
  url: 'https://api.test',
  urls: ['https://api.test/v1/tasks'],
  named: '/v1/others',
  version: 3,
  wanted: 'http://127.0.0.1:4101/callback',
  wantedBytes: 2_000,
  wantedHost: '0.0.0.0',
  wantedPort: 4102,
  workspace: '/data/runs',
  isBroken: false,
  isClosed: false,
  isDeleted: false,
  isEmpty: true,
  isEncrypted: true,
  isOwn: true,
  items: 2,
  keys: ['user_id+text_data'],
  known: ['staging'],
  lastRow: 4,
  limit: 'a sheet takes 1,048,576 rows',
  line: 3,
  location: null,
  maxCharacters: 8 * 1024 * 1024,
  mistakes: [
    { id: 'column_unknown', field: 'user_id', column: 'author', count: 2, columns: '1 `a`', nearest: null },
  ],
  name: 'posts',
  names: ['first', 'second'],
  namesBefore: ['id'],
  nearest: null,
  of: 'index',
  onUnknown: 'skip',
  ownNames: ['Name'],
  origins: ['https://api.test'],
  other: 'cdn.test',
  port: 4101,
  probes: 2,
  problems: ['pace: missing'],
  reason: 'no space',
  record: 'row 3',
  row: 3,
  rest: 0,
  rows: 2,
  tables: 2,
  posts: 3,
  sources: ['/data/a.csv'],
  rowsInKeys: [{ path: ['results'], inArray: false, objects: 2, rows: 1, hasTexts: true }],
  rule: 'Spam',
  rules: ['Spam'],
  runId: '20260301-x1',
  runs: 7,
  seconds: 5,
  character: '\n',
  groups: [
    { severity: 'warning', code: 'hidden_rows', field: null, rows: 2, examples: [] },
    {
      severity: 'warning',
      code: 'cut_cell',
      field: 'text_data',
      rows: 1,
      examples: [{ row: 3, severity: 'warning', code: 'cut_cell', field: 'text_data', found: '…end' }],
    },
  ],
  headerRow: 3,
  commands: ['index add', 'index remove'],
  services: [{ base_url: 'https://api.test', connections: [], api_key_env: 'KEY' }],
  sheet: 'Posts',
  sheetChoice: { sheet: { name: 'Posts', rows: 3 }, others: [{ name: 'Old', rows: null }] },
  sheets: ['"Old"'],
  some: ['20260301-x1'],
  source: 'posts.csv',
  pattern: 'posts-{1..5000}.csv',
  tag: 'weekly',
  status: 502,
  system: 'EADDRINUSE',
  values: ['spam'],
  variable: 'KEY',
  header: 'X-Gateway',
  what: 'key',
  withoutAnswer: 2,
  files: ['monday.csv', 'tuesday.csv'],
}

const IDS = Object.keys(ERROR_MESSAGES) as ErrorId[]

/** Errors of the command line only: the window never shows them. */
const OF_COMMANDS = new Set<ErrorId>([
  'arguments_refused',
  'assertion_of_unknown_rule',
  'assertions_unanswered',
  'baseline_alone',
  'baseline_deleted',
  'again_source_changed',
  'again_source_missing',
  'base_url_missing',
  'baseline_missing',
  'baseline_not_of_run',
  'cell_of_unknown_rule',
  'comparison_without_labels',
  'comparison_without_post_id',
  'delete_unconfirmed',
  'export_gzip_of_stdout',
  'entry_unwritable',
  'export_column_unknown',
  'filter_file_unknown',
  'export_columns_of_jsonl',
  'export_delimiter_of_csv',
  'export_delimiter_of_source',
  'export_format_of_stdout',
  'export_load_to_stdout',
  'k6_no_results',
  'k6_not_json_lines',
  'k6_same_samples',
  'labels_name_no_rule',
  'list_of_unknown_rule',
  'lookback_column_missing',
  'metrics_port_unusable',
  'last_mapping_missing',
  'mapping_of_other_operation',
  'metrics_without_load',
  'metrics_port_missing',
  'otlp_incomplete',
  'out_cut_off',
  'out_over_file',
  'out_over_source',
  'out_unwritable',
  'limit_of_load',
  'no_runs',
  'options_in_conflict',
  'plan_not_json',
  'plan_unreadable',
  'plan_untrusted',
  'production_unconfirmed',
  'prune_unconfirmed',
  'prune_unlimited',
  'resend_unconfirmed',
  'row_of_load',
  'run_ambiguous',
  'run_unknown',
  'save_plan_over_other',
  'save_plan_unwritable',
  'web_port_unusable',
  'wipe_unconfirmed',
  'sql_timed_out',
])

const toMessage = (id: ErrorId) => ({ ...ARGUMENTS, id }) as unknown as ErrorMessage

describe('the words of an error', () => {
  it.each(IDS.filter((id) => !OF_COMMANDS.has(id)))(
    '%s asks for no option or command in the window',
    (id) => {
      const { message, hint } = sayError(toMessage(id), 'window')
      expect(`${message} ${hint}`).not.toMatch(/--[a-z]|(?<!of )\bsluice [a-z]/)
      expect(`${message} ${hint}`).not.toMatch(/undefined|\[object/)
    },
  )

  it.each(IDS)('%s says what is wrong and what to do on the command line', (id) => {
    const { message, hint } = sayError(toMessage(id), 'terminal')
    expect(message).not.toBe('')
    expect(hint).toMatch(/\S/)
    expect(`${message} ${hint}`).not.toMatch(/undefined|\[object/)
  })

  it('name commands as the person starts them', () => {
    const said = { id: 'run_broke_off', runId: '20260301-x1', reason: 'no memory' } as const
    expect(sayError(said, 'terminal', 'npx sluice').hint).toContain('npx sluice resume 20260301-x1')
    expect(sayError(said, 'window').hint).toEqual(
      expect.stringMatching(/^Nothing that was recorded is lost.* Open the run to resume it/),
    )
  })

  it('list several causes one after the other', () => {
    const said = { id: 'plan_refused', file: 'plan.json', problems: ['a: missing', 'b: too long'] } as const
    expect(sayError(said, 'terminal')).toMatchObject({
      title: 'plan.json has 2 problems; nothing was sent',
      causes: ['a: missing', 'b: too long'],
      message: 'plan.json has 2 problems; nothing was sent: a: missing; b: too long',
    })
  })

  it('name a source as the person knows it', () => {
    const said = { id: 'source_is_empty', source: '/tmp/uploads/1/posts.csv' } as const
    expect(sayError(renameSource(said, 'posts.csv'), 'window').message).toBe(
      'posts.csv: expected rows, found an empty file (0 bytes)',
    )
    const other = { id: 'run_deleted', runId: 'x' } as const
    expect(renameSource(other, 'posts.csv')).toBe(other)
  })
})

describe('an error that crosses a boundary', () => {
  it('is the same error on the other side', () => {
    const error = new SluiceError({ id: 'journal_disk_full', file: 'run.sqlite', reason: 'no space' })
    const again = new SluiceError(JSON.parse(JSON.stringify(toErrorMessage(error))))
    expect(again).toMatchObject({ message: error.message, hint: error.hint, code: 'DISK_FULL', exitCode: 1 })
  })

  it('is INTERNAL if nobody expected it', () => {
    const said = toErrorMessage(new TypeError('x is not a function'))
    expect(said).toEqual({ id: 'unexpected', reason: 'x is not a function' })
    expect(new SluiceError(said)).toMatchObject({ code: 'INTERNAL', exitCode: 1 })
  })

  it('is recognised by its id alone', () => {
    expect(isErrorMessage({ id: 'run_deleted', runId: 'x' })).toBe(true)
    expect(isErrorMessage({ id: 'toString' })).toBe(false)
    expect(isErrorMessage({ code: 'INTERNAL' })).toBe(false)
    expect(isErrorMessage(null)).toBe(false)
  })
})
