import type { PlanSource } from '../../shared/plan/plan.ts'
import type { Engine } from '../engine/engine.ts'
import { findReplacedSource } from '../engine/workspace/replaced-source.ts'
import { isWritable } from '../engine/workspace/workspace-files.ts'
import { readStamp, refuseForeignFile, rememberWritten } from '../engine/workspace/written-files.ts'
import type { CliContext } from './context.ts'
import { resolveFromCaller } from './invocation.ts'

/** The files that a command may write, each with its stamp from before. */
const targets = new WeakMap<CliContext, Map<string, ReturnType<typeof readStamp>>>()

/** Whether a file that Sluice did not write may be replaced. */
export interface OverwriteFlags {
  overwrite?: true
}

type Source = Pick<PlanSource, 'path' | 'more'>

/**
 * The path of a named file that is written later. Throws `BAD_USAGE` if Sluice did not write its current
 * content, unless that may be replaced. The engine always refuses to replace a source.
 */
export function toLaterTarget(
  context: CliContext,
  workspace: string,
  name: string,
  { overwrite = false }: { overwrite?: boolean },
  sources: readonly Source[] = [],
): string {
  const file = resolveFromCaller(name, context.env)
  const isSource = sources.some((source) => findReplacedSource(source, file) !== null)
  if (!overwrite && !isSource) refuseForeignFile(workspace, file)
  return file
}

/** The same for a file that is written now: its content after the command counts as Sluice's. */
export function toTarget(
  context: CliContext,
  workspace: string,
  name: string,
  flags: { overwrite?: boolean },
  sources: readonly Source[] = [],
): string {
  const file = toLaterTarget(context, workspace, name, flags, sources)
  const known = targets.get(context) ?? new Map<string, ReturnType<typeof readStamp>>()
  targets.set(context, known.set(file, readStampIfPossible(file)))
  return file
}

/** Null if it cannot be read; the writer then says what is wrong with the path. */
function readStampIfPossible(file: string): ReturnType<typeof readStamp> {
  try {
    return readStamp(file)
  } catch {
    return null
  }
}

/** The same for a file about a run, which never replaces its sources. */
export async function toTargetOf(
  context: CliContext,
  engine: Engine,
  runId: string,
  name: string,
  flags: { overwrite?: boolean },
  others: readonly Source[] = [],
): Promise<string> {
  const { source } = await engine.runs.readPlan(runId)
  return toTarget(context, engine.workspace, name, flags, [source, ...others])
}

export function rememberTargets(context: CliContext, workspace: string): void {
  if (!isWritable(workspace)) return
  const written = [...(targets.get(context) ?? [])].flatMap(([file, before]) => {
    const now = readStampIfPossible(file)
    const isWritten = now !== null && (before?.size !== now.size || before.mtimeMs !== now.mtimeMs)
    return isWritten ? [now] : []
  })
  try {
    rememberWritten(workspace, written)
  } catch {
    // The files are written; the next command that would replace one of them reports it.
  }
}
