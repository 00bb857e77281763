import { describe, expect, it } from 'vitest'
import {
  checkAnchors,
  checkCitations,
  checkModuleCitations,
  checkPageCitations,
  listPages,
  readCitingModules,
} from './citations.ts'
import { listFiles, parseModule } from './read-module.ts'

describe('citations', () => {
  it('in comments name existing pages and sections', () => {
    const modules = ['src', 'test', 'bench', 'scripts'].flatMap(readCitingModules)
    const citing = modules.filter(({ comments }) => comments.some(({ text }) => /docs\/\w+\.md §/.test(text)))
    expect(citing.length).toBeGreaterThan(50)
    expect(modules.flatMap(checkModuleCitations)).toEqual([])
  })

  it('in pages name existing pages, sections and files', () => {
    const files = ['src', 'test', 'bench', 'scripts'].flatMap(listFiles)
    expect(listPages()).toContain('docs/interface.md')
    expect(listPages().flatMap((page) => checkPageCitations(page, files))).toEqual([])
  })
})

describe('the rule about citations', () => {
  const read = (page: string) => (page === 'docs/page.md' ? new Set(['2', '2.1']) : null)
  const check = (text: string, home: string | null = null) => checkCitations(text, home, read)

  it('accepts sections of a page, several of them, and those of standards and books', () => {
    expect(
      check('A term (docs/page.md §2, §2.1), as RFC 9112 §7.1 and Statistical Intervals, 1991, §5.2 say'),
    ).toEqual([])
    expect(check('see §2, [page.md §2.1](page.md), `docs/page.md` §2', 'docs/page.md')).toEqual([])
    expect(check('see `docs/page.md` §7', 'README.md')).toEqual([
      'cites docs/page.md §7, which does not exist',
    ])
  })

  it('refuses a section or a page that does not exist, and a section without a page', () => {
    expect(check('(docs/page.md §2, §3)')).toEqual(['cites docs/page.md §3, which does not exist'])
    expect(check('(docs/gone.md)')).toEqual(['cites docs/gone.md, which does not exist'])
    expect(check('[it](gone.md)', 'docs/page.md')).toEqual(['cites docs/gone.md, which does not exist'])
    expect(check('(§2)')).toEqual(['cites §2 of no page'])
  })

  it('refuses a link to a heading that does not exist', () => {
    const readText = () => '# Page\n\n## 2 Parts, and more\n'
    const text = '## Here\n[a](#here) [b](page.md#2-parts-and-more) [c](page.md#parts)'
    expect(checkAnchors(text, 'docs/home.md', readText)).toEqual([
      'links to docs/page.md#parts, which does not exist',
    ])
  })

  it('reads the lines of one comment together, and separate comments separately', () => {
    const module = parseModule(
      'src/example.ts',
      '// A page (docs/interface.md §2.1,\n// §2.2).\n\n// Another §2.1.\n',
    )
    expect(checkModuleCitations(module)).toEqual(['src/example.ts:4: cites §2.1 of no page'])
  })
})
