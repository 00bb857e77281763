import { createInterface } from 'node:readline/promises'

/**
 * Asks a yes-or-no question on the terminal. Enter alone, end of input and Ctrl-C mean no.
 * Only where someone can be asked (`context.canAsk`).
 */
export async function askYesNo(question: string): Promise<boolean> {
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  const closed = new Promise<string>((resolve) => {
    reader.once('SIGINT', () => reader.close())
    reader.once('close', () => resolve(''))
  })
  try {
    const answer = await Promise.race([reader.question(`${question} [y/N] `), closed])
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    reader.close()
  }
}
