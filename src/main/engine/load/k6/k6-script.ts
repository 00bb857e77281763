import { type Load, toMaxInFlight, toMeasuredMs } from '../../../../shared/load/load.ts'
import { isOpen, LOAD_MAX_MS, type Stage, toPeak, toWarmupLevel } from '../../../../shared/load/load-pace.ts'
import { toLoadTarget } from '../../../../shared/load/load-target.ts'
import { formatDurationMs } from '../../../../shared/messages/duration.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import { type PlanHeaders, parseHeaderValue } from '../../../../shared/plan/request-headers.ts'
import { parseResolvedHost } from '../../../../shared/plan/resolved-host.ts'
import { JSON_CONTENT_TYPE } from '../../../../shared/service/endpoints.ts'
import { formatK6Success } from './k6-success.ts'
import { NOT_SUCCEEDED, toK6Thresholds } from './k6-thresholds.ts'

/** A file of rows next to the script, and how many it holds. */
export interface K6RowsFile {
  name: string
  rows: number
}

/** A plan whose load k6 can send. */
export type K6Plan = Pick<Plan, 'connection' | 'operation'> & { load: Load }

export const SCRIPT_BEGINNING = '// Written by Sluice'

/** k6's options for a plan: scenarios, thresholds, contents of its summary. */
export function toK6Options(plan: K6Plan): Record<string, unknown> {
  const { load, connection } = plan
  return {
    scenarios: toK6Scenarios(load, connection.timeoutMs),
    thresholds: toK6Thresholds(load, toLoadTarget(plan).path).thresholds,
    ...(connection.userAgent === undefined ? {} : { userAgent: connection.userAgent }),
    ...(connection.keepAlive === false ? { noConnectionReuse: true } : {}),
    ...(connection.resolve === undefined ? {} : { hosts: toK6Hosts(connection.resolve) }),
    summaryTrendStats: ['count', 'min', 'avg', 'med', 'p(90)', 'p(95)', 'p(99)', 'p(99.9)', 'max'],
  }
}

function toK6Hosts(resolve: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    resolve.flatMap((written) => {
      const found = parseResolvedHost(written)
      return found === null ? [] : [[`${found.host}:${found.port}`, found.address]]
    }),
  )
}

/** Further headers. The script reads from variables what the plan takes from variables and files. */
function formatK6Headers(headers: PlanHeaders = {}): string {
  return Object.entries(headers)
    .map(([name, written]) => `, ${JSON.stringify(name)}: ${toExpression(name, written)}`)
    .join('')
}

function toExpression(name: string, written: string): string {
  const value = parseHeaderValue(written)
  if (value.kind === 'text') return JSON.stringify(written)
  if (value.kind === 'file') return `__ENV.${nameK6Header(name)}`
  const parts = written.split(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/)
  return parts
    .map((part, index) => (index % 2 === 1 ? `__ENV.${part}` : JSON.stringify(part)))
    .filter((part) => part !== '""')
    .join(' + ')
}

/** The variable from which a script reads a header value that a plan takes from a file. */
function nameK6Header(name: string): string {
  return `SLUICE_HEADER_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`
}

/** The variables from which a script reads the headers of a plan, each with its header. */
export function listK6HeaderVariables(headers: PlanHeaders = {}): [variable: string, header: string][] {
  return Object.entries(headers).flatMap(([name, written]): [string, string][] => {
    const value = parseHeaderValue(written)
    if (value.kind === 'variables') return value.names.map((variable) => [variable, name])
    return value.kind === 'file' ? [[nameK6Header(name), name]] : []
  })
}

/** The end of each stage, milliseconds after the first began; '' if the pace has no stages. */
function formatStageEnds({ pace }: Load): string {
  if (pace.kind !== 'stages') return ''
  let endMs = 0
  const ends = pace.stages.map(({ durationMs }) => {
    endMs += durationMs
    return endMs
  })
  return `const STAGE_ENDS_MS = ${JSON.stringify(ends)}\n\n`
}

