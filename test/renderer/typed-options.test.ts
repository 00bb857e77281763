import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readTyped, toTypedShape } from '../../src/renderer/ui/options/typed-options.ts'
import type { OptionTable } from '../../src/shared/options/option.ts'

const TABLE = {
  pauseMs: {
    schema: z.int().min(1).max(60_000).default(1_500),
    words: 'Pause.',
    field: { label: 'The pause', start: '2s' },
  },
  restMs: { schema: z.int().min(1).max(60_000).optional(), words: 'Rest.', field: { label: 'Rest' } },
  count: { schema: z.int().min(1).max(9).default(3), words: 'Count.', field: { label: 'Count' } },
  most: { schema: z.int().min(1).optional(), words: 'Most.', field: { label: 'At most' } },
  column: { schema: z.string().min(1).exactOptional(), words: 'Column.', field: { label: 'Column' } },
  isLoud: { schema: z.boolean().default(false), words: 'Loud.', field: { label: 'Loud' } },
  note: {
    schema: z.string().min(3).optional(),
    words: 'Note.',
    field: { label: 'Note', expected: 'Expected three letters.' },
    needs: { circumstance: 'noted', otherwise: 'needs notes' },
  },
  byHand: { schema: z.int().default(1), words: 'In no form.' },
} as const satisfies OptionTable

const NEW = z.object(toTypedShape(TABLE)).parse({})

describe('options as they are typed', () => {
  it("start with their schemas' defaults or the form's own, and are empty without", () => {
    expect(NEW).toEqual({
      pauseMs: '2s',
      restMs: '',
      count: 3,
      most: null,
      column: null,
      isLoud: false,
      note: null,
    })
    expect(readTyped(TABLE, NEW)).toEqual({
      values: { pauseMs: 2_000, count: 3, isLoud: false },
      mistakes: {},
    })
  })

  it("are values of a plan, or wrong by the form's name for them", () => {
    const typed = { ...NEW, pauseMs: '2m', restMs: ' 5s ', count: 12, most: 7, note: 'ab' }
    expect(readTyped(TABLE, typed, ['noted'])).toEqual({
      values: { restMs: 5_000, most: 7, isLoud: false },
      mistakes: {
        'the pause': 'Expected a duration such as 30s, from 1ms to 1m.',
        count: 'Expected another value.',
        note: 'Expected three letters.',
      },
    })
  })

  it('are neither sent nor checked while they have no effect', () => {
    const { values, mistakes } = readTyped(TABLE, { ...NEW, note: 'ab' })
    expect({ values, mistakes }).toEqual({
      values: { pauseMs: 2_000, count: 3, isLoud: false },
      mistakes: {},
    })
  })

  it('are wrong if a required duration is empty', () => {
    expect(Object.keys(readTyped(TABLE, { ...NEW, pauseMs: '' }).mistakes)).toEqual(['the pause'])
  })
})
