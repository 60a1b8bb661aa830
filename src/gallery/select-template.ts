import type { Calibrations } from './calibration/calibrations.ts'

/**
 * The one template of a face to compare by: the active model's, or else that of the former model
 * that comes first, or else one that compares with nothing. One only, because each further model
 * that a stranger is compared by gives chance another try.
 */
export function selectTemplate<Stored extends { readonly modelId: string }>(
  templates: readonly Stored[],
  { activeModelId, formerModelIds }: Calibrations,
): Stored | undefined {
  const byModel = new Map(templates.map((template) => [template.modelId, template]))
  for (const modelId of [activeModelId, ...formerModelIds]) {
    const template = byModel.get(modelId)
    if (template) return template
  }
  return templates[0]
}
