import { basename } from 'node:path'
import { createRowHash } from '../../src/main/engine/mapping/row-hash.ts'
import { formatBytes } from '../../src/shared/messages/figure-text.ts'
import { ABOUT_DELAYS, MAY_INCLUDE_DELAYS } from '../../src/shared/messages/own-delays.ts'
import { sayGuarded } from '../../src/shared/run/formula-guard.ts'
import { type Answer, readAnswers } from './answers.ts'
import { compareLabels, weighNoVerdicts } from './compared-labels.ts'
import { ABOUT_FEW_MEASURED } from './few-measured.ts'
import { ABOUT_LATER_NOTICES } from './later-notices.ts'
import { ABOUT_LOST_TRIES } from './lost-tries.ts'
import { numberLikeSpreadsheets } from './row-numbers.ts'
import { sayTooFew } from './wide-intervals.ts'

/** A difference between what a golden workspace answered when it was written and what it answers today. */
export interface IntendedDifference {
  /** Why today's answer is the better one. */
  reason: string
  /** Turns an answer of then into that of today; leaves answers as they are that it is not about. */
  apply(answer: Answer, workspace: string): Answer
}

/** The warnings about rows of the golden runs that have some, hints apart. */
const ROW_WARNINGS: Readonly<Record<string, { code: string; rows: number; message: string }>> = {
  '20261125-232739-717grgv': {
    code: 'ragged_row',
    rows: 1,
    message: 'has fewer or more cells than the header (5); the rest is empty',
  },
  '20261125-232038-403cmvn': {
    code: 'not_for_api',
    rows: 8,
    message: 'text_data: is not a documented field of v2; it is sent anyway',
  },
}

/** Every document of a run in a JSON answer with the warnings about its rows. */
function addRowWarnings(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addRowWarnings)
  if (!isObject(value)) return value
  const members = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, addRowWarnings(member)]),
  )
  const runId = String(members['run_id'])
  const warning = ROW_WARNINGS[runId]
  if (warning === undefined || !Array.isArray(members['warnings'])) return members
  const added = { ...warning, list_with: `sluice show ${runId} --problems` }
  return { ...members, warnings: [...members['warnings'], added] }
}

/** The lines of `show RUN` with the warnings about its rows, and how to list them. */
function addWarningLines(runId: string, lines: readonly string[]): string[] {
  const warning = ROW_WARNINGS[runId]
  if (warning === undefined) return [...lines]
  const { rows, message } = warning
  const hasStep = lines.some((line) => line.includes(' --problems '))
  return lines.flatMap((line) => {
    if (line.startsWith('Rows ')) {
      return [`Warnings         ${rows} ${rows === 1 ? 'row' : 'rows'}  ${message}`, '', line]
    }
    if (!hasStep && line.includes(' export ')) {
      const command = `  sluice show ${runId} --problems`
      return [`${command.padEnd(line.indexOf('export your'))}rows with warnings and why`, line]
    }
    return [line.replace('invalid rows and why', 'invalid rows, warnings and why')]
  })
}

function toText(line: unknown): string {
  return typeof line === 'string' ? line : JSON.stringify(line)
}

/**
 * Lines with what they say of delays of this machine; how many seconds are marked stands at the end of the
 * first.
 */
function wordDelays(stdout: unknown): unknown {
  if (!Array.isArray(stdout)) return stdout
  const lines = stdout.map((line) => (typeof line === 'string' ? wordDelaysOfLine(line) : line))
  if (!String(lines[0]).startsWith(`▲ ${MAY_INCLUDE_DELAYS}`)) return lines
  const end = lines.indexOf('')
  return [...lines.slice(0, end), `  ${ABOUT_DELAYS}`, ...lines.slice(end)]
}

function wordDelaysOfLine(line: string): string {
  return line
    .replace(
      /Generator-limited: this machine was the bottleneck( in .*)/,
      `${MAY_INCLUDE_DELAYS} (generator-limited$1)`,
    )
    .replace(
      'This machine was the bottleneck at times. Treat all figures with caution.',
      `${MAY_INCLUDE_DELAYS}. ${ABOUT_DELAYS}`,
    )
    .replace(
      "! this machine was the bottleneck at times, so the latency is not the service's alone",
      '! latencies may include delays of this machine',
    )
    .replace(
      /^! This machine was the bottleneck in (.*) at times/,
      '! Latencies of $1 may include delays of this machine',
    )
    .replace(
      /stalled or sent late at times \((.*)\)\. Treat latencies with caution\./,
      'may have added delays to latencies: $1',
    )
    .replace(/^(Generator +)limited:/, '$1may have added delays:')
    .replace(/^(Generator .*[:,] )(limited \d)/, '$1generator-$2')
}

