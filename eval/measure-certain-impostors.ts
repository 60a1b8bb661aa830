/**
 * Measures how often certain impostors among the mixtures of the cohort reach similarity 0.80, without
 * and with the other mixtures in the cohort, at the score of the shipped table:
 *
 *   node eval/measure-certain-impostors.ts <folder of the mixtures>
 */
import { markdownTable } from '../bench/support/table.ts'
import { calibrationOf } from '../src/gallery/calibration/calibrations.ts'
import { scoreAt } from '../src/gallery/calibration/similarity.ts'
import { readTemplateModel } from '../src/models/template/template-model.ts'
import { projectToAxes } from '../src/vision/embed/create-template.ts'
import { countCertainImpostors, fittedCohort, spreadLikeFaces } from './fit/certain-impostors.ts'
import type { PairCount, CellRow } from './fit/certain-impostors.ts'
import { readMixtureRows } from './fit/mixture-rows.ts'

const [folder] = process.argv.slice(2)
if (!folder) throw new Error('no folder was given; pass the folder of the mixtures')
const { fused, cells } = await readMixtureRows(folder)
const model = await readTemplateModel()
const calibration = calibrationOf(model.modelId)
if (!calibration) throw new Error(`there is no calibration of ${model.modelId}`)
const score = scoreAt(0.8, calibration)
const added = cells.map((cell, row): CellRow => {
  const vector = projectToAxes(fused[row] ?? new Float32Array(), model)
  return { cell, vector }
})
const fitted = fittedCohort(model)
const cohorts = [
  ['pictures of the fit', []],
  ['pictures of the fit and mixtures', added],
] as const
const kinds = [
  ['means of three faces', added],
  ['spread like single faces', spreadLikeFaces(added)],
] as const

const rows = kinds.flatMap(([kind, probes]) =>
  cohorts.map(([cohort, rowsOfCells]) => {
    const options = { fitted, added: rowsOfCells, score }
    const { certain, girlAndBoy } = countCertainImpostors(probes, options)
    return [kind, cohort, rateOf(certain), rateOf(girlAndBoy)]
  }),
)
console.log(markdownTable(['probes', 'cohort', 'certain impostors', 'girl and boy'], rows))

function rateOf({ matches, pairs }: PairCount): string {
  return `${(matches / pairs).toExponential(1)} (${matches} of ${pairs})`
}
