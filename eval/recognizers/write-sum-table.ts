/**
 * Measures the similarity table of the built-in recognizer together with that of a pack of the catalogue,
 * and writes it to the catalogue:
 *
 *   node eval/recognizers/write-sum-table.ts <folder of the mixtures> <folder|pairs.csv> "<description>" [people] <pack>...
 *
 * The arguments are those of `measure-sum.ts` and of `eval/extend-cohort.ts`. The cohort of the installed
 * recognizer is the one of the pack, which contains none of the people.
 */
import { writeFile } from 'node:fs/promises'
import { buildCalibration } from '../../src/gallery/calibration/measure/build-calibration.ts'
import { shareAbove } from '../../src/gallery/calibration/measure/sorted-scores.ts'
import { combineWithBuiltin, recognizerModelId } from '../../src/models/model-set.ts'
import { combineTemplates } from '../../src/vision/embed/combine-recognizers.ts'
import { scoreForCalibration } from '../fit/full-size-scores.ts'
import { embedWithBoth } from './embed-both.ts'
import { createBuiltinLearner, toFolds } from './score-both.ts'

const [mixtures, source, set, leftOut = '', ...models] = process.argv.slice(2)
if (!mixtures || !source || !set || models.length === 0)
  throw new Error(
    'arguments are missing; pass the mixtures, a set, a description, people and packs',
  )
const embedded = await embedWithBoth(source, models)
const mislabelled = new Set(leftOut.split(','))
const samples = embedded.samples.filter(({ person }) => !mislabelled.has(person))
const modelId = recognizerModelId(combineWithBuiltin(embedded.recognizer))
const learnBuiltin = await createBuiltinLearner(mixtures)
const { scores, identical, adjust } = scoreForCalibration(toFolds(samples), (learning) => {
  const toBuiltin = learnBuiltin(learning)
  return (sample) => combineTemplates(modelId, toBuiltin(sample), sample.installed)
})
const table = adjust(
  buildCalibration(scores, identical, {
    modelId,
    set,
    measuredOn: new Date().toISOString().slice(0, 10),
    people: new Set(samples.map(({ person }) => person)).size,
    pictures: samples.length,
  }),
)
for (const { fmr, score } of table.points)
  console.log(
    `FMR ${fmr.toExponential(0)}: score ${score}, TAR ${(100 * shareAbove(scores.genuine, score)).toFixed(1)} %`,
  )
const file = `../../src/models/catalogue/${embedded.recognizer.model.id}.builtin.calibration.json`
await writeFile(new URL(file, import.meta.url), `${JSON.stringify(table, null, 2)}\n`)
