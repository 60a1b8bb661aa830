/**
 * Measures how often certain impostors among the mixtures of the cohort reach similarity 0.80, without
 * and with the other mixtures in the cohort, at the score of the shipped table; then a girl and a boy
 * of each group:
 *
 *   node eval/measure-certain-impostors.ts <folder of the mixtures>
 */
import { markdownTable } from '../bench/support/table.ts'
import { calibrationOf } from '../src/gallery/calibration/calibrations.ts'
import { scoreAt } from '../src/gallery/calibration/similarity.ts'
import { readTemplateModel } from '../src/models/template/template-model.ts'
import { projectToAxes } from '../src/vision/embed/create-template.ts'
import {
  countCertainImpostors,
  createRowScorer,
  fittedCohort,
  spreadLikeFaces,
} from './fit/certain-impostors.ts'
import type { PairCount, CellRow } from './fit/certain-impostors.ts'
import { readMixtureRows } from './fit/mixture-rows.ts'

/** The last of the added rows: the rows of `children-256.f16`. */
const eastAsianChildren = 40

const [folder] = process.argv.slice(2)
if (!folder) throw new Error('no folder was given; pass the folder of the mixtures')
const model = await readTemplateModel()
const { fused, cells } = await readMixtureRows(folder, model)
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
  ['the mixtures too, without East-Asian children', added.slice(0, -eastAsianChildren)],
  ['all of them', added],
] as const
const kinds = [
  ['means of three faces', added],
  ['spread like single faces', spreadLikeFaces(added)],
] as const

const groups = [...new Set(cells.map(({ group }) => group))]
const rows = kinds.flatMap(([kind, probes]) =>
  cohorts.map(([cohort, rowsOfCells]) => {
    const scoreRows = createRowScorer(probes, { fitted, added: rowsOfCells })
    const { certain, girlAndBoy, girlAndBoyOfGroup } = countCertainImpostors(
      cells,
      scoreRows,
      score,
    )
    const ofGroups = groups.map((group) => rateOf(girlAndBoyOfGroup.get(group)))
    return [kind, cohort, rateOf(certain), rateOf(girlAndBoy), ...ofGroups]
  }),
)
const headings = ['probes', 'cohort', 'certain impostors', 'girl and boy', ...groups]
console.log(markdownTable(headings, rows))

function rateOf({ matches, pairs }: PairCount = { matches: 0, pairs: 0 }): string {
  return `${(matches / pairs).toExponential(1)} (${matches} of ${pairs})`
}
