import type { PersonTemplate } from '../../src/evaluation/verification/pair-scores.ts'
import { mergeTemplates } from '../../src/lib/density/merge-templates.ts'
import type { Template } from '../../src/vision/embed/template.ts'

/** The pictures of people, by person. */
export type People = readonly (readonly PersonTemplate[])[]
export type MeasuredPeople = {
  readonly people: People
  readonly createTemplate: (vector: Float32Array) => Template
  readonly random: () => number
}

/**
 * Returns for each person a function that draws pictures: the mean of the person, and the deviation of a
 * picture of another person from the mean of that person, multiplied by a factor.
 */
export function drawPeople(
  { people, createTemplate, random }: MeasuredPeople,
  factor: number,
): (() => PersonTemplate)[] {
  const meanOf = (pictures: readonly PersonTemplate[]): Float32Array =>
    mergeTemplates(
      pictures.map(({ template }) => template),
      1,
    ).vector
  const deviations = people.flatMap((pictures) => {
    if (pictures.length < 2) return []
    const mean = meanOf(pictures)
    // The deviations from the mean of n pictures have (n − 1) / n of the variance.
    const scale = Math.sqrt(pictures.length / (pictures.length - 1))
    return pictures.map(({ template: { vector } }) =>
      vector.map((value, index) => scale * (value - (mean[index] ?? 0))),
    )
  })
  return people.map((pictures) => {
    const mean = meanOf(pictures)
    return () => {
      const values = deviations[Math.floor(random() * deviations.length)]
      const vector = mean.map((value, index) => value + factor * (values?.[index] ?? 0))
      return { person: pictures[0]?.person ?? '', template: createTemplate(vector) }
    }
  })
}
