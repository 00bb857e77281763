import { printTable, toMedian, toText } from './figures.ts'

/** Figures vary widely between rounds (docs/performance.md), so the median of a few would be unreliable. */
const ROUNDS = 9
/** Every third round is enough for contenders that nothing is compared with. */
const ROUNDS_OF_OTHERS = 3

/** Requests per second of one contender in one round. */
export type Contender = (url: string) => Promise<number>

/**
 * Lets contenders send to one server in alternating rounds and prints their medians, as ratios to the first
 * one's; `others` only join every third round.
 */
export async function runRounds(
  url: string,
  contenders: ReadonlyMap<string, Contender>,
  others: ReadonlyMap<string, Contender>,
): Promise<void> {
  const figures = new Map<string, number[]>(
    [...contenders.keys(), ...others.keys()].map((name) => [name, []]),
  )
  for (let round = 1; round <= ROUNDS; round += 1) {
    const isForAll = round % (ROUNDS / ROUNDS_OF_OTHERS) === 0
    const inOrder = [...contenders, ...(isForAll ? others : [])]
    // Alternates the order, since a contender may leave effects in the server for the next.
    for (const [name, contender] of round % 2 === 0 ? inOrder.toReversed() : inOrder) {
      const figure = await contender(url)
      figures.get(name)?.push(figure)
      console.log(`round ${round}: ${name} ${toText(figure)}`)
    }
  }
  const base = toMedian([...figures.values()][0] ?? [])
  const [first = ''] = figures.keys()
  printTable([
    ['contender', 'rounds', 'median', 'lowest', 'highest', `of ${first}`],
    ...[...figures].map(([name, all]) => [
      name,
      toText(all.length),
      toText(toMedian(all)),
      toText(Math.min(...all)),
      toText(Math.max(...all)),
      toText(toMedian(all) / base, 2),
    ]),
  ])
}
