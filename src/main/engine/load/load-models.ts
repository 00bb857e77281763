/** Gives each set of models that a thread asks for a number, by which its records name it. */
export class LoadModels {
  readonly #numbers = new Map<string, number>()
  #news: [number, string][] = []

  /** The number of a body's models, from 0. */
  toNumber(models: string): number {
    const known = this.#numbers.get(models)
    if (known !== undefined) return known
    const number = this.#numbers.size
    this.#numbers.set(models, number)
    this.#news.push([number, models])
    return number
  }

  /** Numbers that were given since the last call, and what they stand for. */
  takeNews(): [number, string][] {
    return this.#news.splice(0)
  }
}