/** The problems of these runs that have fixes, by how their line begins, and the lines of the fixes. */
const FIXES: readonly (readonly [RegExp, (field: string) => string[]])[] = [
  [
    /^. \d+ rows? {2}(user_id|post_id): must not contain/,
    (field) => [`    Replace _ and ; reversibly: {"kind":"substitute","field":"${field}"}`],
  ],
  [
    /^. \d+ rows? {2}must have exactly one of text_data and url/,
    () => [
      '    Split into two rows: {"kind":"split"}',
      '    Send text_data only: {"kind":"value","problem":"one_of","field":"url","value":""}',
      '    Send url only: {"kind":"value","problem":"one_of","field":"text_data","value":""}',
    ],
  ],
]

/** The lines of `show RUN --problems` with the fixes of each problem behind its rows. */
function addFixLines(lines: readonly string[]): string[] {
  const added: string[] = []
  let fixes: readonly string[] = []
  let hasFix = false
  for (const line of [...lines, '']) {
    if (!line.startsWith('    ')) {
      added.push(...fixes)
      fixes = FIXES.flatMap(([pattern, toLines]) => {
        const found = pattern.exec(line)
        return found === null ? [] : toLines(found[1] ?? '')
      })
      hasFix ||= fixes.length > 0
    }
    if (hasFix && line === '') {
      added.push('Add such a fix to "fixes" of a plan, which --save-plan FILE writes')
      hasFix = false
    }
    added.push(line)
  }
  return added.slice(0, -1)
}

/** The document of a row with the hash of its cells. */
function addRowHash(stdout: unknown): unknown {
  if (!isObject(stdout) || !isObject(stdout['result']) || !Array.isArray(stdout['columns'])) return stdout
  const { columns, result } = stdout
  return { ...stdout, row_hash: createRowHash(columns as string[])(result['cells'] as string[]) }
}

/** Callbacks of this run came late, so that today's version takes them in and compares what they name. */
const RUN_WITH_LATE_CALLBACKS = { id: '20261125-232856-33067pm', late: 4 }

/** Every document of that run in a JSON answer with what became of the comparison. */
function addEchoes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addEchoes)
  if (!isObject(value)) return value
  const members = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, addEchoes(member)]))
  if (members['run_id'] !== RUN_WITH_LATE_CALLBACKS.id || !isObject(members['requests'])) return members
  const echoes = { verified: RUN_WITH_LATE_CALLBACKS.late, alike: 0, not_verifiable: 0, mismatched: 0 }
  return { ...members, echoes }
}

/** Load tests of which a threshold does not hold. */
const FAILED_LOADS: readonly string[] = ['20261125-233215-482p48x', '20261125-233259-849qfvp']

/**
 * Every difference that is meant. Whoever changes an answer adds one here, and a line to docs/migrating.md.
 */
