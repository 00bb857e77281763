import type { Command } from 'commander'
import {
  isRetaining,
  type PrunableRun,
  type PrunableRuns,
  type Retention,
} from '../../../../shared/lookback/retention.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { formatBytes, formatCount, formatCounted } from '../../../../shared/messages/figure-text.ts'
import { foreign, number, text } from '../../../../shared/report/report.ts'
import { readRetention, writeRetention } from '../../../engine/workspace/retention-settings.ts'
import type { CliContext } from '../../context.ts'
import { writeDocument } from '../../documents/write-document.ts'
import { resolveWorkspace, withEngine } from '../../engine-access.ts'
import { createDurationParser, createSizeParser } from '../../options/parse-values.ts'
import { addDocumentOptions, addExamples, type DocumentFlags } from '../../options/shared-options.ts'
import { formatTable } from '../../terminal/layout.ts'

interface LimitFlags extends DocumentFlags {
  /** Milliseconds. */
  olderThan?: number
  /** Bytes. */
  largerThan?: number
  keepBelow?: number
}

const LONGEST_AGE = '36500d'
const LARGEST_BYTES = 1024 ** 5

function addLimitOptions(command: Command): Command {
  return command
    .option(
      '--older-than <duration>',
      'runs that ended at least this long ago, such as 30d',
      createDurationParser(LONGEST_AGE),
    )
    .option(
      '--larger-than <size>',
      'runs larger than this, such as 1GB; with --older-than, only runs that exceed both limits',
      createSizeParser(1, LARGEST_BYTES),
    )
    .option(
      '--keep-below <size>',
      'the oldest runs, until all runs together are smaller than this, such as 10GB',
      createSizeParser(0, LARGEST_BYTES),
    )
}

function toRetention({ olderThan, largerThan, keepBelow }: LimitFlags): Retention {
  return {
    olderThanMs: olderThan ?? null,
    largerThanBytes: largerThan ?? null,
    keepBelowBytes: keepBelow ?? null,
  }
}

export function addRunsPruneCommand(parent: Command, context: CliContext): void {
  const command = parent
    .command('prune')
    .summary('delete old or large runs')
    .description(
      'Permanently deletes runs by age and size, each with its retries. Runs in use and baselines are never deleted. ' +
        'Without a limit, the limits of `runs retention` apply.',
    )
  addLimitOptions(command)
    .option('--dry-run', 'list the runs without deleting them')
    .option('--yes', 'skip the confirmation')
  addDocumentOptions(command).action((flags: LimitFlags & { dryRun?: true; yes?: true }) =>
    prune(context, flags),
  )
  addExamples(command, ['runs prune --older-than 30d --dry-run', 'runs prune --keep-below 10GB --yes'])
}

async function prune(context: CliContext, flags: LimitFlags & { dryRun?: true; yes?: true }): Promise<void> {
  const { out, err } = context
  const workspace = resolveWorkspace(flags.workspace, context.env)
  const given = toRetention(flags)
  const retention = isRetaining(given) ? given : readRetention(workspace)
  if (!isRetaining(retention)) throw new SluiceError({ id: 'prune_unlimited' })
  await withEngine(context, flags.workspace, async (engine) => {
    const found = await engine.runs.findPrunable(retention)
    const isAsked = !flags.dryRun && !flags.yes && found.runs.length > 0
    if (!flags.json && (flags.dryRun || isAsked)) await printRuns(context, found)
    if (isAsked) {
      if (!context.canAsk) throw new SluiceError({ id: 'prune_unconfirmed', runs: found.runs.length })
      if (!(await context.ask(`Delete ${describeRuns(found.runs)} and all results?`))) {
        await err.writeLine('Nothing was deleted.')
        return
      }
    }
    const ids = found.runs.map((run) => run.run_id)
    const busy = flags.dryRun ? [] : await engine.runs.deleteRuns(ids)
    const deleted = found.runs.filter((run) => !busy.includes(run.run_id))
    if (flags.json) {
      const document = {
        dry_run: flags.dryRun === true,
        deleted: deleted.map(({ run_id, name, ended_at, size_bytes, reason }) => ({
          run_id,
          name,
          ended_at,
          size_bytes,
          reason,
        })),
        kept: { running: found.running + busy.length, protected: found.protected },
        size_bytes: found.size_bytes,
        kept_bytes: found.kept_bytes,
      }
      await writeDocument(out, document)
      return
    }
    const verb = flags.dryRun ? 'Would delete' : 'Deleted'
    await out.writeLine(
      deleted.length === 0
        ? `Nothing to delete: ${describeKept(found)}.`
        : `${verb} ${describeRuns(deleted)}; ${describeKept(found)}.`,
    )
    if (busy.length > 0) await err.writeLine(`Not deleted because they are in use now: ${busy.join(', ')}`)
  })
}

