import { describeLoad } from '../../../shared/load/load.ts'
import { EXIT, type ExitCode } from '../../../shared/messages/error-entry.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { prettyJson } from '../../../shared/messages/pretty-json.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { formatLine } from '../../../shared/plan/source-place.ts'
import type { RowDetail } from '../../../shared/run/results.ts'
import type { Engine, StartOptions } from '../../engine/engine-interface.ts'
import type { CliContext } from '../context.ts'
import type { ReportingFlags } from '../options/shared-options.ts'
import { formatProblemGroups } from '../summary/problems-text.ts'
import { formatSection, sectionColumns } from '../summary/section.ts'
import { toPrintable } from '../terminal/output.ts'
import { wrapWords } from '../terminal/table.ts'
import { dropRun, readSource } from './read-source.ts'

const EXAMPLES = 10

/** A plan that is checked without sending anything. */
export type Trial = { plan: Plan } & Pick<StartOptions, 'proxyCredentials'>

async function readFirstRequest(engine: Engine, runId: string): Promise<RowDetail | null> {
  const page = await engine.readPage(runId, { filter: { state: 'pending' }, offset: 0, limit: 1 })
  const [first] = page.rows
  return first === undefined ? null : engine.readRow(runId, first.row)
}

/** What a load test will do, a line for each thing that was chosen. */
async function printLoad(context: CliContext, { load, connection }: Plan): Promise<void> {
  if (load === undefined) return
  const { out, outTerminal } = context
  const lines = describeLoad(load, connection.timeoutMs).flatMap((phrase) =>
    wrapWords(phrase, sectionColumns(outTerminal)),
  )
  await out.writeLine(formatSection(outTerminal, 'Load', lines).join('\n'))
}

async function printFirstRequest(context: CliContext, detail: RowDetail | null): Promise<void> {
  const { out, outTerminal } = context
  if (detail === null) return
  await out.writeLine()
  await out.writeLine(
    `${outTerminal.tone('strong', 'First request')}, row ${detail.result.row}${formatLine(detail.result.row, detail.result.place)}  ${detail.requestMethod} ${toPrintable(detail.requestUrl)}`,
  )
  if (detail.requestBody === null) return
  for (const line of prettyJson(detail.requestBody).split('\n')) {
    await out.writeLine(`  ${toPrintable(line)}`)
  }
}

/** Adds a member to the text of a JSON object that is not empty. */
function addMember(object: string, name: string, json: string): string {
  return `${object.slice(0, -1)},${JSON.stringify(name)}:${json}}`
}

/**
 * Reads, maps and checks a source as a run would, shows what is wrong with it and the first request as it would be
 * sent, sends nothing and keeps nothing. Exits with 0 where every row may be sent, 1 where some may, 2 where none may.
 */
export async function dryRun(
  context: CliContext,
  engine: Engine,
  { plan, ...secrets }: Trial,
  flags: ReportingFlags,
): Promise<ExitCode> {
  const { out, outTerminal } = context
  const handle = await engine.startRun(plan, { ...secrets, hold: true, isTrial: true })
  try {
    const how = await readSource(context, handle, { quiet: flags.quiet === true })
    if (how === 'interrupted') return EXIT.interrupted
    const { rows } = await engine.summarizeRun(handle.runId)
    const problems = await engine.readProblems(handle.runId)
    const first = await readFirstRequest(engine, handle.runId)
    const sendable = rows.read - rows.invalid
    if (flags.json) {
      const request =
        first === null
          ? null
          : {
              row: first.result.row,
              method: first.requestMethod,
              url: first.requestUrl,
            }
      const counts = { read: rows.read, invalid: rows.invalid, sendable }
      const rest = JSON.stringify({
        dry_run: true,
        ...(plan.load === undefined ? {} : { load: describeLoad(plan.load, plan.connection.timeoutMs) }),
        rows: counts,
        problems,
      })
      // The body is text of JSON, so that numbers longer than a double keep their digits.
      const sent =
        request === null ? 'null' : addMember(JSON.stringify(request), 'body', first?.requestBody ?? 'null')
      await out.writeLine(prettyJson(addMember(rest, 'first_request', sent)))
    } else {
      const counted = `${formatCount(rows.read)} read, ${formatCount(sendable)} can be sent, ${formatCount(rows.invalid)} invalid`
      await out.writeLine(formatSection(outTerminal, 'Dry run', ['nothing was sent']).join('\n'))
      await printLoad(context, plan)
      await out.writeLine(formatSection(outTerminal, 'Rows', [counted]).join('\n'))
      if (problems.length > 0) {
        await out.writeLine()
        await out.writeLine(outTerminal.tone('strong', formatCounted(problems.length, 'problem')))
        for (const line of formatProblemGroups(outTerminal, problems, EXAMPLES)) {
          await out.writeLine(`  ${line}`)
        }
      }
      await printFirstRequest(context, first)
    }
    if (sendable === 0) return EXIT.badInput
    return rows.invalid === 0 ? EXIT.ok : EXIT.rowsFailed
  } finally {
    await dropRun(engine, handle)
  }
}
