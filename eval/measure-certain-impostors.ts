/**
 * Measures how often certain impostors among the mixtures of the cohort reach similarity 0.80, before
 * and after the mixtures were added to the cohort:
 *
 *   node eval/measure-certain-impostors.ts <folder of the mixtures>
 */
import { markdownTable } from '../bench/support/table.ts'
import { calibrationOf } from '../src/gallery/calibration/calibrations.ts'
import { scoreAt } from '../src/gallery/calibration/similarity.ts'
import { readTemplateModel } from '../src/models/template/template-model.ts'
import { projectToAxes } from '../src/vision/embed/create-template.ts'
import { countCertainImpostors, spreadLikeFaces } from './fit/certain-impostors.ts'
import type { PairCount, CellRow } from './fit/certain-impostors.ts'
import { readMixtureRows } from './fit/mixture-rows.ts'

const [folder] = process.argv.slice(2)
if (!folder) throw new Error('no folder was given; pass the folder of the mixtures')
const { fused, cells } = await readMixtureRows(folder)
const model = await readTemplateModel()
const [version1] = model.earlier
if (!version1) throw new Error('the template model has no earlier version to compare with')
const added = cells.map((cell, row): CellRow => {
  const vector = projectToAxes(fused[row] ?? new Float32Array(), model)
  return { cell, vector }
})
const cohorts = [
  { modelId: version1.modelId, fitted: version1, added: [] },
  {
    modelId: model.modelId,
    fitted: { cohort: version1.cohort, neighbours: model.neighbours },
    added,
  },
]
const kinds = [
  ['means of three faces', added],
  ['spread like single faces', spreadLikeFaces(added)],
] as const

const rows = kinds.flatMap(([kind, probes]) =>
  cohorts.map(({ modelId, ...cohort }) => {
    const calibration = calibrationOf(modelId)
    if (!calibration) throw new Error(`there is no calibration of ${modelId}`)
    const score = scoreAt(0.8, calibration)
    const { certain, girlAndBoy } = countCertainImpostors(probes, { ...cohort, score })
    return [kind, modelId, rateOf(certain), rateOf(girlAndBoy)]
  }),
)
console.log(markdownTable(['probes', 'model', 'certain impostors', 'girl and boy'], rows))

function rateOf({ matches, pairs }: PairCount): string {
  return `${(matches / pairs).toExponential(1)} (${matches} of ${pairs})`
}
