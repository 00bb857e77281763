import { keepKnownFields } from '../../../shared/mapping/match-columns.ts'
import { LAST_MAPPING } from '../../../shared/mapping/saved-mappings.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { findNamed } from '../../engine/workspace/named-entries.ts'
import { readSavedMappings } from '../../engine/workspace/saved-mappings.ts'
import type { CliContext } from '../context.ts'
import { withEngine } from '../engine-access.ts'

/**
 * The plan with the mapping that `--mapping` names under what its options say: a saved one, or that of the last run of
 * a source with the same columns. Throws `BAD_USAGE` where there is none, and `BAD_SOURCE`.
 */
export async function withBaseMapping(
  context: CliContext,
  workspace: string,
  plan: Plan,
  name: string | undefined,
): Promise<Plan> {
  if (name === undefined) return plan
  const { operation, source } = plan
  if (name !== LAST_MAPPING) {
    const saved = findNamed('mapping', readSavedMappings(workspace), name)
    if (saved.operation !== operation.kind) {
      throw new SluiceError({ id: 'mapping_of_other_operation', name, operation: saved.operation })
    }
    return { ...plan, mapping: { ...keepKnownFields(saved.mapping, operation), ...plan.mapping } }
  }
  return withEngine(context, workspace, async (engine) => {
    const { columns } = await engine.runs.previewSource(source, 1)
    const last = await engine.runs.findLastMapping(operation, columns)
    if (last === null) throw new SluiceError({ id: 'last_mapping_missing', file: source.path })
    return { ...plan, mapping: { ...keepKnownFields(last.mapping, operation), ...plan.mapping } }
  })
}
