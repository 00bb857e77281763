/** The counted elements of a part, each inside the one under which it is listed. */
export interface XmlShape {
  readonly [name: string]: XmlShape
}

/** Finds the namespace of a prefix, '' without one; null if nothing declares it. */
export type ToNamespace = (prefix: string) => string | null

const COMPATIBILITY = 'http://schemas.openxmlformats.org/markup-compatibility/2006'

interface Scope {
  depth: number
  declared: Map<string, string>
  outer: Scope | null
}

interface Level {
  /** Null for an element that only encloses counted ones, such as a choice between two forms. */
  name: string | null
  inside: XmlShape
  /** For alternatives: whether one was chosen. Null for everything else. */
  isTaken: boolean | null
}

/**
 * Decides which elements of a part count: those in the namespace of the root, inside the parents named by the
 * shape. Everything else is skipped with its contents, so no extension is mistaken for what it extends. Of
 * the alternatives in `mc:AlternateContent` (ECMA-376 part 3, 7.5), the first that needs no extension counts.
 */
export class CountedElements {
  readonly #shape: XmlShape
  readonly #namespaces: readonly string[]
  readonly #levels: Level[] = []
  #scope: Scope = { depth: 0, declared: new Map([['', '']]), outer: null }
  #pending: Map<string, string> | null = null
  /** The namespace of names without a prefix. */
  #unprefixed: string | null = ''
  #depth = 0
  /** Depth of the element being skipped; 0 if none is. */
  #skippedDepth = 0
  #namespace: string | null = null

  /** `namespaces`: those allowed for the root. */
  constructor(shape: XmlShape, namespaces: readonly string[]) {
    this.#shape = shape
    this.#namespaces = namespaces
  }

  /** Whether text at this place belongs to a counted element. */
  get isInside(): boolean {
    return this.#skippedDepth === 0 && this.#levels.at(-1)?.name != null
  }

  readonly toNamespace: ToNamespace = (prefix) => {
    for (let scope: Scope | null = this.#scope; scope !== null; scope = scope.outer) {
      const namespace = scope.declared.get(prefix)
      if (namespace !== undefined) return namespace
    }
    return null
  }

  /** Notes an attribute of the element passed to the next {@link open}. */
  noteAttribute(name: string, value: string): void {
    if (name.charCodeAt(0) !== 0x78 || (name !== 'xmlns' && !name.startsWith('xmlns:'))) return
    this.#pending ??= new Map()
    this.#pending.set(name.slice(6), value)
  }

  /** Begins an element: its name without prefix if it counts, else null; undefined for another root. */
  open(tag: string, attributes: Readonly<Record<string, string>>): string | null | undefined {
    this.#depth += 1
    if (this.#pending !== null) {
      this.#scope = { depth: this.#depth, declared: this.#pending, outer: this.#scope }
      this.#pending = null
      this.#unprefixed = this.toNamespace('')
    }
    if (this.#skippedDepth > 0) return null
    const colon = tag.indexOf(':')
    const name = colon === -1 ? tag : tag.slice(colon + 1)
    const namespace = colon === -1 ? this.#unprefixed : this.toNamespace(tag.slice(0, colon))
    const above = this.#levels.at(-1)
    if (above === undefined) {
      this.#namespace = namespace
      // A part without any namespace is read, too.
      if (namespace === null || !(namespace === '' || this.#namespaces.includes(namespace))) return undefined
    }
    const level = this.#toLevel(name, namespace, attributes, above)
    if (level === null) {
      if (above === undefined) return undefined
      this.#skippedDepth = this.#depth
      return null
    }
    this.#levels.push(level)
    return level.name
  }

  /** Closes an element, and returns the same as {@link open}. */
  close(): string | null {
    const depth = this.#depth
    this.#depth -= 1
    if (this.#scope.depth === depth && this.#scope.outer !== null) {
      this.#scope = this.#scope.outer
      this.#unprefixed = this.toNamespace('')
    }
    if (this.#skippedDepth === 0) return this.#levels.pop()?.name ?? null
    if (this.#skippedDepth === depth) this.#skippedDepth = 0
    return null
  }

  #toLevel(
    name: string,
    namespace: string | null,
    attributes: Readonly<Record<string, string>>,
    above: Level | undefined,
  ): Level | null {
    const inside = above?.inside ?? this.#shape
    const isAmongWays = above !== undefined && above.isTaken !== null
    if (namespace === this.#namespace && !isAmongWays) {
      const own = Object.hasOwn(inside, name) ? inside[name] : undefined
      return own === undefined ? null : { name, inside: own, isTaken: null }
    }
    if (namespace !== COMPATIBILITY) return null
    if (!isAmongWays) return name === 'AlternateContent' ? { name: null, inside, isTaken: false } : null
    const isRead = name === 'Fallback' || (name === 'Choice' && this.#isUnderstood(attributes['Requires']))
    if (above.isTaken === true || !isRead) return null
    above.isTaken = true
    return { name: null, inside, isTaken: null }
  }

  #isUnderstood(prefixes = ''): boolean {
    const required = prefixes.split(/\s+/).filter((prefix) => prefix !== '')
    return required.length > 0 && required.every((prefix) => this.toNamespace(prefix) === this.#namespace)
  }
}
