/** Unique names of rules by id: rules that share a name have their id behind it. */
export function nameRules(rules: readonly { id: string; name: string }[]): Map<string, string> {
  const alike = Map.groupBy(rules, ({ name }) => name)
  return new Map(
    rules.map(({ id, name }) => {
      if (name === '') return [id, id]
      return [id, alike.get(name)?.length === 1 ? name : `${name} (${id})`]
    }),
  )
}

/** The same for the rules of a summary. */
export function nameTriggeredRules(
  rules: readonly { rule_id: string; rule_name: string }[],
): Map<string, string> {
  return nameRules(rules.map(({ rule_id: id, rule_name: name }) => ({ id, name })))
}
