import { findUnknownPlaceholders } from '../../../shared/mapping/check-mapping.ts'
import { parseTemplate } from '../../../shared/mapping/templates.ts'
import type { MappingMistake } from '../../../shared/messages/mapping-messages.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { hasMediaFiles, PATH_PLACEHOLDER } from './media-urls.ts'

/** What is wrong with the template that makes addresses of media files. */
export function findMediaMistakes(plan: Plan, columns: readonly string[]): MappingMistake[] {
  const { media } = plan.source
  if (media?.kind !== 'template' || !hasMediaFiles(plan, columns)) return []
  const { template } = media
  const unknown = findUnknownPlaceholders('media', template, columns, [PATH_PLACEHOLDER])
  const hasPath = parseTemplate(template).some(
    (part) => part.kind === 'placeholder' && part.name.trim() === PATH_PLACEHOLDER,
  )
  if (hasPath) return unknown
  return [...unknown, { id: 'media_path_missing', field: 'media', template }]
}
