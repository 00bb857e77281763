import { type Command, InvalidArgumentError } from 'commander'
import type { AnnotationChange, Annotations } from '../../../../shared/lookback/annotations.ts'
import type { CliContext } from '../../context.ts'
import { writeDocument } from '../../documents/write-document.ts'
import { withEngine } from '../../engine-access.ts'
import { collect } from '../../options/parse-values.ts'
import { RUN_ARGUMENT_HELP, resolveRun } from '../../options/run-reference.ts'
import { addDocumentOptions, addExamples, type DocumentFlags } from '../../options/shared-options.ts'
import { toPrintable } from '../../terminal/output.ts'

interface EditFlags extends DocumentFlags {
  name?: string
  note?: string
  tag?: string[]
  untag?: string[]
}

export function addRunsEditCommand(parent: Command, context: CliContext): void {
  const command = parent
    .command('edit')
    .argument('<run>', RUN_ARGUMENT_HELP)
    .summary('name, tag or annotate a run')
    .description(
      'Sets the name, tags and note of a run and its retries. They are stored separately; the run itself does not ' +
        'change.',
    )
    .option('--name <text>', 'new name; an empty one restores the name from the plan')
    .option('--tag <tag>', 'add a tag; repeatable', collect)
    .option('--untag <tag>', 'remove a tag; repeatable', collect)
    .option('--note <text>', 'new note; an empty one removes it')
  addDocumentOptions(command).action(async (reference: string, flags: EditFlags) => {
    const change = toChange(flags)
    await withEngine(context, flags.workspace, async (engine) => {
      const { run_id: named, whole_run: whole } = await resolveRun(engine, reference)
      const runId = whole?.run_id ?? named
      const annotations = await engine.runs.annotateRun(runId, change)
      const { name } = await engine.runs.summarizeRun(runId)
      if (flags.json) await writeDocument(context.out, { run_id: runId, ...annotations, name })
      else await context.out.writeLine(toPrintable(describe(runId, { ...annotations, name })))
    })
  })
  addExamples(command, [
    'runs edit latest --name "Before the new rule" --tag baseline',
    'runs edit latest --untag baseline --note "sent twice, ignore"',
  ])
}

function toChange({ name, note, tag, untag }: EditFlags): AnnotationChange {
  if ((name ?? note ?? tag ?? untag) === undefined) {
    throw new InvalidArgumentError('expected --name, --tag, --untag or --note.')
  }
  return {
    ...(name !== undefined && { name }),
    ...(note !== undefined && { note }),
    ...(tag !== undefined && { addTags: tag }),
    ...(untag !== undefined && { removeTags: untag }),
  }
}

function describe(runId: string, { name, tags, note }: Annotations): string {
  const parts = [
    `Run ${runId}: ${name}`,
    ...(tags.length > 0 ? [`tags ${tags.join(', ')}`] : []),
    ...(note === null ? [] : [`note "${note}"`]),
  ]
  return parts.join('; ')
}