/** The script of a k6 project: sends the rows in order, over and over, each time under a new post_id. */
export function formatK6Script(plan: K6Plan, files: readonly K6RowsFile[], appVersion: string): string {
  const { connection, load } = plan
  const { baseUrl, path } = toLoadTarget(plan)
  const hasClientCertificate = connection.tls?.certFile !== undefined
  const think = load.thinkTime
  return `${SCRIPT_BEGINNING} ${appVersion}. See README.md next to it.
import { SharedArray } from 'k6/data'
import exec from 'k6/execution'
import http from 'k6/http'
import { Rate } from 'k6/metrics'
import { check${think === undefined ? '' : ', sleep'} } from 'k6'

const BASE_URL = (__ENV.SLUICE_BASE_URL || ${JSON.stringify(baseUrl)}).replace(/\\/+$/, '')
const URL_OF_TASKS = BASE_URL + ${JSON.stringify(path)}
const KEY_NAME = ${JSON.stringify(connection.apiKeyEnv)}
const HEADER_VARIABLES = ${JSON.stringify(listK6HeaderVariables(connection.headers).map(([variable]) => variable))}
const HTTP_VERSION = ${JSON.stringify(load.httpVersion)}

export const options = ${JSON.stringify(toK6Options(plan), null, 2)}
${hasClientCertificate ? 'options.tlsAuth = [{ cert: open(__ENV.SLUICE_CLIENT_CERT), key: open(__ENV.SLUICE_CLIENT_KEY) }]\n' : ''}
// Each row is the JSON of its body in two parts; the post_id of a submission goes between them.
const FILES = ${JSON.stringify(files.map(({ name, rows }) => [name, rows]))}
const ROWS = FILES.map(([name]) => new SharedArray(name, () => JSON.parse(open('./' + name))))
const COUNT = FILES.reduce((sum, [, rows]) => sum + rows, 0)

// What k6's results do not say: how long the warm-up was, and the measured part where its end is known.
const PLANNED = ${JSON.stringify({ warmup_ms: load.warmupMs, measured_ms: toMeasuredMs(load) })}

${formatStageEnds(load)}// A 3xx is not a success: redirects are not followed, so that the key reaches no other host.
http.setResponseCallback(http.expectedStatuses({ min: 200, max: 299 }))
const notSucceeded = new Rate('${NOT_SUCCEEDED}')

/** Checks what the run needs, and names it: post_ids of two runs never meet. */
export function setup() {
  if (!__ENV[KEY_NAME]) throw new Error('set ' + KEY_NAME + ' to the API key')
  for (const name of HEADER_VARIABLES) if (!__ENV[name]) throw new Error('set ' + name + ' to the value of its header')
  const isPinned = (__ENV.GODEBUG || '').split(',').includes('http2client=0')
  if (HTTP_VERSION === '1.1' && BASE_URL.startsWith('https:') && !isPinned) {
    throw new Error('set GODEBUG=http2client=0: the plan asks for HTTP/1.1, and k6 would choose HTTP/2')
  }
  const [date, time] = new Date().toISOString().split('T')
  const letters = 'bcdfghjkmnpqrstvwxz23456789'
  const tail = Array.from({ length: 6 }, () => letters[Math.floor(Math.random() * letters.length)]).join('')
  return { run: \`k6-\${date.replaceAll('-', '')}-\${time.slice(0, 8).replaceAll(':', '')}-\${tail}\` }
}

/** Sends one row. */
export function submit({ run }) {
  const index = exec.scenario.iterationInTest
${load.pace.kind === 'open' && load.requests !== undefined ? `  if (exec.scenario.name === 'main' && index >= ${load.requests}) return\n` : ''}  const warmup = exec.scenario.name === 'main' ? '' : 'warmup-'
  const [head, tail] = readRow(index % COUNT)
  // Holds neither _ nor ;, and no two submissions share it.
  const postId = \`\${run}-\${warmup}\${index + 1}\`
  const response = http.post(URL_OF_TASKS, head + postId + tail, {
    headers: { accept: ${JSON.stringify(JSON_CONTENT_TYPE)}, 'accept-encoding': 'identity', 'content-type': ${JSON.stringify(JSON_CONTENT_TYPE)}, authorization: 'token ' + __ENV[KEY_NAME]${formatK6Headers(connection.headers)}${connection.traceparent ? ', traceparent: toTraceparent()' : ''} },
    redirects: 0,
    timeout: ${connection.timeoutMs},
    tags: { name: ${JSON.stringify(path)}${load.pace.kind === 'stages' ? ', stage: toStage()' : ''} },
  })
  const succeeded = isSuccess(response, postId)
  notSucceeded.add(!succeeded)
  check(response, { succeeded: () => succeeded })
${think === undefined ? '' : `  sleep((${think.minMs} + Math.random() * ${think.maxMs - think.minMs}) / 1000)\n`}}

${
  load.pace.kind === 'stages'
    ? `/** The number of the stage that the scenario is in, from 0. */
function toStage() {
  const elapsedMs = Date.now() - exec.scenario.startTime
  const index = STAGE_ENDS_MS.findIndex((endMs) => elapsedMs < endMs)
  return String(index === -1 ? STAGE_ENDS_MS.length - 1 : index)
}

`
    : ''
}${
  connection.traceparent
    ? `/** A trace of its own for each request. */
function toTraceparent() {
  const hex = (length) => Array.from({ length }, () => Math.floor(Math.random() * 16).toString(16)).join('')
  return \`00-\${hex(32)}-\${hex(16)}-01\`
}

`
    : ''
}function readRow(index) {
  let at = index
  for (const rows of ROWS) {
    if (at < rows.length) return rows[at]
    at -= rows.length
  }
  throw new Error('row ' + index + ' is in no file')
}

${formatK6Success(plan)}
/** One file of results for each machine, for: sluice import-k6 FILE */
export function handleSummary(data) {
  const file =
    __ENV.SLUICE_SUMMARY_FILE ||
    (__ENV.SLUICE_SUMMARY_DIR ? \`\${__ENV.SLUICE_SUMMARY_DIR}/summary-\${__ENV.HOSTNAME || 'k6'}.json\` : 'summary.json')
  return { [file]: JSON.stringify({ ...data, sluice: PLANNED }), stdout: describe(data, file) }
}

function describe({ metrics }, file) {
  // The machine-readable summary has no metrics by name.
  if (!metrics) return \`wrote \${file}, to be read by: sluice import-k6 \${file}\\n\`
  const lines = []
  for (const [name, { type, values, thresholds = {} }] of Object.entries(metrics)) {
    for (const [expression, { ok }] of Object.entries(thresholds)) {
      if (!['max>=0', 'rate>=0', 'count>=0'].includes(expression)) lines.push(\`\${ok ? '✓' : '✗'} \${name} \${expression}\`)
    }
    if (type === 'trend' && /^http_req_(duration|waiting)\\{scenario:main\\}$/.test(name)) {
      const list = ['med', 'p(90)', 'p(95)', 'p(99)', 'p(99.9)', 'max']
      lines.push(\`\${name}: \${list.map((one) => \`\${one} \${(values[one] || 0).toFixed(2)} ms\`).join(', ')}\`)
    }
  }
  const requests = metrics['http_reqs{scenario:main}']
  const failed = metrics['${NOT_SUCCEEDED}{scenario:main}']
  const dropped = metrics['dropped_iterations{scenario:main}']
  lines.push(\`requests: \${requests ? requests.values.count : 0}, did not succeed: \${failed ? (failed.values.rate * 100).toFixed(2) : '0.00'} %, dropped: \${dropped ? dropped.values.count : 0}\`)
  return \`\${lines.join('\\n')}\\nwrote \${file}, to be read by: sluice import-k6 \${file}\\n\`
}
`
}

type K6Scenario = Readonly<Record<string, unknown>> & { executor: string }

/** What every scenario runs, by the script's name for it. */
const EXEC = 'submit'

/**
 * Seconds of requests for which virtual users are allocated in advance, and the least number of these; k6
 * adds more as needed.
 */
const AHEAD_S = 0.25
const AHEAD_MIN = 10

/**
 * k6's scenarios for a load: the pace as `main`, after `warmup` if there is a warm-up. k6 drops requests when
 * no virtual user is free, where a plan may let them wait; all else is equal. `timeoutMs` is the
 * connection's.
 */
export function toK6Scenarios(load: Load, timeoutMs: number): Record<string, K6Scenario> {
  const main = {
    ...toMainScenario(load, timeoutMs),
    exec: EXEC,
    gracefulStop: formatDurationMs(load.gracefulStopMs),
  }
  if (load.warmupMs === 0) return { main }
  return {
    warmup: {
      ...toWarmupScenario(load, timeoutMs),
      exec: EXEC,
      gracefulStop: formatDurationMs(load.gracefulStopMs),
    },
    main: { ...main, startTime: toDuration(load.warmupMs) },
  }
}

function toMainScenario(load: Load, timeoutMs: number): K6Scenario {
  const { pace } = load
  const users = toUsers(load, timeoutMs)
  if (pace.kind === 'open') {
    const { ratePerSecond } = pace
    const duration = toDuration(load.durationMs ?? toArrivalsMs(load.requests ?? 1, ratePerSecond))
    return { executor: 'constant-arrival-rate', ...toRate(ratePerSecond), duration, ...users }
  }
  if (pace.kind === 'closed') {
    const { concurrency: vus } = pace
    return load.requests === undefined
      ? { executor: 'constant-vus', vus, duration: toDuration(load.durationMs ?? 0) }
      : {
          executor: 'shared-iterations',
          vus: Math.min(vus, load.requests),
          iterations: load.requests,
          maxDuration: formatDurationMs(LOAD_MAX_MS),
        }
  }
  const start = pace.stages[0]?.from ?? 0
  if (pace.of === 'concurrency') {
    return {
      executor: 'ramping-vus',
      startVUs: start,
      stages: toK6Stages(pace.stages, 1),
      gracefulRampDown: formatDurationMs(load.gracefulStopMs),
    }
  }
  const scale = toScale(pace.stages.flatMap(({ from, to }) => [from, to]))
  return {
    executor: 'ramping-arrival-rate',
    startRate: Math.round(start * scale),
    timeUnit: `${scale}s`,
    stages: toK6Stages(pace.stages, scale),
    ...users,
  }
}

function toWarmupScenario(load: Load, timeoutMs: number): K6Scenario {
  const level = toWarmupLevel(load.pace)
  const duration = toDuration(load.warmupMs)
  return isOpen(load.pace)
    ? { executor: 'constant-arrival-rate', ...toRate(level), duration, ...toUsers(load, timeoutMs) }
    : { executor: 'constant-vus', vus: level, duration }
}

/** Shortest scenario that k6 takes. */
const SHORTEST_MS = 1_000

function toDuration(ms: number): string {
  return formatDurationMs(Math.max(SHORTEST_MS, Math.round(ms)))
}

/**
 * Duration of that many arrivals, since k6 does not count them. An arrival due exactly at the end would be
 * one too many, so the end lies half-way between the last and the next. A k6 that wakes up after both may
 * start either; the script then sends nothing.
 */
function toArrivalsMs(requests: number, ratePerSecond: number): number {
  return ((requests - 0.5) * 1000) / ratePerSecond
}

/** A k6 stage begins where the last one ended, so a jump is a stage without duration. */
function toK6Stages(stages: readonly Stage[], scale: number): { target: number; duration: string }[] {
  let level = stages[0]?.from
  return stages.flatMap(({ from, to, durationMs }) => {
    const jump = from === level ? [] : [{ target: Math.round(from * scale), duration: '0s' }]
    level = to
    return [...jump, { target: Math.round(to * scale), duration: formatDurationMs(durationMs) }]
  })
}

/** k6 rates are whole numbers per unit of time. */
function toRate(ratePerSecond: number): { rate: number; timeUnit: string } {
  const scale = toScale([ratePerSecond])
  return { rate: Math.round(ratePerSecond * scale), timeUnit: `${scale}s` }
}

/** Seconds in which all these rates are whole numbers; rates have at most three decimals. */
function toScale(rates: readonly number[]): number {
  const isWhole = (scale: number) =>
    rates.every((rate) => Math.abs(rate * scale - Math.round(rate * scale)) < 1e-6)
  return [1, 2, 4, 5, 8, 10, 20, 25, 40, 50, 100, 125, 200, 250, 500].find(isWhole) ?? 1000
}

function toUsers(load: Load, timeoutMs: number): { preAllocatedVUs: number; maxVUs: number } {
  const maxVUs = toMaxInFlight(load, timeoutMs)
  return {
    preAllocatedVUs: Math.min(maxVUs, AHEAD_MIN + Math.ceil(toPeak(load.pace) * AHEAD_S)),
    maxVUs,
  }
}
