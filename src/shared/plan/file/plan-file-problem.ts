/** One thing that is wrong with a plan file. */
export interface PlanFileProblem {
  /** Where, such as `operation.models[0]`; empty for the whole. */
  path: string
  /** What was expected and what was found. Holds nothing that may be a secret. */
  message: string
}

/** A path as a person writes it in JavaScript: `mapping["user metadata"].column`, `operation.models[0]`. */
export function formatJsonPath(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`
      const text = String(part)
      if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(text)) return `[${JSON.stringify(text)}]`
      return index === 0 ? text : `.${text}`
    })
    .join('')
}

/** The sentence a person reads. */
export function formatPlanFileProblem({ path, message }: PlanFileProblem): string {
  return path === '' ? message : `${path}: ${message}`
}
