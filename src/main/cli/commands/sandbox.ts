import { relative } from 'node:path'
import { type Command, Option } from 'commander'
import { EXIT } from '../../../shared/messages/error-entry.ts'
import { quoteForShell } from '../../../shared/shell-command.ts'
import { readKeyText } from '../../engine/secrets/bound-secret.ts'
import { SAMPLE_FILES, WORKER_URLS } from '../../program-files.ts'
import { ADMIN_TOKEN_HEADER } from '../../sandbox/admin-access.ts'
import { createSampleAppeals } from '../../sandbox/appeals.ts'
import { readTermFile } from '../../sandbox/change-watchlist.ts'
import { DEFAULT_INDEXES, DEFAULT_WATCHLISTS } from '../../sandbox/rules/defaults.ts'
import { DEFAULT_SANDBOX_KEY, type SandboxOptions } from '../../sandbox/sandbox-options.ts'
import { type SandboxThread, startSandboxThread } from '../../sandbox/start-sandbox-thread.ts'
import { type CliContext, watchInterrupts } from '../context.ts'
import { writeDocumentLine } from '../documents/write-document.ts'
import { resolveWorkspace } from '../engine-access.ts'
import { COMMAND_PREFIX, resolveFromCaller } from '../invocation.ts'
import { collect, createIntegerParser } from '../options/parse-values.ts'
import { addExamples } from '../options/shared-options.ts'
import { formatSection } from '../terminal/layout.ts'

interface SandboxFlags {
  port: number
  taskPort: number
  latency?: string
  fault?: string[]
  callbacks?: string
  index?: string[]
  watchlist?: string[]
  appeals?: number
  maxTerms?: number
  failedTerms?: 'objects' | 'strings'
  watchlistAddCodes?: 'consistent' | 'contradictory'
  store?: string
  seed?: string
  keyEnv?: string
  workspace?: string
  json?: true
}

/** Most appeals that one command line may ask for. */
const MAX_APPEALS = 1_000_000

