/** The parts of a run in `runs --json` that the questions depend on. */
export interface ListedRun {
  run_id: string
  operation: string
  mode: string
  load?: unknown
  retries: readonly { run_id: string }[]
}

const LABELS = [
  ...['--label', 'truth', '--separator', ';'],
  ...['--positive', 'spam=Likely spam', '--positive', 'link=Contains a link'],
]
const SCORES = ['--score', 'spam=Likely spam', '--threshold', 'spam=2', '--precision', '0.9']
const JSON_FLAG = ['--json']

/**
 * The questions about a workspace: about all its runs, each run, and the newest two. Exports, reports,
 * evaluations and samples each start a thread, so each is asked only if it adds something new.
 */
export function listQuestions(name: string, runs: readonly ListedRun[]): string[][] {
  const [newest, before] = runs
  return [
    ['runs', ...JSON_FLAG],
    ['runs'],
    ['runs', '--failed', '--sort', 'rows', ...JSON_FLAG],
    ...runs.flatMap(askRun),
    ...(newest === undefined || before === undefined ? [] : askPair(before.run_id, newest.run_id)),
    ...runs.slice(0, 1).flatMap(({ run_id }) => [
      ['trend', run_id, ...JSON_FLAG],
      ['trend', run_id],
    ]),
    ...askLedgers(runs),
    ...(EXTRA[name] ?? (() => []))(runs.map(({ run_id }) => run_id)),
  ]
}

function askRun(run: ListedRun): string[][] {
  const { run_id: id, load, retries } = run
  return [
    ...[id, ...retries.map((retry) => retry.run_id)].flatMap((one) => [
      ['show', one, ...JSON_FLAG],
      ['show', one],
      ...(load === undefined ? askRows(one) : []),
    ]),
    ['show', id, '--problems', ...JSON_FLAG],
    ['show', id, '--problems'],
    ['report', id, ...JSON_FLAG],
    ...(load === undefined ? askExports(id) : askLoad(id)),
    ...retries.map((retry) => ['export', retry.run_id, '-', '--format', 'csv']),
  ]
}

function askRows(id: string): string[][] {
  return [
    ...['1', '2', '4', '7'].map((row) => ['show', id, '--row', row, ...JSON_FLAG]),
    ['show', id, '--row', '2'],
  ]
}

function askExports(id: string): string[][] {
  return [
    ['export', id, '-', '--format', 'csv'],
    ['export', id, '-', '--format', 'jsonl'],
    ['export', id, '{out}/all.csv', '--columns', 'all', '--rules-as-columns', '--lossless', ...JSON_FLAG],
  ]
}

function askLoad(id: string): string[][] {
  return ['csv', 'jsonl', 'junit.xml', 'hlog'].map((ending) => ['export', id, `{out}/load.${ending}`])
}

function askPair(a: string, b: string): string[][] {
  return [
    ['compare', a, b, ...JSON_FLAG],
    ['compare', a, b],
  ]
}

function askParts(id: string): string[][] {
  return [
    ['export', id, '{out}/succeeded.csv', '--errors', '{out}/errors.csv', ...JSON_FLAG],
    ['export', id, '-', '--format', 'csv', '--state', 'unsuccessful'],
  ]
}

function askLedgers(runs: readonly ListedRun[]): string[][] {
  const asked = (of: string) => [
    [...of.split(' '), ...JSON_FLAG],
    [...of.split(' '), '--state', 'all'],
    [...of.split(' '), '--state', 'all', '--export', '{out}/ledger.csv', ...JSON_FLAG],
  ]
  const has = (start: string) => runs.some(({ operation }) => operation.startsWith(start))
  return [
    ...(has('index') ? [['ledger', 'index', ...JSON_FLAG], ...asked('ledger index sandbox-index')] : []),
    ...(has('watchlist') ? asked('ledger watchlist') : []),
    ...(has('appeal') ? asked('ledger appeals') : []),
  ]
}

const EXTRA: Readonly<Record<string, (ids: readonly string[]) => string[][]>> = {
  'task-v1-sync': ([id = '']) => askParts(id),
  retried: ([id = '']) => askParts(id),
  'task-legacy': ([id = '']) => [
    ['evaluate', id, ...LABELS, '--slice', 'language', ...SCORES, ...JSON_FLAG],
    ['evaluate', id, ...LABELS],
    ['report', id, ...LABELS, ...JSON_FLAG],
  ],
  evaluated: ([id = '']) => [
    ['evaluate', id, ...LABELS, ...SCORES, '--export', '{out}/evaluated.csv', ...JSON_FLAG],
    ['evaluate', id, ...LABELS, '--list', 'fn:Likely spam', '--assert', 'recall(Likely spam)>=0.99'],
    ['sample', id, '{out}/sample.csv', '--size', '9', '--by', 'rule', '--seed', '7', ...JSON_FLAG],
    ['sample', id, '{out}/sample.csv', '--size', '9', '--by', 'score-band:spam', '--allocation', 'equal'],
    ['trend', id, ...LABELS, ...JSON_FLAG],
  ],
  labelled: ([id = '']) => [
    ['verdict', id, ...JSON_FLAG],
    ['verdict', id],
    ['verdict', id, '--export', '{out}/verdicts.csv'],
    ['evaluate', id, '--verdicts', ...JSON_FLAG],
    ['evaluate', id, ...LABELS, '--verdicts', ...JSON_FLAG],
  ],
  corrected: ([id = '']) => [['evaluate', id, ...LABELS, ...JSON_FLAG]],
  compared: ([newest = '', before = '']) => [
    ['compare', before, newest, ...LABELS, ...JSON_FLAG],
    ['compare', before, newest, '--by', 'row', '--export', '{out}/changed.csv', ...JSON_FLAG],
    ['compare', before, newest, '--by', 'content', '--limit', '3', ...JSON_FLAG],
    ['compare', before, newest, '--fail-if-changed', '1%'],
  ],
  baseline: () => [
    ['baseline', 'list', ...JSON_FLAG],
    ['compare', '--against-baseline', ...JSON_FLAG],
    ['compare', 'latest', '--baseline', 'release', ...JSON_FLAG],
  ],
  annotated: () => [
    ['runs', '--tag', 'nightly', ...JSON_FLAG],
    ['runs', '--search', 'üNÏCODE odd', ...JSON_FLAG],
    ['runs', 'retention', ...JSON_FLAG],
  ],
  connections: () => [
    ['connection', 'list', ...JSON_FLAG],
    ['connection', 'list'],
    ['connection', 'show', 'live', ...JSON_FLAG],
    ['mapping', 'list', ...JSON_FLAG],
    ['baseline', 'list', ...JSON_FLAG],
  ],
}
