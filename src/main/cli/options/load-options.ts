import { type Command, InvalidArgumentError, Option } from 'commander'
import { GRACEFUL_STOP_MS, type Load, loadSchema, SAMPLE_SIZE_DEFAULT } from '../../../shared/load/load.ts'
import {
  IN_FLIGHT_MAX,
  isWholeRate,
  type LoadPace,
  parseStages,
  RATE_MAX,
  type StagesPace,
} from '../../../shared/load/load-pace.ts'
import { formatThresholdMistake, parseThreshold } from '../../../shared/load/threshold-parser.ts'
import type { Threshold } from '../../../shared/load/thresholds.ts'
import { formatTextMistake } from '../../../shared/messages/text-mistake.ts'
import { createDurationParser, createIntegerParser, createPositiveNumberParser } from './parse-values.ts'

type ThinkTime = NonNullable<Load['thinkTime']>

/** What only `load` takes, once parsed. */
export interface LoadFlags {
  concurrency?: number
  rate?: number
  stages?: StagesPace
  duration?: number
  requests?: number
  warmup?: number
  thinkTime?: ThinkTime
  gracefulStop?: number
  maxInFlight?: number
  whenFull?: Load['whenFull']
  threshold?: Threshold[]
  abortOnFail?: true
  sample?: number
  errorLimit?: number
  http?: Load['httpVersion']
  http2Connections?: number
  workers?: number
}

/** The options that say a part of a load, for errors that name the part. */
const FLAGS: Partial<Record<keyof Load, string>> = {
  durationMs: '--duration, --requests',
  requests: '--requests',
  thinkTime: '--think-time',
  maxInFlight: '--max-in-flight',
  whenFull: '--when-full',
  workers: '--workers, --max-in-flight',
  http2Connections: '--http2-connections',
}

const parsePause = createDurationParser('1h', { allowsZero: true })

/** Parser of `--rate`: a rate that schedules can keep exactly. */
function parseRate(text: string): number {
  const rate = createPositiveNumberParser(RATE_MAX)(text)
  if (isWholeRate(rate)) return rate
  throw new InvalidArgumentError(`expected a rate with at most three decimal places, found \`${text}\`.`)
}

/** Parser of `--stages`. */
function parseStagesOption(text: string): StagesPace {
  const parsed = parseStages(text)
  if (parsed.ok) return parsed.pace
  throw new InvalidArgumentError(`${formatTextMistake('stages', text, parsed.mistake)}.`)
}

/** Parser of `--threshold`, repeatable. */
function collectThreshold(text: string, previous: Threshold[] | undefined): Threshold[] {
  const parsed = parseThreshold(text)
  if (!parsed.ok) throw new InvalidArgumentError(`${formatThresholdMistake(text, parsed.mistake)}.`)
  const { expression, abortOnFail, delayAbortEvalMs } = parsed
  return [...(previous ?? []), { expression, abortOnFail, delayAbortEvalMs }]
}

/** Parser of `--think-time`: a pause, or a range of pauses. */
function parseThinkTime(text: string): ThinkTime {
  const [shortest = '', longest = shortest, ...others] = text.split(/-|\.\./)
  if (others.length > 0) {
    throw new InvalidArgumentError(
      `expected a duration such as 1s, or a range such as 0.5s-2s, found \`${text}\`.`,
    )
  }
  const range = { minMs: parsePause(shortest), maxMs: parsePause(longest) }
  if (range.minMs <= range.maxMs) return range
  throw new InvalidArgumentError(`expected the shorter duration first, found \`${text}\`.`)
}

/**
 * Declares how hard and how long a load presses, in place of the pace of other sending commands (docs/load-tests.md
 * §2).
 */