function describeRuns(runs: readonly PrunableRun[]): string {
  const bytes = runs.reduce((sum, run) => sum + run.size_bytes, 0)
  return `${formatCounted(runs.length, 'run')} (${formatBytes(bytes)})`
}

function describeKept({ kept_bytes: bytes, running, protected: needed }: PrunableRuns): string {
  const kept = [
    ...(running > 0 ? [`${formatCount(running)} in use`] : []),
    ...(needed > 0 ? [`${formatCounted(needed, 'baseline')}`] : []),
  ]
  const beyond = kept.length === 0 ? '' : `, including some that exceed the limits: ${kept.join(' and ')}`
  return `the remaining runs take ${formatBytes(bytes)}${beyond}`
}

const REASONS = { age: 'too old', size: 'too large', total: 'all runs too large' }

async function printRuns({ out, outTerminal }: CliContext, { runs }: PrunableRuns): Promise<void> {
  if (runs.length === 0) return
  const lines = formatTable(outTerminal, {
    columns: [text('RUN'), foreign('NAME', 8), text('ENDED'), number('SIZE'), text('WHY')],
    rows: runs.map((run) => [
      ...[run.run_id, run.name, run.ended_at.slice(0, 10)],
      ...[formatBytes(run.size_bytes), REASONS[run.reason]],
    ]),
  })
  for (const line of lines) await out.writeLine(line)
}

/** Adds `runs retention`: the default limits of `runs prune`. */
export function addRunsRetentionCommand(parent: Command, context: CliContext): void {
  const command = parent
    .command('retention')
    .summary('show or set the limits of `runs prune`')
    .description(
      'Stores or shows the limits that `runs prune` uses by default. Nothing is deleted until you run `runs prune`, ' +
        'unless the daily clean-up is on in the settings of the window.',
    )
  addLimitOptions(command).option('--off', 'remove the stored limits')
  addDocumentOptions(command).action(async (flags: LimitFlags & { off?: true }) => {
    const workspace = resolveWorkspace(flags.workspace, context.env)
    const given = toRetention(flags)
    if (flags.off || isRetaining(given)) writeRetention(workspace, given)
    const retention = readRetention(workspace)
    const { olderThanMs, largerThanBytes, keepBelowBytes } = retention
    if (flags.json) {
      const document = {
        older_than_s: olderThanMs === null ? null : olderThanMs / 1000,
        larger_than_bytes: largerThanBytes,
        keep_below_bytes: keepBelowBytes,
      }
      await writeDocument(context.out, document)
      return
    }
    await context.out.writeLine(describeRetention(retention))
  })
  addExamples(command, ['runs retention --older-than 90d --keep-below 20GB', 'runs retention --off'])
}

function describeRetention({ olderThanMs, largerThanBytes, keepBelowBytes }: Retention): string {
  const days = (olderThanMs ?? 0) / 86_400_000
  const age = olderThanMs === null ? null : `older than ${formatCounted(Number(days.toFixed(2)), 'day')}`
  const size = largerThanBytes === null ? null : `larger than ${formatBytes(largerThanBytes)}`
  const each = [age, size].filter((part) => part !== null).join(' and ')
  const limits = [
    ...(each === '' ? [] : [`runs ${each}`]),
    ...(keepBelowBytes === null ? [] : [`the oldest runs beyond ${formatBytes(keepBelowBytes)} in total`]),
  ]
  return limits.length === 0
    ? 'No limits: `runs prune` needs options.'
    : `\`runs prune\` deletes ${limits.join(', and ')}.`
}
