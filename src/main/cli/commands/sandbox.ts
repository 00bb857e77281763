import { relative } from 'node:path'
import type { Command } from 'commander'
import { EXIT } from '../../../shared/errors.ts'
import { DEFAULT_SANDBOX_KEY } from '../../sandbox/sandbox-options.ts'
import type { CliContext } from '../context.ts'
import { SAMPLE_FILE } from '../demo/sample-file.ts'
import { COMMAND_PREFIX, quoteArgument } from '../invocation.ts'
import { readApiKey } from '../options/api-key.ts'
import { collect, createIntegerParser } from '../options/number-option.ts'
import { openSandbox } from '../sandbox-access.ts'
import { watchInterrupts } from '../session/interrupts.ts'
import { formatSection } from '../summary/section.ts'

interface SandboxFlags {
  port: number
  latency?: string
  fault?: string[]
  seed?: string
  keyEnv?: string
  json?: true
}

function formatWelcome(context: CliContext, baseUrl: string, key: string, keyIsOwn: boolean): string {
  const terminal = context.outTerminal
  const sample = quoteArgument(relative(process.cwd(), SAMPLE_FILE))
  const setKey =
    process.platform === 'win32' ? `$env:SLUICE_API_KEY='${key}'` : `export SLUICE_API_KEY=${key}`
  return [
    ...formatSection(terminal, 'Sandbox', [
      `${terminal.tone('accent', baseUrl)}  until Ctrl-C`,
      'Its scores come from a short word list and from test phrases:',
      'they are no moderation decision.',
    ]),
    '',
    ...formatSection(terminal, 'API key', [keyIsOwn ? 'the one in the variable you named' : key]),
    '',
    ...formatSection(terminal, 'Try', [
      ...(keyIsOwn ? [] : [setKey]),
      `${COMMAND_PREFIX} task ${sample} --base-url ${baseUrl}`,
    ]),
  ].join('\n')
}

/** Adds `sandbox`: the embedded service on loopback, until it is interrupted. */
export function addSandboxCommand(program: Command, context: CliContext): void {
  program
    .command('sandbox')
    .summary('run the embedded service to try things on')
    .description(
      'Runs a moderation service of our own on this machine until Ctrl-C. Its scores come from a short word list ' +
        'and from test phrases: they are no moderation decision. docs/sandbox.md has all of it.',
    )
    .option('--port <n>', 'port to listen on; 0 takes a free one', createIntegerParser(0, 65_535), 0)
    .option('--latency <time>', 'how long an answer takes, such as 40ms, "40ms±10ms" or "20ms|200ms@5%"')
    .option(
      '--fault <kind=share>',
      'what goes wrong, such as 5xx=3% or "429=3%,retry-after=1"; repeatable',
      collect,
    )
    .option('--seed <text>', 'what everything left to chance follows from; the same seed repeats it')
    .option(
      '--key-env <name>',
      'environment variable that holds the API key to accept (default: sandbox-key)',
    )
    .option('--json', 'one JSON document on stdout once it listens')
    .action(async (flags: SandboxFlags) => {
      const { keyEnv } = flags
      const key = keyEnv === undefined ? DEFAULT_SANDBOX_KEY : readApiKey(context, keyEnv).apiKey
      const sandbox = await openSandbox({
        port: flags.port,
        apiKeys: [key],
        ...(flags.latency === undefined ? {} : { latency: flags.latency }),
        ...(flags.fault === undefined ? {} : { faults: flags.fault }),
        ...(flags.seed === undefined ? {} : { seed: flags.seed }),
      })
      let isAskedToEnd = false
      const stopWatching = watchInterrupts({
        first: () => {
          isAskedToEnd = true
          void sandbox.close()
        },
        second: () => process.exit(EXIT.ok),
      })
      await context.out.writeLine(
        flags.json
          ? JSON.stringify({ base_url: sandbox.baseUrl, port: sandbox.port })
          : formatWelcome(context, sandbox.baseUrl, key, keyEnv !== undefined),
      )
      await sandbox.ended
      stopWatching()
      context.exitCode = isAskedToEnd ? EXIT.ok : EXIT.rowsFailed
    })
}
