/** An answer that is given up. Its message is the same for all answers that fail alike. */
export class AnswerError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'AnswerError'
    this.code = code
  }
}
