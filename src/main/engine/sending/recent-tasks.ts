import type { Judgement } from '../service/judgement.ts'

/**
 * Least number of tasks remembered, of twice as many: a stray answer follows soon on the one that it repeats.
 */
const TASKS_MIN = 10_000

/** The tasks that the last answers named, to find those that two requests got. */
export class RecentTasks {
  /** The first request that got each task. */
  #owners = new Map<string, number>()
  /** Those before; dropped together, since a map is slow to drop its oldest entry. */
  #older = new Map<string, number>()

  /**
   * Marks the answer to a request if it repeats nothing of it and names the task of another one. It stays a
   * success: a service may give equal contents one task.
   */
  note(judgement: Judgement, request: number): void {
    const { outcome, taskId, fromCache, isAcknowledgement, echo, answer } = judgement
    if (outcome !== 'succeeded' || taskId === null || fromCache || isAcknowledgement) return
    const owner = this.#owners.get(taskId) ?? this.#older.get(taskId)
    if (owner === undefined) {
      this.#owners.set(taskId, request)
      if (this.#owners.size < TASKS_MIN) return
      this.#older = this.#owners
      this.#owners = new Map()
      return
    }
    if (owner === request || echo.kind !== 'unverifiable' || answer === 'no_result') return
    const note = 'the answer names the task of another row, and nothing in it tells whose it is'
    judgement.answer = 'shared_task'
    judgement.message = judgement.message === null ? note : `${judgement.message}; ${note}`
  }
}