export const INTENDED_DIFFERENCES: readonly IntendedDifference[] = [
  {
    reason: 'how far a threshold is from its limit has one form: 134 ms over the limit of 100 ms',
    apply: (answer) => JSON.parse(JSON.stringify(answer, (_, value) => toDistanceNow(value))) as Answer,
  },
  {
    reason: 'the summary of a load test whose thresholds failed says so in the place of its state',
    apply(answer) {
      const { args, stdout } = answer
      if (args[0] !== 'show' || !Array.isArray(stdout) || !stdout.some((line) => / ✗ /.test(line)))
        return answer
      const lines = stdout.map((line) =>
        line.replace(/ · completed · (?=.* measured$)/, ' · threshold failed · '),
      )
      return { ...answer, stdout: lines }
    },
  },
  {
    reason:
      'the list of runs says of a load test whose thresholds failed that it did, in the place of its state',
    apply(answer) {
      const { args, stdout } = answer
      if (args.join(' ') !== 'runs' || !Array.isArray(stdout)) return answer
      const failed = stdout.map((line) => / completed .* \d+ of \d+ failed /.test(String(line)))
      if (!failed.includes(true)) return answer
      const width = STATE_FAILED.length
      const lines = stdout.map((line, at) =>
        String(line).replace(/(?<= )(STATE {4}|completed)/, (state) =>
          (failed[at] ? STATE_FAILED : state).padEnd(width),
        ),
      )
      return { ...answer, stdout: lines }
    },
  },
  {
    reason:
      'a trend says what its runs have in common, and each of them its source and whether a load test failed',
    apply(answer) {
      const { args, stdout } = answer
      if (args[0] !== 'trend') return answer
      if (Array.isArray(stdout)) {
        const failed = FAILED_LOADS.filter((id) => stdout.some((line) => String(line).startsWith(id)))
        const lines = failed.flatMap((id) => [`${id}: threshold failed`, ''])
        return { ...answer, stdout: [...stdout, ...lines] }
      }
      if (!isObject(stdout)) return answer
      const { source, runs } = stdout as { source: string; runs: { run_id: string }[] }
      if (runs === undefined) return answer
      const toRun = (run: { run_id: string }) => ({
        ...run,
        source,
        load_failure: FAILED_LOADS.includes(run.run_id) ? 'threshold failed' : null,
      })
      return { ...answer, stdout: { ...stdout, by: 'sources', runs: runs.map(toRun) } }
    },
  },
  {
    reason: 'each JSON document says which version of its schema it follows',
    apply: (answer) => {
      const { args, stdout } = answer
      if (!args.includes('--json') || (Array.isArray(stdout) && stdout.length === 0)) return answer
      const addVersion = (document: object) => ({ schema_version: 2, ...document })
      return {
        ...answer,
        stdout: Array.isArray(stdout) ? stdout.map(addVersion) : addVersion(stdout as object),
      }
    },
  },
  {
    reason: 'CSV on stdout has no byte-order mark, which a pipe takes for part of the first name',
    apply: (answer) => {
      const { args, stdout } = answer
      if (args[0] !== 'export' || args[2] !== '-' || !Array.isArray(stdout)) return answer
      const [first, ...lines] = stdout
      return {
        ...answer,
        stdout: [typeof first === 'string' ? first.replace(/^\uFEFF/, '') : first, ...lines],
      }
    },
  },
  {
    reason: 'cells of a CSV that were escaped as formulas are counted',
    apply: (answer) => {
      const { args, stdout } = answer
      if (args[0] !== 'export' || args[2] !== '-' || args.includes('--lossless')) return answer
      if (!args.includes('csv') || !Array.isArray(stdout)) return answer
      const escaped = stdout.flatMap((line) => String(line).match(/(?:^|,)"?'[=+\-@]/g) ?? []).length
      if (escaped === 0) return answer
      const unchanged = `--lossless writes ${escaped === 1 ? 'it' : 'them'} unchanged`
      return { ...answer, stderr: [sayGuarded(escaped, unchanged), ''] }
    },
  },
  {
    reason: 'exports say how many rows have no result yet',
    apply: (answer) => {
      const { args, stdout, files } = answer
      if (args[0] !== 'export') return answer
      const isPiped = args[2] === '-'
      const lines = isPiped ? stdout : Object.values(files).flat()
      const open = Array.isArray(lines)
        ? lines.filter((line) => /,not_sent,|"state":"not_sent"/.test(toText(line))).length
        : 0
      if (open === 0) return answer
      if (!isPiped) return { ...answer, stdout: { ...Object(stdout), rows_without_result: open } }
      return { ...answer, stderr: [`${open} rows of the run had no result yet when this was written`, ''] }
    },
  },
  {
    reason: 'JSON says how many cells of a CSV file were escaped',
    apply: (answer) => ({ ...answer, stdout: addEscaped(answer.stdout, answer.files) }),
  },
  {
    reason:
      'labels that stand for no rule are named, and an interval that leaves nearly everything open is not shown',
    apply: (answer) => {
      const { args, stdout } = answer
      if (args.some((arg) => arg.startsWith('hate='))) return answer
      if (args[0] === 'evaluate' && Array.isArray(stdout) && stdout.every((line) => typeof line === 'string'))
        return { ...answer, stdout: sayTooFew(nameUnread(stdout)) }
      return { ...answer, stdout: addUnread(stdout) }
    },
  },
  {
    reason: 'the CSV of a load test says when each second began',
    apply: addTimes,
  },
  {
    reason: 'callbacks that differ from the one that counts, or name another post, are counted',
    apply: (answer) => ({ ...answer, stdout: addCallbackCounts(answer.stdout) }),
  },
  {
    reason: 'a list that an answer has and that is empty is not the same as none',
    apply: (answer) => {
      const files = Object.fromEntries(
        Object.entries(answer.files).map(([name, lines]) => [name, lines.map(fillEmptyLists)]),
      )
      const added = countCharacters(files) - countCharacters(answer.files)
      const stdout = Array.isArray(answer.stdout) ? answer.stdout.map(fillEmptyLists) : answer.stdout
      return { ...answer, files, stdout: addBytes(stdout, added) }
    },
  },
  {
    reason: 'warnings about rows are told where the result of a run is',
    apply: (answer) => {
      const { args, stdout } = answer
      if (args.includes('--json')) return { ...answer, stdout: addRowWarnings(stdout) }
      const [command, runId = '', ...rest] = args
      if (command !== 'show' || rest.length > 0) return answer
      return { ...answer, stdout: addWarningLines(runId, stdout as string[]) }
    },
  },
  {
    reason: 'warnings say what was found, not what must be',
    apply: (answer) => ({ ...answer, stdout: wordAsFound(answer.stdout) }),
  },
  {
    reason: 'the list of problems names the fix of each that has one',
    apply: (answer) => {
      const { args, stdout } = answer
      if (args[0] !== 'show' || !args.includes('--problems') || args.includes('--json')) return answer
      return { ...answer, stdout: addFixLines(stdout as string[]) }
    },
  },
  {
    reason: 'late callbacks are compared with the ids that were sent',
    apply: (answer) => ({ ...answer, stdout: addEchoes(answer.stdout) }),
  },
  {
    reason: 'a row is shown with the hash that a fix of it needs',
    apply: (answer) => ({ ...answer, stdout: addRowHash(answer.stdout) }),
  },
  {
    reason: 'the keys of a comparison have underscores, and sides can be several runs',
    apply: (answer) => {
      const { args, stdout } = answer
      if (args[0] !== 'compare' || !isObject(stdout) || Array.isArray(stdout)) return answer
      const { a_run_id: a, b_run_id: b } = stdout
      const added = { a_run_ids: [a], b_run_ids: [b], gate: null }
      return { ...answer, stdout: { ...(writeWithUnderscores(stdout) as object), ...added } }
    },
  },
  {
    reason: 'summaries of load tests have their first tries, and reports how many requests were retries',
    apply: (answer) => ({ ...answer, stdout: addFirstTries(answer.stdout) }),
  },
  {
    reason: 'connections have headers of their own, and a way to their host',
    apply: (answer) => {
      const { args, stdout } = answer
      if (args[0] !== 'connection' || !args.includes('--json')) return answer
      const own = { headers: {}, keep_alive: true, resolve: [], unix_socket: null, user_agent: null }
      const added = { ...own, traceparent: false }
      const add = (one: unknown) => (isObject(one) ? { ...one, ...added } : one)
      return { ...answer, stdout: Array.isArray(stdout) ? stdout.map(add) : add(stdout) }
    },
  },
  {
    reason: 'tries of a row that a retry sent again have their answers',
    apply: (answer, workspace) =>
      workspace === 'retried' ? { ...answer, stdout: addAnswersOfTries(answer.stdout) } : answer,
  },
  {
    reason: 'a comparison counts the rows that failed in both runs',
    apply: (answer) => {
      const { args, stdout } = answer
      if (args[0] !== 'compare' || !isObject(stdout) || !isObject(stdout['decisions'])) return answer
      return { ...answer, stdout: { ...stdout, decisions: { ...stdout['decisions'], unanswered: 0 } } }
    },
  },
  {
    reason: 'a comparison counts the rows that one of the runs skipped',
    apply: (answer) => {
      const { args, stdout } = answer
      if (args[0] !== 'compare' || !isObject(stdout) || !isObject(stdout['decisions'])) return answer
      return { ...answer, stdout: { ...stdout, decisions: { ...stdout['decisions'], skipped: 0 } } }
    },
  },
  {
    reason: 'load tests can be reported as Markdown',
    apply: (answer) => {
      const { stdout } = answer
      const name = (line: unknown) => String(line).replace('; also .junit.xml', '; also .md, .junit.xml')
      return Array.isArray(stdout) && !answer.args.includes('--json')
        ? { ...answer, stdout: stdout.map(name) }
        : answer
    },
  },
  {
    reason: 'a run lists its sessions; those of the version that wrote it are one',
    apply: (answer, workspace) => ({ ...answer, stdout: addSessions(answer.stdout, workspace) }),
  },
  {
    reason: 'latencies may include delays of this machine, which says no more than is known',
    apply: (answer) => {
      const files = Object.fromEntries(
        Object.entries(answer.files).map(([name, lines]) => [name, lines.map(wordDelaysOfLine)]),
      )
      const stdout = wordDelays(answer.stdout)
      const [junit] = Object.values(files)
      if (
        !answer.args.some((arg) => arg.endsWith('.junit.xml')) ||
        junit === undefined ||
        !Array.isArray(stdout)
      )
        return { ...answer, files, stdout }
      const size = formatBytes(Buffer.byteLength(junit.join('\n')))
      return {
        ...answer,
        files,
        stdout: stdout.map((line) => String(line).replace(/(\.junit\.xml \().*\)/, `$1${size})`)),
      }
    },
  },
  {
    reason: 'a comparison warns of rows that were sent with another text',
    apply: (answer, workspace) =>
      workspace === 'compared' ? { ...answer, stdout: warnOfEdited(answer) } : answer,
  },
  {
    reason: 'a comparison by labels has wide intervals where few rows tell, and names labels without a rule',
    apply: compareLabels,
  },
  {
    reason: 'verdicts on a sample are not weighted next to labels, which would count rows twice',
    apply: weighNoVerdicts,
  },
  {
    reason: 'the largest latency is kept exactly, also that of a callback which is read late',
    apply: (answer, workspace) =>
      workspace === 'overdue' ? { ...answer, stdout: keepLargest(answer.stdout) } : answer,
  },
  {
    reason: 'a ledger of an index has the metadata of its items as they were sent',
    apply(answer) {
      const { args, stdout } = answer
      if (args[0] !== 'ledger' || args[1] !== 'index' || !isObject(stdout)) return answer
      if (!Array.isArray(stdout['entries'])) return answer
      const entries = stdout['entries'].map(({ metadata, ...entry }) => ({
        ...entry,
        metadata,
        metadata_text: metadata === null ? null : JSON.stringify(metadata),
      }))
      return { ...answer, stdout: { ...stdout, entries } }
    },
  },
  {
    reason: 'a ledger of a watchlist has the notes of terms that are not on it as they were sent',
    apply: (answer) =>
      answer.args[0] === 'ledger' && answer.args[1] === 'watchlist' ? addAbsentNotes(answer) : answer,
  },
  {
    reason: 'answers have the same words in a row and a ledger as in a summary: pre-existing',
    apply(answer) {
      const { args, stdout } = answer
      if (!Array.isArray(stdout) || args.includes('--json')) return answer
      const lines = stdout.map((line) => String(line).replace(/\b(pre existing|non existent)\b/, toHyphen))
      return { ...answer, stdout: lines }
    },
  },
  ...ABOUT_LOST_TRIES,
  ...ABOUT_LATER_NOTICES,
  ...ABOUT_FEW_MEASURED,
  {
    reason: 'a trend has the warnings of the evaluation of each run',
    apply(answer) {
      const { args, stdout } = answer
      if (args[0] !== 'trend' || !isObject(stdout) || !Array.isArray(stdout['runs'])) return answer
      const warnings = ['No row has the label `link`.', 'No row triggered the rule `Contains a link`.']
      const runs = stdout['runs'].map((run) =>
        isObject(run['metrics']) ? { ...run, metrics: { ...run['metrics'], warnings } } : run,
      )
      return { ...answer, stdout: { ...stdout, runs } }
    },
  },
  {
    reason: 'rows are numbered as their spreadsheet shows them, and records have their number beside it',
    apply: numberLikeSpreadsheets,
  },
]

/** A try of the golden run that was retried, in a line of JSON, and behind it a try of its retry. */
const TRY_BEFORE_RETRY =
  /(\{"run_id":"20261125-232925-3086h5q",[^{}]*)\}(?=,\{"run_id":"20261125-232929-752nghv")/g

/**
 * Adds the answer of the sandbox to the last try of the golden run that was retried, where a try of its retry
 * follows.
 */
function addAnswersOfTries(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.replace(
      TRY_BEFORE_RETRY,
      (tried, open: string) => `${open},"response":{"body":${toRefusal(JSON.parse(tried))}}}`,
    )
  }
  if (Array.isArray(value)) return value.map(addAnswersOfTries)
  if (!isObject(value) || !Array.isArray(value['attempts'])) return value
  const tries = value['attempts'] as Record<string, unknown>[]
  const attempts = tries.map((tried, index) =>
    index === tries.length - 1 ? tried : { ...tried, response: { body: toRefusal(tried), cut_from: null } },
  )
  return { ...value, attempts }
}

function toRefusal({ status, error_code, message }: Record<string, unknown>): string {
  return JSON.stringify({ error: true, status, error_code, message, show_alert: false })
}

/** Adds the counts of first tries and of retries to summaries and reports of load tests. */
function addFirstTries(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addFirstTries)
  if (!isObject(value)) return value
  const inner = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, addFirstTries(one)]))
  const { load, requests, throughput, counts, rates } = value
  if (isObject(rates) && isObject(counts) && 'attemptedPerS' in rates) return { ...inner, retried: 0 }
  if (!isObject(load) || !isObject(requests) || !isObject(throughput) || !('scheduled_per_s' in load)) {
    return inner
  }
  const iterations = Number(requests['sent']) - Number(requests['retried'])
  return { ...inner, load: { ...load, iterations, iterations_per_s: throughput['attempted_per_s'] } }
}

