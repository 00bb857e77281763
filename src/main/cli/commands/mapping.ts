import type { Command } from 'commander'
import { type SavedMapping, toUsedMapping } from '../../../shared/mapping/saved-mappings.ts'
import type { FieldSource } from '../../../shared/plan/plan.ts'
import { foreign, text } from '../../../shared/report/report.ts'
import { addNamed, findNamed, removeNamed, renameNamed } from '../../engine/workspace/named-entries.ts'
import { changeSavedMappings, readSavedMappings } from '../../engine/workspace/saved-mappings.ts'
import type { CliContext } from '../context.ts'
import { writeDocument } from '../documents/write-document.ts'
import { resolveWorkspace, withEngine } from '../engine-access.ts'
import { parseMappingName } from '../options/parse-values.ts'
import { RUN_ARGUMENT_HELP, resolveRunId } from '../options/run-reference.ts'
import { addExamples, addWorkspaceOption, type DocumentFlags } from '../options/shared-options.ts'
import { formatTable } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'

/** Adds `mapping list|save|rename|remove`: named mappings, for `--mapping` of sending commands. */
export function addMappingCommand(program: Command, context: CliContext): void {
  const mapping = program
    .command('mapping')
    .description(
      'Saves mappings under a name, for files that come again. `--mapping NAME` of a sending command begins with one.',
    )
  const add = (term: string, summary: string, description: string) =>
    addWorkspaceOption(mapping.command(term).summary(summary).description(description))
  const show = async (flags: DocumentFlags, saved: SavedMapping, said: string) =>
    flags.json ? writeDocument(context.out, saved) : context.out.writeLine(toPrintable(said))
  const folderOf = (flags: DocumentFlags) => resolveWorkspace(flags.workspace, context.env)

  const list = add('list', 'list the saved mappings', 'Lists the saved mappings.')
    .option('--json', 'one JSON array on stdout')
    .action(async (flags: DocumentFlags) => {
      const saved = readSavedMappings(folderOf(flags))
      if (flags.json) return writeDocument(context.out, saved)
      if (saved.length === 0) return context.out.writeLine('No saved mappings.')
      const lines = formatTable(context.outTerminal, {
        columns: [foreign('NAME', 8), text('OPERATION'), foreign('FIELDS', 12)],
        rows: saved.map((one) => [
          one.name,
          one.operation,
          Object.entries(one.mapping)
            .map(([field, source]) => `${field}=${sayFieldSource(source)}`)
            .join(', '),
        ]),
      })
      for (const line of lines) await context.out.writeLine(line)
    })
  addExamples(list, ['mapping list', 'mapping list --json'])

  const save = add(
    'save',
    'save the mapping of a run',
    'Saves the mapping of a run, including what was matched by name or guessed.',
  )
    .argument('<mapping>', 'name of the mapping', parseMappingName)
    .argument('<run>', RUN_ARGUMENT_HELP)
    .option('--json', 'one JSON document on stdout')
    .action((name: string, reference: string, flags: DocumentFlags) =>
      withEngine(context, flags.workspace, async (engine) => {
        const runId = await resolveRunId(engine, reference)
        const { mapping: said, operation } = await engine.runs.readPlan(runId)
        const used = toUsedMapping(said, await engine.results.readColumns(runId), operation)
        const saved = { name, operation: operation.kind, mapping: used }
        changeSavedMappings(engine.workspace, (known) => addNamed('mapping', known, saved))
        await show(flags, saved, `saved the mapping of run ${runId} as ${name}`)
      }),
    )
  addExamples(save, ['mapping save forum latest', 'mapping save board latest --json'])

  const rename = add('rename', 'rename a saved mapping', 'Gives a saved mapping another name.')
    .argument('<mapping>', 'name of the mapping')
    .argument('<new-name>', 'its new name', parseMappingName)
    .option('--json', 'one JSON document on stdout')
    .action(async (name: string, newName: string, flags: DocumentFlags) => {
      const renamed = changeSavedMappings(folderOf(flags), (known) =>
        renameNamed('mapping', known, name, newName),
      )
      await show(flags, findNamed('mapping', renamed, newName), `${name} is called ${newName} now`)
    })
  addExamples(rename, ['mapping rename forum spam-forum', 'mapping rename board spam-board --json'])

  const remove = add('remove', 'remove a saved mapping', 'Removes a saved mapping. Runs keep theirs.')
    .argument('<mapping>', 'name of the mapping')
    .option('--json', 'one JSON document on stdout')
    .action(async (name: string, flags: DocumentFlags) => {
      const workspace = folderOf(flags)
      const saved = findNamed('mapping', readSavedMappings(workspace), name)
      changeSavedMappings(workspace, (known) => removeNamed('mapping', known, name))
      await show(flags, saved, `removed the mapping ${name}`)
    })
  addExamples(remove, ['mapping remove forum', 'mapping remove board --json'])
}

function sayFieldSource(source: FieldSource): string {
  return source.kind === 'column' ? `column ${source.column}` : source.template
}
