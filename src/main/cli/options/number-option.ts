import { InvalidArgumentError } from 'commander'

/** Parser of a whole number within a range, both ends included. */
export function createIntegerParser(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^[+-]?\d+$/.test(text.trim()) || value < minimum || value > maximum) {
      throw new InvalidArgumentError(
        `expected a whole number from ${minimum} to ${maximum}, found \`${text}\`.`,
      )
    }
    return value
  }
}

/** Parser of a number above zero, at most `maximum`. */
export function createPositiveNumberParser(maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\+?(\d+\.?\d*|\.\d+)$/.test(text.trim()) || value <= 0 || value > maximum) {
      throw new InvalidArgumentError(
        `expected a number greater than 0 and at most ${maximum}, found \`${text}\`.`,
      )
    }
    return value
  }
}

/** Collects an option that may be given several times. */
export function collect(text: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), text]
}
