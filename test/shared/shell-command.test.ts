import { describe, expect, it } from 'vitest'
import { quoteForShell, splitCommand, toCurl } from '../../src/shared/shell-command.ts'

describe('a word of a shell command', () => {
  it('is kept unchanged by single quotes, whatever it contains', () => {
    const hostile = `it's $HOME \`id\` "x" \\ \n !! 你好 \u202E'`
    const word = quoteForShell(hostile)
    expect(word.startsWith("'") && word.endsWith("'")).toBe(true)
    const pieces = word.slice(1, -1).split(String.raw`'\''`)
    expect(pieces.some((piece) => piece.includes("'"))).toBe(false)
    expect(pieces.join("'")).toBe(hostile)
  })

  it('is quoted only if the shell would read something else', () => {
    expect(['post_id=id', 'a/b-c.csv', 'https://host/x?y=1', 'two words', ''].map(quoteForShell)).toEqual([
      'post_id=id',
      'a/b-c.csv',
      "'https://host/x?y=1'",
      "'two words'",
      "''",
    ])
  })
})

describe('a request as a curl command', () => {
  const POST = { method: 'POST', url: 'https://api.example.com/x', body: '{}', hasKey: true } as const

  it('names the variable of the key and never contains a key', () => {
    const text = toCurl({ ...POST, apiKeyEnv: 'MY_KEY' })
    expect(text).toContain('-H "authorization: token $MY_KEY"')
  })

  it("does not let a variable's name run a command", () => {
    expect(toCurl({ ...POST, apiKeyEnv: 'X$(id)' })).toContain('$SLUICE_API_KEY')
  })

  it('reads the secrets of headers from the same place as the plan', () => {
    const headers = {
      'X-Tenant': "a'b",
      'X-Gateway': 'Bearer "${GATEWAY}" $HOME `id`',
      'X-Filed': '@/tmp/a b',
    }
    const text = toCurl({ ...POST, apiKeyEnv: 'MY_KEY', headers })
    expect(text).toContain(`-H 'X-Tenant: a'\\''b'`)
    expect(text).toContain('-H "X-Gateway: Bearer \\"${GATEWAY}\\" \\$HOME \\`id\\`"')
    expect(text).toContain(`-H "X-Filed: $(cat '/tmp/a b')"`)
  })

  it('reads an appeal without a body and without a key', () => {
    const text = toCurl({ ...POST, method: 'GET', body: null, hasKey: false, apiKeyEnv: 'MY_KEY' })
    expect(text).toBe('curl -sS -X GET https://api.example.com/x')
  })
})

describe('a command that is run without a shell', () => {
  const split = (command: string, keepsBackslashes = false) => splitCommand(command, { keepsBackslashes })

  it('has the words that a shell would make of it', () => {
    expect(split(`pass show  'it'\\''s here' "a \\"b\\" \\$c" plain"er"\\ word ''`)).toEqual({
      words: ['pass', 'show', "it's here", 'a "b" $c', 'plainer word', ''],
    })
  })

  it('recovers the words that were quoted for a shell', () => {
    const words = ['op', 'read', `it's $HOME \`id\` "x" \\ ;|&`, '', 'ü']
    expect(split(words.map(quoteForShell).join(' '))).toEqual({ words })
  })

  it('takes a backslash before a backslash as one backslash only, so that a variable after them stays one', () => {
    expect(split(String.raw`a "\\$HOME"`)).toMatchObject({ fault: expect.stringContaining('needs a shell') })
    expect(split(String.raw`a "\$HOME" "\\\$HOME" "\\"`)).toEqual({
      words: ['a', '$HOME', String.raw`\$HOME`, '\\'],
    })
  })

  it('keeps the backslashes of Windows paths', () => {
    expect(split(String.raw`C:\tools\key.exe --id "my key"`, true)).toEqual({
      words: [String.raw`C:\tools\key.exe`, '--id', 'my key'],
    })
  })

  it('is refused if only a shell can run it, or if quotes stay open', () => {
    for (const command of ['a | b', 'a; b', 'a $KEY', 'a "$KEY"', 'a `b`', 'a > b', 'a *', '~/key', 'a\nb']) {
      expect(split(command), command).toMatchObject({ fault: expect.stringContaining('needs a shell') })
    }
    for (const command of ["a 'b", 'a "b', 'a \\', '  ']) {
      expect(split(command), command).toMatchObject({ fault: expect.any(String) })
    }
    expect(split("sh -c 'a | b $KEY'")).toEqual({ words: ['sh', '-c', 'a | b $KEY'] })
  })
})
