import type { Command } from 'commander'
import { createLogUpdate } from 'log-update'
import { EXIT } from '../../../shared/messages/error-entry.ts'
import { formatCount, formatCounted, formatDuration } from '../../../shared/messages/figure-text.ts'
import { CALLBACK_OPTIONS } from '../../../shared/options/callback-options.ts'
import type { ReceiverState } from '../../../shared/run/callback-overview.ts'
import { sayRefusal } from '../../../shared/run/callback-overview.ts'
import type { Engine } from '../../engine/engine.ts'
import { type CliContext, watchInterrupts } from '../context.ts'
import { writeDocumentLine } from '../documents/write-document.ts'
import { withEngine } from '../engine-access.ts'
import { parseBaseUrl } from '../options/parse-values.ts'
import {
  addExamples,
  addReceiverOptions,
  addReportingOptions,
  type CallbackFlags,
  type ReportingFlags,
} from '../options/shared-options.ts'
import { readFlags } from '../options/table-options.ts'
import { formatSection } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

const LOOK_EVERY_MS = 1_000

type OpenFlags = CallbackFlags & ReportingFlags

function toDocument({ baseUrl, role, received, refused, probes }: ReceiverState) {
  return { base_url: baseUrl, role, received, refused, probes }
}

/** Prints counts when they change, redrawn on a terminal, else as lines. Returns a function that stops it. */
function followCounts(context: CliContext, engine: Engine, first: ReceiverState, quiet: boolean): () => void {
  const { err, errTerminal } = context
  if (quiet) return () => {}
  const draw = errTerminal.isInteractive ? createLogUpdate(process.stderr) : null
  let last = formatReceiverCounts(first)
  draw?.(last)
  const look = async () => {
    const status = await engine.receiver.status().catch(() => null)
    if (status === null) return
    const text = formatReceiverCounts(status)
    if (text === last) return
    last = text
    if (draw === null) await err.writeLine(text)
    else draw(text)
  }
  const timer = setInterval(() => void look(), LOOK_EVERY_MS)
  return () => {
    clearInterval(timer)
    draw?.done()
  }
}

async function keepOpen(context: CliContext, engine: Engine, flags: OpenFlags): Promise<void> {
  const { out, outTerminal, err } = context
  const status = await engine.receiver.open(readFlags(CALLBACK_OPTIONS, flags))
  const asked = Promise.withResolvers<void>()
  const stopWatching = watchInterrupts({
    first: () => asked.resolve(),
    second: () => process.exit(EXIT.interrupted),
  })
  if (flags.json) await writeDocumentLine(out, toDocument(status))
  else await out.writeLine(`${formatReceiver(outTerminal, status).join('\n')}\n`)
  const stopFollowing = followCounts(context, engine, status, flags.quiet === true)
  await asked.promise
  stopFollowing()
  stopWatching()
  const ended = (await engine.receiver.status()) ?? status
  if (!flags.quiet) await err.writeLine(`Closed: ${formatReceiverCounts(ended)}.`)
}

/** Adds `receiver` and `receiver test`: the workspace's callback receiver without a run. */
export function addReceiverCommand(program: Command, context: CliContext): void {
  const receiver = program
    .command('receiver')
    .description(
      'Keeps the callback receiver of the workspace open until Ctrl-C. Callbacks that arrive after their run ended ' +
        'still update its rows.',
    )
  addReportingOptions(addReceiverOptions(receiver)).action(async (flags: OpenFlags) => {
    await withEngine(context, flags.workspace, (engine) => keepOpen(context, engine, flags))
    context.exitCode = EXIT.ok
  })
  const test = receiver
    .command('test')
    .summary('send a test callback to the public URL')
    .description(
      'Sends a callback to the public URL, as the service would, and waits for it to arrive. ' +
        'Use it to test a reverse proxy, tunnel or firewall.',
    )
    .requiredOption('--callback-url <url>', 'public URL of the callback receiver', parseBaseUrl)
  addReportingOptions(addReceiverOptions(test)).action(async (_flags: unknown, command: Command) => {
    // Options of the same name before `test` count, too.
    const flags = command.optsWithGlobals<OpenFlags & { callbackUrl: string }>()
    await withEngine(context, flags.workspace, async (engine) => {
      const status = await engine.receiver.open(readFlags(CALLBACK_OPTIONS, flags))
      const { arrivedMs } = await engine.receiver.test(flags.callbackUrl)
      if (flags.json) {
        return writeDocumentLine(context.out, {
          callback_url: flags.callbackUrl,
          base_url: status.baseUrl,
          arrived: true,
          arrived_ms: Math.round(arrivedMs),
        })
      }
      await context.out.writeLine(
        `A callback to ${flags.callbackUrl} arrived at ${status.baseUrl} after ${formatDuration(arrivedMs)}.`,
      )
    })
  })
  addExamples(receiver, ['receiver', 'receiver --callback-host 0.0.0.0 --callback-port 4030'])
  addExamples(test, [
    'receiver test --callback-url https://hooks.example.com/sluice',
    'receiver test --callback-url https://hooks.example.com/sluice --callback-port 4030',
  ])
}

/** Callbacks of a workspace so far, on one line. */
export function formatReceiverCounts({ received, refused }: ReceiverState): string {
  const kinds = Object.entries(refused).filter(([, count]) => count > 0)
  const total = kinds.reduce((sum, [, count]) => sum + count, 0)
  const listed = kinds.map(
    ([kind, count]) => `${formatCount(count)} ${toPrintable(kind.replaceAll('_', ' '))}`,
  )
  return `${formatCounted(received, 'callback')} received, ${formatCount(total)} refused${listed.length === 0 ? '' : ` (${listed.join(', ')})`}`
}

/** Where the receiver is and what it has counted since the workspace was made. */
export function formatReceiver(terminal: Terminal, status: ReceiverState): string[] {
  const refused = Object.entries(status.refused).filter(([, count]) => count > 0)
  return [
    ...formatSection(terminal, 'Receiver', [
      `${terminal.tone('accent', toPrintable(status.baseUrl))}  (Ctrl-C stops it)`,
      ...(status.role === 'listening'
        ? []
        : [
            'Another process already listens for callbacks of this workspace and stores them.',
            'When that process ends, this one takes over.',
          ]),
      'Late callbacks update their rows when the run is next opened.',
    ]),
    ...formatSection(terminal, 'Received', [
      `${formatCounted(status.received, 'callback')} in this workspace`,
      ...(status.probes === 0
        ? []
        : [`${formatCounted(status.probes, 'probe')} (HEAD or GET of a callback address, answered 200)`]),
    ]),
    ...formatSection(
      terminal,
      'Refused',
      refused.map(([kind, count]) => `${formatCount(count)} ${sayRefusal(kind)}`),
    ),
  ]
}
