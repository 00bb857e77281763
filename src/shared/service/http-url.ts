import { z } from 'zod'

/** An absolute http or https address: content, media, callbacks (docs/interface.md §2.1, §4.3). */
export const httpUrlSchema = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })
