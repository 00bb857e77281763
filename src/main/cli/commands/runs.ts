import type { Command } from 'commander'
import type { RunSummary } from '../../../shared/run.ts'
import type { CliContext } from '../context.ts'
import { withEngine } from '../engine-access.ts'
import { COMMAND_PREFIX } from '../invocation.ts'
import { addWorkspaceOption, type WorkspaceFlags } from '../options/shared-options.ts'
import { formatCount, formatMs } from '../terminal/number-format.ts'
import { toPrintable } from '../terminal/printable.ts'
import { formatTable, type TableColumn } from '../terminal/table.ts'
import { resolveWorkspace } from '../workspace.ts'

const COLUMNS: readonly (TableColumn & { isOptional?: true })[] = [
  { title: 'RUN', align: 'left' },
  { title: 'NAME', align: 'left', minColumns: 8 },
  { title: 'STATE', align: 'left' },
  { title: 'ROWS', align: 'right' },
  { title: 'OK', align: 'right' },
  { title: 'REJECTED', align: 'right' },
  { title: 'FAILED', align: 'right' },
  { title: 'UNKNOWN', align: 'right' },
  { title: 'INVALID', align: 'right', isOptional: true },
  { title: 'LEFT', align: 'right', isOptional: true },
  { title: 'P95 MS', align: 'right' },
  { title: 'STARTED', align: 'left' },
]

/** A moment in the person's own time: `2025-11-21 09:07`. */
function formatMoment(iso: string): string {
  const moment = new Date(iso)
  const pad = (part: number) => String(part).padStart(2, '0')
  const date = `${moment.getFullYear()}-${pad(moment.getMonth() + 1)}-${pad(moment.getDate())}`
  return `${date} ${pad(moment.getHours())}:${pad(moment.getMinutes())}`
}

function toCells(run: RunSummary): string[] {
  const { rows, latency_ms } = run
  const p95 = latency_ms.http_req_duration?.p95
  return [
    run.run_id,
    toPrintable(run.name),
    run.state,
    formatCount(rows.read),
    formatCount(rows.succeeded),
    formatCount(rows.rejected),
    formatCount(rows.failed),
    formatCount(rows.unknown),
    formatCount(rows.invalid),
    formatCount(rows.not_sent),
    p95 === undefined ? '' : formatMs(p95),
    formatMoment(run.started_at ?? run.created_at),
  ]
}

/** Adds `runs`: every run of the workspace, newest first. */
export function addRunsCommand(program: Command, context: CliContext): void {
  const command = program
    .command('runs')
    .summary('list all runs')
    .description('Lists all runs of the workspace, newest first.')
    .option('--json', 'one JSON array on stdout')
  addWorkspaceOption(command).action(async (flags: WorkspaceFlags & { json?: true }) => {
    const workspace = resolveWorkspace(flags.workspace, context.env)
    const runs = await withEngine(workspace, (engine) =>
      engine.listRuns((runId, error) => {
        void context.err.writeLine(`sluice: run ${runId} cannot be read: ${error.message}`)
      }),
    )
    if (flags.json) {
      await context.out.writeLine(JSON.stringify(runs, null, 2))
      return
    }
    if (runs.length === 0) {
      await context.out.writeLine(`No runs in ${workspace} yet. Try: ${COMMAND_PREFIX} demo`)
      return
    }
    const cells = runs.map(toCells)
    // Columns that hold nothing but zeros in most workspaces make room for the names.
    const shown = COLUMNS.flatMap((column, index) =>
      column.isOptional && cells.every((row) => row[index] === '0') ? [] : [index],
    )
    const table = formatTable(
      context.outTerminal,
      COLUMNS.filter((_, index) => shown.includes(index)),
      cells.map((row) => row.filter((_, index) => shown.includes(index))),
    )
    await context.out.writeLine(table.join('\n'))
  })
}