/** When the golden runs ended that have retries, which tell only when the last of these did. */
const ENDED: Readonly<Record<string, string>> = {
  '20261125-233000-734k7kc': '2026-11-25T23:30:01.793Z',
  '20261125-232925-3086h5q': '2026-11-25T23:29:27.694Z',
}
/** The retries of golden runs, by the run: the workspace of each shows both. */
const RETRY_KINDS: Readonly<Record<string, string>> = { corrected: 'correction', retried: 'retry' }

/**
 * Every document of a run with its sessions and those of its retries, each with its own requests and time.
 */
function addSessions(value: unknown, workspace: string): unknown {
  if (Array.isArray(value)) return value.map((one) => addSessions(one, workspace))
  if (!isObject(value)) return value
  const inner = Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, addSessions(one, workspace)]),
  )
  const { retries, requests, throughput } = value
  if (!Array.isArray(retries) || !isObject(requests) || !isObject(throughput)) return inner
  const others = retries.map(({ run_id: runId }) => {
    const shown = readAnswers(workspace).find(({ args }) => args.join(' ') === `show ${runId} --json`)
    return toSession(shown?.stdout as SummaryOfThen, workspace)
  })
  const own = toSession(value as unknown as SummaryOfThen, workspace)
  for (const { requests: sent, duration_s: durationS } of others) {
    for (const [name, n] of Object.entries(sent)) own.requests[name] = (own.requests[name] ?? 0) - n
    own.duration_s = Math.round((own.duration_s - durationS) * 1_000) / 1_000
  }
  return { ...inner, sessions: [own, ...others] }
}