/** The watchlists that the flags name, besides the default ones: `NAME`, or `NAME=FILE` with its terms. */
async function readWatchlists(
  flags: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<SandboxOptions['watchlists']> {
  const lists = { ...DEFAULT_WATCHLISTS }
  for (const flag of flags) {
    const at = flag.indexOf('=')
    if (at === -1) lists[flag] = []
    else lists[flag.slice(0, at)] = await readTermFile(resolveFromCaller(flag.slice(at + 1), env))
  }
  return lists
}

async function toOptions(
  flags: SandboxFlags,
  apiKey: string,
  env: NodeJS.ProcessEnv,
): Promise<SandboxOptions> {
  return {
    port: flags.port,
    taskPort: flags.taskPort,
    apiKeys: [apiKey],
    ...(flags.latency === undefined ? {} : { latency: flags.latency }),
    ...(flags.fault === undefined ? {} : { faults: flags.fault }),
    ...(flags.callbacks === undefined ? {} : { callbacks: flags.callbacks }),
    ...(flags.index === undefined ? {} : { indexes: [...DEFAULT_INDEXES, ...flags.index] }),
    ...(flags.watchlist === undefined ? {} : { watchlists: await readWatchlists(flags.watchlist, env) }),
    ...(flags.appeals === undefined ? {} : { appeals: createSampleAppeals(flags.appeals) }),
    ...(flags.maxTerms === undefined ? {} : { maxTermsPerRequest: flags.maxTerms }),
    ...(flags.failedTerms === undefined ? {} : { failedTerms: flags.failedTerms }),
    ...(flags.watchlistAddCodes === undefined ? {} : { watchlistAddCodes: flags.watchlistAddCodes }),
    ...(flags.store === undefined ? {} : { databaseFile: resolveFromCaller(flags.store, env) }),
    ...(flags.seed === undefined ? {} : { seed: flags.seed }),
    mediaWorkspace: resolveWorkspace(flags.workspace, env),
  }
}

function formatWelcome(
  context: CliContext,
  { baseUrl, taskBaseUrl, adminToken }: SandboxThread,
  key: string,
  keyIsOwn: boolean,
): string {
  const terminal = context.outTerminal
  const sample = quoteForShell(relative(process.cwd(), SAMPLE_FILES.posts))
  const setKey =
    process.platform === 'win32' ? `$env:SLUICE_API_KEY='${key}'` : `export SLUICE_API_KEY=${key}`
  return [
    ...formatSection(terminal, 'Sandbox', [
      `${terminal.tone('accent', baseUrl)}  (Ctrl-C stops it)`,
      `${taskBaseUrl}  (second host, v2 tasks only)`,
      'Scores come from a short word list and test phrases.',
      'They are not moderation decisions.',
    ]),
    '',
    ...formatSection(terminal, 'API key', [keyIsOwn ? 'from the variable you named' : key]),
    '',
    ...formatSection(terminal, 'Try', [
      ...(keyIsOwn ? [] : [setKey]),
      `${COMMAND_PREFIX} task ${sample} --base-url ${baseUrl}`,
    ]),
    '',
    ...formatSection(terminal, 'Admin', [formatAdminCommand(`${baseUrl}/sandbox/admin/stats`, adminToken)]),
  ].join('\n')
}

/** A command that keeps the token out of programs' arguments, which every user of this machine can list. */
function formatAdminCommand(url: string, adminToken: string): string {
  return process.platform === 'win32'
    ? `Invoke-RestMethod ${url} -Headers @{'${ADMIN_TOKEN_HEADER}'='${adminToken}'}`
    : `echo 'header = "${ADMIN_TOKEN_HEADER}: ${adminToken}"' | curl -sK- ${url}`
}

/** Adds `sandbox`: the embedded service on loopback, until it is interrupted. */
export function addSandboxCommand(program: Command, context: CliContext): void {
  const command = program
    .command('sandbox')
    .description(
      'Runs a local test service until Ctrl-C. Its scores come from a short word list and test phrases; they are ' +
        'not moderation decisions. See docs/sandbox.md.',
    )
    .option('--port <n>', 'port; 0 picks a free one', createIntegerParser(0, 65_535), 0)
    .option(
      '--task-port <n>',
      'port of the second host, for v2 tasks; 0 picks a free one',
      createIntegerParser(0, 65_535),
      0,
    )
    .option(
      '--latency <time>',
      'response time: 40ms, "40ms±10ms" or "20ms|200ms@5%" (default: no added delay)',
    )
    .option(
      '--fault <kind=share>',
      'simulated fault, such as 5xx=3% or "429=3%,retry-after=1" (all kinds: docs/sandbox.md); repeatable',
      collect,
    )
    .option(
      '--callbacks <settings>',
      'callback behaviour, such as "delay=50ms±20ms,shuffle,double=5%,early=5%,late=1%@2s"',
    )
    .option('--index <id>', 'additional empty custom index; repeatable', collect)
    .option(
      '--watchlist <name[=file]>',
      'additional watchlist, empty or with terms from a file (one per line, notes after a tab); repeatable',
      collect,
    )
    .option(
      '--appeals <n>',
      'number of appeals, named appeal-1, appeal-2, … (default: 10)',
      createIntegerParser(0, MAX_APPEALS),
    )
    .option(
      '--max-terms <n>',
      'maximum terms per watchlist request; more are answered with 413 (default: no limit)',
      createIntegerParser(1, Number.MAX_SAFE_INTEGER),
    )
    .addOption(
      new Option('--failed-terms <shape>', 'format of failed_terms in watchlist answers').choices([
        'objects',
        'strings',
      ]),
    )
    .addOption(
      new Option(
        '--watchlist-add-codes <pairing>',
        'how watchlist add pairs HTTP statuses with error codes: consistent (as in watchlist update) or contradictory (swapped)',
      ).choices(['consistent', 'contradictory']),
    )
    .option('--store <file>', 'database file, kept across restarts (default: in memory)')
    .option('--seed <text>', 'random seed, for repeatable behaviour (default: sluice)')
    .option('--key-env <name>', 'environment variable with the API key to accept (default key: sandbox-key)')
    .option(
      '--workspace <folder>',
      "folder whose media files are fetched (default: $SLUICE_WORKSPACE, then the system's data folder)",
    )
    .option('--json', 'print the addresses as JSON')
    .action(async (flags: SandboxFlags) => {
      const { keyEnv } = flags
      const key = keyEnv === undefined ? DEFAULT_SANDBOX_KEY : readKeyText(context.env, keyEnv)
      const sandbox = await startSandboxThread(WORKER_URLS.sandbox, await toOptions(flags, key, context.env))
      let isAskedToEnd = false
      const stopWatching = watchInterrupts({
        first: () => {
          isAskedToEnd = true
          void sandbox.close()
        },
        second: () => process.exit(EXIT.ok),
      })
      if (flags.json) {
        await writeDocumentLine(context.out, {
          base_url: sandbox.baseUrl,
          port: sandbox.port,
          task_base_url: sandbox.taskBaseUrl,
          task_port: sandbox.taskPort,
          admin_token: sandbox.adminToken,
        })
      } else await context.out.writeLine(formatWelcome(context, sandbox, key, keyEnv !== undefined))
      await sandbox.ended
      stopWatching()
      context.exitCode = isAskedToEnd ? EXIT.ok : EXIT.rowsFailed
    })
  addExamples(command, [
    'sandbox --port 4010',
    "sandbox --latency '40ms±10ms' --fault 5xx=3% --fault '429=3%,retry-after=1'",
    "sandbox --callbacks 'delay=50ms,shuffle,double=5%' --store sandbox.db",
  ])
}
