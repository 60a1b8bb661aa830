import type { Template } from '../../../vision/embed/template.ts'

/**
 * How much of the spread of the vectors is added to the density of the merged probe. With 2, the score
 * of the probe is exactly the mean of the scores of its templates, which is stricter than necessary;
 * with 1, other people match more often than with one picture. With 1.25 they match at the rate of one
 * picture (`node eval/measure-same-subject.ts`).
 */
const spreadShare = 1.25

/**
 * Merges templates of one face into one probe: their mean vector, and a density without a cohort.
 *
 * The mean squared distance of the vectors to any point is the squared distance of their mean to that
 * point plus their spread. The mean vector is therefore closer to every face than its templates are on
 * average, and its density has to rise by the spread to keep false matches rare.
 *
 * @param share see `spreadShare`.
 * @throws RangeError without templates, Error if they are of different models.
 */
export function mergeTemplates(templates: readonly Template[], share = spreadShare): Template {
  const [first] = templates
  if (!first) throw new RangeError('there are no templates to merge')
  if (templates.some(({ modelId }) => modelId !== first.modelId))
    throw new Error('templates of different models cannot be merged')
  const meanOf = (valueOf: (template: Template) => number): number =>
    templates.reduce((sum, template) => sum + valueOf(template), 0) / templates.length
  const vector = first.vector.map((_, index) => meanOf((template) => template.vector[index] ?? 0))
  const spread = meanOf((template) =>
    template.vector.reduce((sum, value, index) => sum + (value - (vector[index] ?? 0)) ** 2, 0),
  )
  const density = meanOf((template) => template.density) + share * spread
  return { modelId: first.modelId, vector, density }
}
