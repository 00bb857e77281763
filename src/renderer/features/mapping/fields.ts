import type { Operation } from '../../../shared/plan.ts'
import { TASK_FIELDS, type TaskField } from '../../../shared/service/tasks.ts'

/** The fields an operation has, in the order of the interface. `callback_url` is the receiver's business. */
export function fieldsFor(operation: Operation): TaskField[] {
  const fields: readonly TaskField[] = TASK_FIELDS
  return fields.filter((field) => {
    if (field.name === 'callback_url') return false
    return field.mode === 'both' || ('mode' in operation && field.mode === operation.mode)
  })
}