interface SummaryOfThen {
  run_id: string
  parent_run_id: string | null
  created_at: string
  ended_at: string | null
  requests: Record<string, number>
  throughput: { duration_s: number }
}

function toSession(summary: SummaryOfThen, workspace: string) {
  const { run_id, parent_run_id: parent, created_at, ended_at, throughput } = summary
  const { retried: _retried, ...requests } = summary.requests
  return {
    number: 1,
    kind: parent === null ? 'start' : RETRY_KINDS[workspace],
    run_id,
    started_at: created_at,
    ended_at: ENDED[run_id] ?? ended_at,
    app_version: '0.1.0',
    rows_taken: 0,
    requests: requests as Record<string, number>,
    duration_s: Math.round(throughput.duration_s * 1_000) / 1_000,
  }
}

const RENAMED: Readonly<Record<string, string>> = {
  ...{ failedShare: 'failed_share', succeededPerS: 'succeeded_per_s', planDifferences: 'plan_differences' },
  ...{ isBatched: 'is_batched', aMs: 'a_ms', bMs: 'b_ms' },
}

function writeWithUnderscores(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(writeWithUnderscores)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [RENAMED[name] ?? name, writeWithUnderscores(inner)]),
  )
}

/** Rewords the warning of rows with fewer cells than the header. */
function wordAsFound(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.replace(
      /must have (\d+) cells, like the header/,
      'has fewer or more cells than the header ($1); the rest is empty',
    )
  }
  if (Array.isArray(value)) return value.map(wordAsFound)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, wordAsFound(inner)]))
}

