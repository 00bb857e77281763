import { addNamed, removeNamed, renameNamed } from '../engine/workspace/named-entries.ts'
import { changeSavedMappings, readSavedMappings } from '../engine/workspace/saved-mappings.ts'
import type { Handlers } from './bridge-context.ts'

export const mappingsHandlers: Handlers<'mappings'> = {
  list: async ({ context: { engine } }) => readSavedMappings(engine.workspace),
  findLast: ({ context: { engine }, input: { operation, columns } }) =>
    engine.runs.findLastMapping(operation, columns),
  save: async ({ context: { engine }, input: { at, ...saved } }) =>
    changeSavedMappings(engine.workspace, (known) => addNamed('mapping', known, saved, at)),
  rename: async ({ context: { engine }, input: { name, newName } }) =>
    changeSavedMappings(engine.workspace, (known) => renameNamed('mapping', known, name, newName)),
  remove: async ({ context: { engine }, input: { name } }) =>
    changeSavedMappings(engine.workspace, (known) => removeNamed('mapping', known, name)),
}
