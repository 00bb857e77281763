/** Names of rules by their ids, each of which one rule has alone: rules of one name have their ids behind it. */
export function nameRules(rules: readonly { id: string; name: string }[]): Map<string, string> {
  const alike = Map.groupBy(rules, ({ name }) => name)
  return new Map(
    rules.map(({ id, name }) => {
      if (name === '') return [id, id]
      return [id, alike.get(name)?.length === 1 ? name : `${name} (${id})`]
    }),
  )
}
