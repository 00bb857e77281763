/** What is missing at the place where a line of JSON stops being an object. */
export const JSON_EXPECTATIONS = {
  object: 'an object, which begins with {',
  key: 'a key in double quotes',
  colon: 'a colon after the key',
  value: 'a value: text in double quotes, a number, true, false, null, an object or an array',
  valid_value: 'valid JSON in the value that begins here',
  comma: 'a comma or } after the value',
  comma_or_bracket: 'a comma or ] between the objects of the array',
  end: 'the end of the line after the object',
  closing_quote: 'the quote that closes the text',
  closing_brace: 'the } that closes the value',
  closing_bracket: 'the ] that closes the value',
}

/** One of the things that a line of JSON may lack. */
export type JsonExpectation = keyof typeof JSON_EXPECTATIONS
