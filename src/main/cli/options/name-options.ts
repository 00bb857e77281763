import { InvalidArgumentError } from 'commander'
import { environmentNameSchema } from '../../../shared/plan/connection.ts'
import { connectionNameSchema } from '../../../shared/plan/stored-connection.ts'

/** Parser of the name of an environment variable. What was found is not repeated: it may be the secret itself. */
export function parseVariableName(text: string): string {
  if (environmentNameSchema.safeParse(text).success) return text
  throw new InvalidArgumentError(
    'expected the name of an environment variable, such as SLUICE_API_KEY. Never pass a secret itself.',
  )
}

/** Parser of what a stored connection, or one of its keys, is called. */
export function parseConnectionName(text: string): string {
  if (connectionNameSchema.safeParse(text).success) return text
  throw new InvalidArgumentError(
    `expected at most 64 letters, digits, dots, hyphens and underscores, starting with a letter or digit, found \`${text}\`.`,
  )
}
