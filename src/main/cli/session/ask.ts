import { createInterface } from 'node:readline/promises'

/**
 * Asks a yes-or-no question on the terminal. Enter alone, end of input and Ctrl-C mean no.
 * Only where someone can be asked (`context.canAsk`).
 */
export async function askYesNo(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await askWord(`${question} [y/N]`)).trim())
}

/** Asks for a word on the terminal; end of input and Ctrl-C give none. Only where someone can be asked. */
export async function askWord(question: string): Promise<string> {
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  const closed = new Promise<string>((resolve) => {
    reader.once('SIGINT', () => reader.close())
    reader.once('close', () => resolve(''))
  })
  try {
    return await Promise.race([reader.question(`${question} `), closed])
  } finally {
    reader.close()
  }
}
