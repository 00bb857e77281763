import { type Command, InvalidArgumentError, Option } from 'commander'
import { GRACEFUL_STOP_MS, type Load, loadSchema, SAMPLE_SIZE_DEFAULT } from '../../../shared/load/load.ts'
import { IN_FLIGHT_MAX, isWholeRate, type LoadPace, RATE_MAX } from '../../../shared/load/load-pace.ts'
import { parseStages, type StagesPace } from '../../../shared/load/stages-text.ts'
import { formatThresholdMistake, parseThreshold } from '../../../shared/load/threshold-parser.ts'
import type { Threshold } from '../../../shared/load/thresholds.ts'
import { formatTextMistake } from '../../../shared/messages/text-mistake.ts'
import { createDurationParser } from './duration-option.ts'
import { createIntegerParser, createPositiveNumberParser } from './number-option.ts'

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
  throw new InvalidArgumentError(`expected a rate of at most three decimals, found \`${text}\`.`)
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
    throw new InvalidArgumentError(`expected a pause such as 1s or 0.5s-2s, found \`${text}\`.`)
  }
  const range = { minMs: parsePause(shortest), maxMs: parsePause(longest) }
  if (range.minMs <= range.maxMs) return range
  throw new InvalidArgumentError(`expected the shorter pause first, found \`${text}\`.`)
}

/** Declares how hard and how long a load presses, in place of the pace of other sending commands (design §4). */
export function addLoadOptions(command: Command): Command {
  return command
    .optionsGroup('Load, one of:')
    .option('--rate <n>', 'requests a second, whether or not the service keeps up', parseRate)
    .option(
      '--concurrency <n>',
      'requests in flight; the next is sent when one returns',
      createIntegerParser(1, IN_FLIGHT_MAX),
    )
    .option(
      '--stages <stages>',
      'rates one after the other, held or changed evenly: 50@30s,50..200@2m,200@1m; requests in flight instead: concurrency:5..50@1m',
      parseStagesOption,
    )
    .optionsGroup('Length:')
    .option('--duration <duration>', 'how long to measure, such as 60s or 5m', createDurationParser('7d'))
    .option(
      '--requests <n>',
      'how many requests to send, instead of a duration',
      createIntegerParser(1, 1_000_000_000),
    )
    .option(
      '--warmup <duration>',
      'send for so long before, at the level the load begins with; left out of every figure',
      parsePause,
    )
    .option(
      '--graceful-stop <duration>',
      `how long requests in flight may take to end after the load (default: ${GRACEFUL_STOP_MS / 1000}s)`,
      parsePause,
    )
    .optionsGroup('In flight:')
    .option(
      '--max-in-flight <n>',
      'with a rate: most requests in flight (default: rate × timeout, at most 10000)',
      createIntegerParser(1, IN_FLIGHT_MAX),
    )
    .addOption(
      new Option(
        '--when-full <choice>',
        'a request that is due and finds that many in flight waits, which response_time shows, or is dropped and counted (default: wait)',
      ).choices(['wait', 'drop']),
    )
    .option(
      '--think-time <duration>',
      'with --concurrency: pause before the next request, such as 1s, or evenly drawn: 0.5s-2s',
      parseThinkTime,
    )
    .optionsGroup('Thresholds:')
    .option(
      '--threshold <expression>',
      "what has to hold, in k6's words: 'p(99)<500', 'http_req_failed:rate<0.01', 'dropped==0', 'callback_latency:p(95)<2000'; with ` abortOnFail delayAbortEval=10s` behind it, it ends the load when it does not; repeatable",
      collectThreshold,
    )
    .option('--abort-on-fail', 'end the load as soon as any threshold does not hold')
    .optionsGroup('Sending:')
    .addOption(new Option('--http <version>', 'required HTTP version (default: 1.1)').choices(['1.1', '2']))
    .option(
      '--http2-connections <n>',
      "maximum HTTP/2 connections per worker (default: as many as the service's stream limit requires)",
      createIntegerParser(1, IN_FLIGHT_MAX),
    )
    .option('--workers <n>', 'threads that send (default: 1)', createIntegerParser(1, 64))
    .option(
      '--retries <n>',
      'tries after the first; each counts as a request',
      createIntegerParser(0, 100),
      0,
    )
    .optionsGroup('Kept:')
    .option(
      '--sample <n>',
      `requests that are kept whole, drawn evenly from all (default: ${SAMPLE_SIZE_DEFAULT})`,
      createIntegerParser(0, 100_000),
    )
    .option(
      '--error-limit <n>',
      'requests that did not succeed and are kept whole, the first ones (default: 1000)',
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
      ? 'a load needs one of --rate, --concurrency and --stages, which say how hard to press'
      : `${given.map(({ flag }) => flag).join(' and ')} exclude each other: say how hard to press in one way`
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
