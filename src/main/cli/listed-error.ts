import { type ErrorCode, SluiceError } from '../../shared/messages/errors.ts'

/** A failure with several causes, which are said one under the other. */
export class ListedError extends SluiceError {
  readonly title: string
  readonly causes: readonly string[]

  constructor(document: { code: ErrorCode; title: string; causes: readonly string[]; hint: string }) {
    const { code, title, causes, hint } = document
    super({ code, message: `${title}: ${causes.join('; ')}`, hint })
    this.title = title
    this.causes = causes
  }
}
