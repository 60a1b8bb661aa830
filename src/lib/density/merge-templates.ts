/** A template of any face: the fields that merging reads. */
type MergeableTemplate = {
  readonly modelId: string
  readonly vector: Float32Array
  readonly density: number
}

/**
 * How much of the spread of the vectors is added to the density of a merged template. With 2, the
 * score of the merged template is exactly the mean of the scores of its templates, which is stricter
 * than necessary; with 1, other people match more often than with one picture. With these shares they
 * match at the rate of one picture: `probe` for the frames of a probe (`node
 * eval/measure-same-subject.ts`), `subject` for the faces of a subject (`node
 * eval/subjects/measure-merged-subjects.ts`).
 */
export const spreadShares = { probe: 1.25, subject: 1.2 } as const

/**
 * Merges templates of one person into one template: their mean vector, and a density without a
 * cohort. The result depends on the order in its last bits. The merged template of one is equal to it.
 *
 * The mean squared distance of the vectors to any point is the squared distance of their mean to that
 * point plus their spread. The mean vector is therefore closer to every face than its templates are on
 * average, and its density has to rise by the spread to keep false matches rare.
 *
 * @param share see `spreadShares`.
 * @throws RangeError without templates, Error if they are of different models.
 */
export function mergeTemplates(
  templates: readonly MergeableTemplate[],
  share: number,
): MergeableTemplate {
  const [first] = templates
  if (!first) throw new RangeError('there are no templates to merge')
  const { modelId } = first
  if (templates.some((template) => template.modelId !== modelId))
    throw new Error('templates of different models cannot be merged')
  const vector = new Float32Array(first.vector.length)
  for (let index = 0; index < vector.length; index++) {
    let sum = 0
    for (const template of templates) sum += template.vector[index] ?? 0
    vector[index] = sum / templates.length
  }
  let densities = 0
  let squares = 0
  for (const template of templates) {
    densities += template.density
    for (let index = 0; index < vector.length; index++)
      squares += ((template.vector[index] ?? 0) - (vector[index] ?? 0)) ** 2
  }
  return { modelId, vector, density: (densities + share * squares) / templates.length }
}