export function addLoadOptions(command: Command): Command {
  return command
    .optionsGroup('Load (choose one):')
    .option('--rate <n>', 'requests per second, sent on schedule even if the service slows down', parseRate)
    .option(
      '--concurrency <n>',
      'concurrent requests; each answer starts the next request',
      createIntegerParser(1, IN_FLIGHT_MAX),
    )
    .option(
      '--stages <stages>',
      'a sequence of rates, such as 50@30s,50..200@2m,200@1m, or of concurrency: concurrency:5..50@1m',
      parseStagesOption,
    )
    .optionsGroup('Duration:')
    .option('--duration <duration>', 'test duration, such as 60s or 5m', createDurationParser('7d'))
    .option(
      '--requests <n>',
      'number of requests, instead of a duration',
      createIntegerParser(1, 1_000_000_000),
    )
    .option(
      '--warmup <duration>',
      'warm-up duration at the initial load, excluded from results (default: none)',
      parsePause,
    )
    .option(
      '--graceful-stop <duration>',
      `time for requests in flight to finish after the test (default: ${GRACEFUL_STOP_MS / 1000}s)`,
      parsePause,
    )
    .optionsGroup('Concurrency:')
    .option(
      '--max-in-flight <n>',
      'limit of requests in flight with --rate (default: rate × timeout, at most 10000)',
      createIntegerParser(1, IN_FLIGHT_MAX),
    )
    .addOption(
      new Option(
        '--when-full <choice>',
        'what a due request does when --max-in-flight is reached: wait (adds to response_time) or drop (default: wait)',
      ).choices(['wait', 'drop']),
    )
    .option(
      '--think-time <duration>',
      'pause between requests with --concurrency: 1s, or random from 0.5s-2s (default: none)',
      parseThinkTime,
    )
    .optionsGroup('Thresholds:')
    .option(
      '--threshold <expression>',
      "pass/fail criterion in k6 syntax, such as 'p(99)<500' or 'http_req_failed:rate<0.01'; append ` abortOnFail delayAbortEval=10s` to stop the test early; repeatable",
      collectThreshold,
    )
    .option('--abort-on-fail', 'stop the test when any threshold fails')
    .optionsGroup('Transport:')
    .addOption(new Option('--http <version>', 'required HTTP version (default: 1.1)').choices(['1.1', '2']))
    .option(
      '--http2-connections <n>',
      "maximum HTTP/2 connections per worker (default: as needed for the service's stream limit)",
      createIntegerParser(1, IN_FLIGHT_MAX),
    )
    .option('--workers <n>', 'sending threads (default: 1)', createIntegerParser(1, 64))
    .option('--retries <n>', 'retries per request; each counts as a request', createIntegerParser(0, 100), 0)
    .optionsGroup('Samples:')
    .option(
      '--sample <n>',
      `requests to keep in full, sampled at random (default: ${SAMPLE_SIZE_DEFAULT})`,
      createIntegerParser(0, 100_000),
    )
    .option(
      '--error-limit <n>',
      'unsuccessful requests to keep in full, earliest first (default: 1000)',
      createIntegerParser(0, 100_000),
    )
}

function toPace({ rate, concurrency, stages }: LoadFlags): LoadPace {
  const given = [
    ...(rate === undefined ? [] : [{ flag: '--rate', pace: { kind: 'open', ratePerSecond: rate } as const }]),
    ...(concurrency === undefined
      ? []
      : [{ flag: '--concurrency', pace: { kind: 'closed', concurrency } as const }]),
    ...(stages === undefined ? [] : [{ flag: '--stages', pace: stages }]),
  ]
  const [only] = given
  if (only !== undefined && given.length === 1) return only.pace
  const hint =
    only === undefined
      ? 'add --rate, --concurrency or --stages to set the load'
      : `${given.map(({ flag }) => flag).join(' and ')} cannot be combined`
  throw new InvalidArgumentError(`${hint}.`)
}

/** The load that options ask for. Throws commander's `InvalidArgumentError` where they do not go together. */
export function toLoad(flags: LoadFlags): Load {
  const { abortOnFail = false, threshold = [] } = flags
  const parsed = loadSchema.safeParse({
    pace: toPace(flags),
    durationMs: flags.duration,
    requests: flags.requests,
    warmupMs: flags.warmup,
    thinkTime: flags.thinkTime,
    gracefulStopMs: flags.gracefulStop,
    maxInFlight: flags.maxInFlight,
    whenFull: flags.whenFull,
    thresholds: threshold.map((one) => ({ ...one, abortOnFail: one.abortOnFail || abortOnFail })),
    sampleSize: flags.sample,
    errorLimit: flags.errorLimit,
    httpVersion: flags.http,
    http2Connections: flags.http2Connections,
    workers: flags.workers,
  })
  if (parsed.success) return parsed.data
  const sentences = parsed.error.issues.map(({ path, message }) => {
    const flag = FLAGS[String(path[0]) as keyof Load]
    return `${flag ?? path.join('.')}: ${message}`
  })
  throw new InvalidArgumentError(`${sentences.join('; ')}.`)
}
