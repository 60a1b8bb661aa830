import type { Calibrations } from './calibration/calibrations.ts'

/**
 * Selects the template by which a face is compared: that of the active model, or of the first former
 * model that has one. If none of the models is loaded, returns a template that cannot be compared.
 *
 * Only one template is used, because every additional model would be another chance of a false
 * match.
 */
export function selectTemplate<Stored extends { readonly modelId: string }>(
  templates: readonly Stored[],
  { activeModelId, formerModelIds }: Pick<Calibrations, 'activeModelId' | 'formerModelIds'>,
): Stored | undefined {
  const byModel = new Map(templates.map((template) => [template.modelId, template]))
  for (const modelId of [activeModelId, ...formerModelIds]) {
    const template = byModel.get(modelId)
    if (template) return template
  }
  return templates[0]
}
