import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listFiles, PROJECT_FOLDER } from './read-module.ts'

const read = (path: string) => readFileSync(join(PROJECT_FOLDER, path), 'utf8')

/** The properties that each class sets itself, outside other states, windows and places. */
function readClasses(css: string): ReadonlyMap<string, ReadonlySet<string>> {
  const classes = new Map<string, Set<string>>()
  for (const [, selectors = '', body = ''] of css.matchAll(/^((?:\.[\w-]+,\n)*\.[\w-]+) \{\n([^}]*)\}/gm)) {
    for (const [, name = ''] of selectors.matchAll(/\.([\w-]+)/g)) {
      const properties = [...body.matchAll(/^\s*([\w-]+):/gm)].map(([, property = '']) => property)
      classes.set(name, new Set([...(classes.get(name) ?? []), ...properties]))
    }
  }
  return classes
}

/** Words in class names without a shared rule: a typo would silently lose the style. */
function findUnknown(text: string, known: ReadonlySet<string>): string[] {
  return [...text.matchAll(/className(?:=|: )\{?(?:"([^"\n]*)"|'([^'\n]*)'|`([^`\n]*)`)/g)]
    .flatMap(([, ...found]) =>
      found
        .join('')
        .replace(/\$\{[^}]*\}/g, ' ')
        .split(/\s+/),
    )
    .filter((word) => word !== '' && !known.has(word))
}

/** Properties that begin with a shorthand's name but are not set by it. */
const APART = ['border-collapse', 'border-radius', 'flex-direction', 'flex-wrap', 'overflow-wrap']

function isSetBy(property: string, other: string): boolean {
  if (property === other || (other === 'font' && property === 'line-height')) return true
  return property.startsWith(`${other}-`) && !APART.includes(property)
}

/** Shared classes without effect, because a screen's class beside them sets the same properties. */
function findOverruled(text: string, readCss: (specifier: string) => string, shared = SHARED): string[] {
  const own = new Map(
    [...text.matchAll(/import (\w+) from '(\.[^']+\.module\.css)'/g)].map(
      ([, name = '', specifier = '']) => [name, readClasses(readCss(specifier))] as const,
    ),
  )
  return [...text.matchAll(/`([^`\n]*\$\{\w+\.\w+\}[^`\n]*)`/g)].flatMap(([, classes = '']) => {
    const words = classes.replace(/\$\{[^}]*\}/g, ' ').split(/\s+/)
    return [...classes.matchAll(/\$\{(\w+)\.(\w+)\}/g)].flatMap(([, styles = '', name = '']) =>
      [...(own.get(styles)?.get(name) ?? [])].flatMap((property) =>
        words
          .filter((word) => [...(shared.get(word) ?? [])].some((said) => isSetBy(said, property)))
          .map((word) => `"${word}" does nothing beside .${name}, which sets ${property}`),
      ),
    )
  })
}

const SHARED = readClasses(read('src/renderer/ui/classes.css'))

describe('shared classes', () => {
  it('exist for each word of a class name', () => {
    const css = ['classes', 'base'].map((name) => read(`src/renderer/ui/${name}.css`)).join('\n')
    const known = new Set([...css.matchAll(/\.([a-z][\w-]*)/g)].map(([, name = '']) => name))
    const paths = listFiles('src/renderer').filter((path) => path.endsWith('.tsx'))
    const problems = paths.flatMap((path) =>
      findUnknown(read(path), known).map((word) => `${path}: no rule for the class "${word}"`),
    )
    expect(problems).toEqual([])
    const text = `<p className="row flex-warp"><b className={\`blod \${styles.own}\`} />{ className: 'smal' }`
    expect(findUnknown(text, known)).toEqual(['flex-warp', 'blod', 'smal'])
  })

  it("are not overruled by a screen's class beside them", () => {
    const paths = listFiles('src/renderer').filter((path) => path.endsWith('.tsx'))
    const problems = paths.flatMap((path) =>
      findOverruled(read(path), (specifier) => read(join(dirname(path), specifier))).map(
        (problem) => `${path}: ${problem}`,
      ),
    )
    expect(problems).toEqual([])
  })

  it.each([
    ['border-b', 'border: 0', 'border'],
    ['p-4', 'padding: 0', 'padding'],
    ['text-lg', 'font: inherit', 'font'],
  ])('would be found if %s is beside a class with %s', (word, rule, property) => {
    const text = `import styles from './a.module.css'\n<p className={\`${word} \${styles.own}\`} />`
    expect(findOverruled(text, () => `.own {\n  ${rule};\n}\n`)).toEqual([
      `"${word}" does nothing beside .own, which sets ${property}`,
    ])
    const elsewhere = `@media (max-width: 60rem) {\n  .own {\n    ${rule};\n  }\n}\n.own:hover {\n  ${rule};\n}\n`
    expect(findOverruled(text, () => elsewhere)).toEqual([])
  })
})
