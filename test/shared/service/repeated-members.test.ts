import { expect, test } from 'vitest'
import { readRepeatedMember } from '../../../src/shared/service/repeated-members.ts'

test.each<[string, string, unknown[]]>([
  ['two values of different types', '{"user_id":"u1","a":1,"user_id":17}', ['u1', 17]],
  [
    'white space and nested values',
    '{ "user_id" : {"a":[1,"}"]} , "user_id" : [ "x,y" ] }',
    [{ a: [1, '}'] }, ['x,y']],
  ],
  ['three values', '{"user_id":null,"user_id":false,"user_id":"\\"}"}', [null, false, '"}']],
  ['one at the top level and one below', '{"user_id":"u1","input":{"user_id":17}}', []],
  ['one', '{"user_id":"u1"}', []],
  ['none', '{"text":"user_id \\"user_id\\""}', []],
  ['a list', '[{"user_id":1},{"user_id":2}]', []],
])('of %s it returns the top-level ones that occur more than once', (_, json, values) => {
  expect(readRepeatedMember(json, 'user_id')).toEqual(values)
})
