import { describe, expect, it } from 'vitest'
import { findModel, MODELS } from '../../../src/shared/service/models.ts'
import { TASK_FIELDS, taskRequestSchema, v2TaskRequestSchema } from '../../../src/shared/service/tasks.ts'

const TEXT_TASK = { text_data: 'hello', user_id: 'u1', post_id: 'p1' }

function findIssues(task: unknown): string[] {
  const parsed = taskRequestSchema.safeParse(task)
  return parsed.success ? [] : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
}

describe('a v1 task', () => {
  it('needs its content, user_id and post_id, and nothing else', () => {
    expect(findIssues(TEXT_TASK)).toEqual([])
    expect(findIssues({ url: 'https://example.com/a.png', user_id: 'u1', post_id: 'p1' })).toEqual([])
  })

  it('may have every field of the interface', () => {
    const task = {
      ...TEXT_TASK,
      group_id: 'g',
      conversation_id: 'c',
      parent_id: 'parent_1;2',
      content_metadata: { nested: { list: [1, null] } },
      content_variant: 'live_chat',
      user_metadata: {},
      models: ['text'],
      callback_url: 'http://127.0.0.1:8080/callback',
    }
    expect(taskRequestSchema.parse(task)).toEqual(task)
  })

  it.each(['a_b', 'a;b', ''])('refuses "%s" as user_id and as post_id', (id) => {
    expect(findIssues({ ...TEXT_TASK, user_id: id })).toHaveLength(1)
    expect(findIssues({ ...TEXT_TASK, post_id: id })).toHaveLength(1)
  })

  it('refuses both contents at once, and neither', () => {
    expect(findIssues({ ...TEXT_TASK, url: 'https://example.com/' })).toEqual([
      'url: must not be sent together with text_data',
    ])
    expect(findIssues({ user_id: 'u1', post_id: 'p1' })).toEqual(['text_data: text_data or url is required'])
  })

  it('refuses a group_id that equals post_id or parent_id', () => {
    const expected = ['group_id: must be distinct from post_id and parent_id']
    expect(findIssues({ ...TEXT_TASK, group_id: 'p1' })).toEqual(expected)
    expect(findIssues({ ...TEXT_TASK, group_id: 'x', parent_id: 'x' })).toEqual(expected)
  })

  it('refuses a second model, which v2 takes', () => {
    const models = ['text', 'ai_generated_text']
    expect(findIssues({ ...TEXT_TASK, models })).toEqual(['models: must name at most one model in v1'])
    expect(v2TaskRequestSchema.safeParse({ user_id: 'u', post_id: 'p', models }).success).toBe(true)
  })

  it.each(['ftp://example.com/a', 'example.com', 'javascript:alert(1)', ''])('refuses "%s" as url', (url) => {
    expect(findIssues({ url, user_id: 'u1', post_id: 'p1' })).toEqual(['url: must be an http or https URL'])
  })

  it.each([[[]], ['{}'], [null], [1]])('refuses %j as metadata', (value) => {
    expect(findIssues({ ...TEXT_TASK, user_metadata: value })).toHaveLength(1)
    expect(findIssues({ ...TEXT_TASK, content_metadata: value })).toHaveLength(1)
  })
})

describe('the list of task fields', () => {
  it('names the fields of the schema, in the same order', () => {
    expect(TASK_FIELDS.map((field) => field.name)).toEqual(Object.keys(taskRequestSchema.shape))
  })

  it('marks the fields that v2 lists', () => {
    const ofV2 = TASK_FIELDS.filter((field) => field.v2).map((field) => field.name)
    expect(ofV2.sort()).toEqual(Object.keys(v2TaskRequestSchema.shape).sort())
  })
})

describe('the list of models', () => {
  it('matches the table of the interface, word for word', () => {
    expect(MODELS.map(({ value, label, sync, async }) => [value, label, sync, async])).toEqual([
      ['visual', 'Visual moderation', true, true],
      ['text', 'Text moderation', true, true],
      ['ai_generated_media', 'AI-generated image and video detection', true, true],
      ['ai_generated_text', 'AI-generated text detection', true, true],
      ['ai_generated_audio', 'AI-generated audio detection', true, false],
      ['ocr', 'Text extraction from images', true, true],
      ['deepfake', 'Deepfake detection', true, true],
      ['demographic', 'Demographics', true, true],
      ['audio', 'Audio moderation', true, true],
      ['people_counting', 'People counting', true, false],
      ['object_detection', 'Common object detection', true, false],
      ['likeness', 'Likeness', true, false],
      ['celebrity', 'Celebrity', true, false],
    ])
  })

  it('finds a model by its exact value', () => {
    expect(findModel('ocr')?.label).toBe('Text extraction from images')
    expect(findModel('OCR')).toBeNull()
    expect(findModel('my-index')).toBeNull()
    expect(findModel('toString')).toBeNull()
  })
})
