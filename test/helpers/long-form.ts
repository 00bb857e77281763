import { inject, TestRunner } from 'vitest'

/**
 * Skips the test that calls it unless the long forms run (`npm run test:long`); call it first. For further
 * cases of something that `npm test` already covers.
 */
export function onlyInLongForm(): void {
  if (!inject('isLong')) TestRunner.getCurrentTest()?.context.skip('only in the long form')
}

/** The cases of a table: all in the long form, otherwise the first `count`. */
export function firstOf<Case extends unknown[] | [unknown]>(
  count: number,
  cases: readonly Case[],
): readonly Case[]
export function firstOf<Case>(count: number, cases: readonly Case[]): readonly Case[]
export function firstOf<Case>(count: number, cases: readonly Case[]): readonly Case[] {
  return inject('isLong') ? cases : cases.slice(0, count)
}
