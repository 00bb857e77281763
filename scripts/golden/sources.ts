/** Posts with rules, links, languages, odd characters, labels and metadata; two of them are invalid. */
export const POSTS = `post_id,user_id,text_data,truth,channel,user_metadata.age
p1,u1,win a free prize now claim your cash prize,spam,web,31
p2,u1,claim your free prize now at http://prize.example,spam;link,web,
p3,u2,notes are at http://example.com,,web,17
p4,u2,see you at lunch,spam,app,44
p5,u3,"good morning, ""all"" of you",ham,app,
p6,u3,how was the film,link,app,
p7,u4,"two
lines",ham,web,
p8,u4,grüße 🙂 aus Köln und ein Päckchen für die Straße,ham,web,
p9,u5,el niño y la casa de la familia con el perro,ham,app,
p10,u5,=1+1,ham,app,
p11,u6,you stupid loser sandbox:hate:3,hate,web,
p12,u6,sandbox:violence:2 sandbox:spam:1,hate,web,
p_13,u7,an id that the service refuses,ham,web,
p14,,a post of nobody,ham,web,
`

/** Posts that are all valid. */
export function createPosts(count: number): string {
  const lines = Array.from({ length: count }, (_, index) => {
    const text = index % 4 === 0 ? `sandbox:spam:3 number ${index + 1}` : `hello number ${index + 1}`
    return `p${index + 1},u${index % 3},${text},${index % 3 === 0 ? 'spam' : 'ham'}`
  })
  return `post_id,user_id,text_data,truth\n${lines.join('\n')}\n`
}

/** Images for a custom index. */
export function createItems(count: number): string {
  const lines = Array.from({ length: count }, (_, index) => `https://example.com/${index + 1}.jpg,red`)
  return `url,metadata.colour\n${lines.join('\n')}\n`
}

/** A one-pixel PNG. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
