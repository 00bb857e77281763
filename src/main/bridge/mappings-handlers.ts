import { addNamed, removeNamed, renameNamed } from '../engine/workspace/named-entries.ts'
import { changeSavedMappings, readSavedMappings } from '../engine/workspace/saved-mappings.ts'
import { bridge } from './bridge-context.ts'

const { mappings } = bridge

/** Saved mappings, and that of the last run of a source. */
export const mappingsHandlers = mappings.router({
  list: mappings.list.handler(async ({ context: { engine } }) => readSavedMappings(engine.workspace)),
  findLast: mappings.findLast.handler(({ context: { engine }, input: { operation, columns } }) =>
    engine.runs.findLastMapping(operation, columns),
  ),
  save: mappings.save.handler(async ({ context: { engine }, input: { at, ...saved } }) =>
    changeSavedMappings(engine.workspace, (known) => addNamed('mapping', known, saved, at)),
  ),
  rename: mappings.rename.handler(async ({ context: { engine }, input: { name, newName } }) =>
    changeSavedMappings(engine.workspace, (known) => renameNamed('mapping', known, name, newName)),
  ),
  remove: mappings.remove.handler(async ({ context: { engine }, input: { name } }) =>
    changeSavedMappings(engine.workspace, (known) => removeNamed('mapping', known, name)),
  ),
})
