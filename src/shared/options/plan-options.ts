import { CONNECTION_OPTIONS } from '../plan/connection.ts'
import { CALLBACK_OPTIONS } from './callback-options.ts'
import { LOAD_OPTIONS } from './load-options.ts'
import type { OptionTable, PlanOption, ValueWords } from './option.ts'
import { RETRY_OPTIONS } from './retry-options.ts'
import { SOURCE_OPTIONS } from './source-options.ts'
import { STOP_OPTIONS } from './stop-options.ts'

const TABLES: Readonly<Record<string, OptionTable>> = {
  connection: CONNECTION_OPTIONS,
  source: SOURCE_OPTIONS,
  callback: CALLBACK_OPTIONS,
  load: LOAD_OPTIONS,
  retry: RETRY_OPTIONS,
  stop: STOP_OPTIONS,
}

/** The options of all tables by their path in a plan, such as `load.workers`. */
const PLAN_OPTIONS: ReadonlyMap<string, PlanOption> = new Map(
  Object.entries(TABLES).flatMap(([part, table]) =>
    Object.entries(table).map(([name, option]) => [`${part}.${name}`, option] as const),
  ),
)

/** Words for every value in the tables, by path; `*` stands for any index of a list. */
export const VALUE_WORDS: ReadonlyMap<string, ValueWords> = new Map(
  [...PLAN_OPTIONS].flatMap(([path, option]) => [
    [path, option] as const,
    ...Object.entries(option.parts ?? {}).map(([inner, words]) => [`${path}.${inner}`, words] as const),
  ]),
)

/** The flag for a value of a plan, without its argument. */
export function nameFlag(path: string): string | undefined {
  return PLAN_OPTIONS.get(path)?.flag?.split(' ')[0]
}