function countCharacters(files: Answer['files']): number {
  return Object.values(files).reduce((sum, lines) => sum + lines.join('').length, 0)
}

/** Makes the size that is told of a file larger. */
function addBytes(value: unknown, added: number): unknown {
  if (Array.isArray(value)) return value.map((inner) => addBytes(inner, added))
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([name, inner]) => [
    name,
    name === 'bytes' && typeof inner === 'number' ? inner + added : addBytes(inner, added),
  ])
  return Object.fromEntries(members)
}

/** When the golden load tests began, milliseconds. */
const STARTED_MS: Readonly<Record<string, number>> = {
  '20261125-233240-969qr5r': 1_795_649_562_124,
  '20261125-233239-496hnq8': 1_795_649_560_403,
  '20261125-233237-409c8mk': 1_795_649_558_987,
  '20261125-233259-849qfvp': 1_795_268_435_573,
  '20261125-233258-144ck2z': 1_795_649_578_988,
  '20261125-233256-769h3bm': 1_795_649_577_225,
  '20261125-233254-057p9pz': 1_795_649_574_882,
  '20261125-233225-877kj4r': 1_795_649_547_309,
  '20261125-233215-482p48x': 1_795_649_536_294,
  '20261125-233206-240w8sb': 1_795_649_528_219,
}

