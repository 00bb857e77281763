import fc from 'fast-check'

/** A check that must hold for any drawn input. */
export interface FuzzTarget {
  name: string
  /** Its share of all cases; cheap targets have more. */
  weight: number
  /** Runs that many cases and reports the result. */
  run(cases: number, seed: number): Promise<FuzzResult>
}

/** The result of one target's cases. */
interface FuzzResult {
  cases: number
  /** The smallest failing input and its failure; null if every case held. */
  failure: string | null
}

/** Makes a target of an input and a check, which throws if the input breaks a promise. */
export function createTarget<Input>(
  name: string,
  weight: number,
  input: fc.Arbitrary<Input>,
  check: (input: Input) => void | Promise<void>,
): FuzzTarget {
  return {
    name,
    weight,
    async run(cases, seed) {
      const property = fc.asyncProperty(input, async (drawn) => {
        const checked = check(drawn)
        // Waiting costs a turn of the event loop, which most checks do not need.
        if (checked !== undefined) await checked
      })
      const details = await fc.check(property, { numRuns: cases, seed, endOnFailure: false, verbose: 0 })
      if (!details.failed) return { cases, failure: null }
      return { cases: details.numRuns, failure: fc.defaultReportMessage(details) ?? 'failed' }
    },
  }
}

/** Throws unless two values have the same JSON. */
export function expectSame(found: unknown, expected: unknown, what: string): void {
  const [one, other] = [toText(found), toText(expected)]
  if (one !== other) throw new Error(`${what}: expected ${cut(other)}, found ${cut(one)}`)
}

/** Throws unless the condition holds. */
export function expectTrue(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(what)
}

function toText(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined'
}

function cut(text: string): string {
  return text.length > 2_000 ? `${text.slice(0, 2_000)}…` : text
}

/**
 * Text with characters that trip parsers: quotes, delimiters, line ends, controls, lone surrogates, property
 * names.
 */
export const awkwardText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc
    .array(
      fc.constantFrom(
        ...[
          'a',
          'B',
          '1',
          ' ',
          '"',
          "'",
          ',',
          ';',
          '\t',
          '|',
          '\n',
          '\r',
          '\r\n',
          '=',
          '+',
          '-',
          '@',
          '{{',
          '}}',
        ],
        ...[
          'é',
          '漢',
          '😀',
          '\u200b',
          '\u202e',
          '\ufeff',
          '\u0000',
          '\u009b',
          '_x000D_',
          '&',
          '<',
          '%2e',
          '.',
          '/',
        ],
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join('')),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'NaN', '-0', '1e999', 'null', '..'),
)
