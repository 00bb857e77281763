import { InvalidArgumentError } from 'commander'
import type { ConnectionKey } from '../../../shared/plan/stored-connection.ts'
import { parseConnectionName, parseVariableName } from './name-options.ts'

/** Parser of `--key LABEL=VARIABLE`, repeatable. What was found is not repeated: it may be a key itself. */
export function collectKey(text: string, previous: ConnectionKey[] | undefined): ConnectionKey[] {
  const equals = text.indexOf('=')
  if (equals <= 0) {
    throw new InvalidArgumentError('expected LABEL=VARIABLE, such as second=SLUICE_API_KEY_2.')
  }
  const label = parseConnectionName(text.slice(0, equals))
  const env = parseVariableName(text.slice(equals + 1))
  if (previous?.some((key) => key.label === label)) {
    throw new InvalidArgumentError(`the key label ${label} is used twice.`)
  }
  return [...(previous ?? []), { label, env }]
}