/** The CSV of a load test with the column `time`, and its size. */
function addTimes(answer: Answer): Answer {
  const { args, files, stdout } = answer
  const startedMs = STARTED_MS[args[1] ?? '']
  const lines = files['load.csv']
  if (args[0] !== 'export' || startedMs === undefined || lines === undefined) return answer
  const added = lines.map((line, index) => {
    if (line === '') return line
    const time = new Date(startedMs + Number.parseInt(line, 10) * 1000)
    return line.replace(/,([^,]*)$/, `,${index === 0 ? 'time' : time.toISOString()},$1`)
  })
  const toSize = (text: readonly string[]) => `(${formatBytes(Buffer.byteLength(text.join('\r\n')))})`
  const said = Array.isArray(stdout)
    ? stdout.map((line) => String(line).replace(/\([^()]* k?B\)$/, toSize(added)))
    : stdout
  return { ...answer, files: { ...files, 'load.csv': added }, stdout: said }
}

/** Adds them wherever callbacks of a run are counted. */
function addCallbackCounts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addCallbackCounts)
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([name, inner]) => [name, addCallbackCounts(inner)])
  const isCounts = typeof value['early'] === 'number' && typeof value['doubled'] === 'number'
  return { ...Object.fromEntries(members), ...(isCounts && { differing: 0, other_post: 0 }) }
}

/**
 * Cells of a row of CSV from its language on, which only legacy answers have: four lists follow, each of
 * which they have.
 */
const LISTS = /(,(?:true|false),[A-Z]{2},)((?:(?:"(?:[^"]|"")*"|[^",]*),){4})/

function fillEmptyLists<Line>(line: Line): Line | string {
  if (typeof line !== 'string') return line
  return line.replace(LISTS, (_, before: string, lists: string) => {
    return before + lists.replace(/^,|(?<=,),/g, '[],')
  })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** What a golden workspace has to answer today, and to which question: arguments may differ, too. */
export function toExpected(answer: Answer, workspace: string): Answer {
  return INTENDED_DIFFERENCES.reduce((expected, { apply }) => apply(expected, workspace), answer)
}

const GUARDED = /(?:^|,)"?'[=+\-@]/g

/** Every document of a written CSV with the number of its escaped cells. */
function addEscaped(value: unknown, files: Answer['files']): unknown {
  if (Array.isArray(value)) return value.map((member) => addEscaped(member, files))
  if (!isObject(value)) return value
  const members = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, addEscaped(member, files)]),
  )
  const { file } = members
  if (typeof file !== 'string' || !('bytes' in members)) return members
  const lines = file.endsWith('.csv') ? (files[basename(file)] ?? []) : []
  const escaped = lines.flatMap((line) => String(line).match(GUARDED) ?? []).length
  return escaped === 0 ? members : { ...members, escaped_cells: escaped }
}

const STATE_FAILED = 'threshold failed'

const DISTANCE_BEFORE =
  /([<>]|&lt;|&gt;)=?([\d.]+)(.*?)(?:crossed by ([\d.,]+(?: ms| points)?)|([\d.,]+(?: ms| points)?) to spare)(?: \((?:[\d.,]+ % of the limit|limit [\d.]+ (?:ms|%))\))?/g

function toDistanceNow(value: unknown): unknown {
  if (typeof value !== 'string') return value
  return value.replace(
    DISTANCE_BEFORE,
    (whole, operator: string, limit: string, between: string, over?: string, spare?: string) => {
      const distance = over ?? spare ?? ''
      const side = (over !== undefined) === (operator === '<' || operator === '&lt;') ? 'over' : 'under'
      const amount = Number(limit) * (distance.endsWith('points') ? 100 : 1)
      const unit = distance.endsWith('ms') ? ' ms' : distance.endsWith('points') ? ' %' : ''
      const head = whole.slice(0, whole.indexOf(between, operator.length + limit.length))
      return `${head}${between}${distance} ${side} the limit of ${amount.toLocaleString('en')}${unit}`
    },
  )
}

const EDITED =
  'Of 1 row that triggers other rules, 1 was sent with another text or address in B, which may be why it differs. To leave it out, join rows by content.'

/** What `compare` prints about the golden runs with the warning, unless rows are joined by content. */
function warnOfEdited({ args, stdout }: Answer): unknown {
  if (args[0] !== 'compare' || args.includes('content')) return stdout
  if (Array.isArray(stdout)) {
    return stdout.flatMap((line) => (/^Rows +14 /.test(String(line)) ? [`! ${EDITED}`, '', line] : [line]))
  }
  if (!isObject(stdout) || !isObject(stdout['decisions'])) return stdout
  const { warnings } = stdout['decisions']
  if (!Array.isArray(warnings)) return stdout
  return { ...stdout, decisions: { ...stdout['decisions'], warnings: [...warnings, EDITED] } }
}

/** The term of the golden watchlist that the service did not have, with the notes that were sent. */
const ABSENT = { term: 'unheard of', notes: 'z' }

function addAbsentNotes(answer: Answer): Answer {
  const { stdout, files } = answer
  if (Array.isArray(stdout)) {
    const lines = stdout.map((line) => (line.startsWith(ABSENT.term) ? `${line}  ${ABSENT.notes}` : line))
    return { ...answer, stdout: lines }
  }
  if (!isObject(stdout)) return answer
  const exported = Object.entries(files).map(([name, lines]) => [
    name,
    lines.map((line) => line.replace(`${ABSENT.term},,`, `${ABSENT.term},${ABSENT.notes},`)),
  ])
  const { entries, bytes } = stdout
  return {
    ...answer,
    files: Object.fromEntries(exported),
    stdout: {
      ...stdout,
      ...(typeof bytes === 'number' && { bytes: bytes + ABSENT.notes.length }),
      ...(Array.isArray(entries) && {
        entries: entries.map((entry) =>
          entry.term === ABSENT.term ? { ...entry, notes: ABSENT.notes } : entry,
        ),
      }),
    },
  }
}

function toHyphen(words: string): string {
  return words.replace(' ', '-')
}

/** The end of the histogram's cell that the golden callback was in, and its own latency, milliseconds. */
const [CELL_END, LARGEST] = [3_262.463, 3_261.028]

function keepLargest(value: unknown): unknown {
  if (value === CELL_END) return LARGEST
  if (typeof value === 'string' && / callback_latency /.test(value)) return value.replaceAll('3,262', '3,261')
  if (Array.isArray(value)) return value.map(keepLargest)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, keepLargest(member)]))
}

/** The label of the golden runs that stands for no rule. */
const UNREAD = 'hate'

function addUnread(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addUnread)
  if (!isObject(value)) return value
  const members = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, addUnread(member)]))
  const { labels } = members
  if (!isObject(labels) || !Array.isArray(labels['values'])) return members
  const unread = labels['values'].filter(({ value: label }) => label === UNREAD)
  if (unread.length === 0) return members
  return { ...members, labels: { ...labels, unread: unread.map(({ rows }) => ({ value: UNREAD, rows })) } }
}

/** The lines of an evaluation with the label that stands for no rule, before the first rule. */
function nameUnread(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => /^ +triggered +did not$/.test(line)) - 1
  if (first < 0 || !lines.some((line) => line.includes(`${UNREAD} (2)`))) return [...lines]
  const told = `! Labels that stand for no rule count as rows that should trigger none: \`${UNREAD}\` (2 rows).`
  return [...lines.slice(0, first), told, '', ...lines.slice(first)]
}
