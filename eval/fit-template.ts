/**
 * Makes the template model that ships, and its table of similarities, from a set of people:
 *
 *   node eval/fit-template.ts <folder|pairs.csv> "<the set in words>"
 *
 * The model is fitted on all pictures, from a fixed seed. The table is measured on people whom the
 * model in use did not learn from (`heldOutScores`). Both are written where the service reads them;
 * raise `version` below whenever they change, as templates of two models do not compare.
 */
import { writeFile } from 'node:fs/promises'
import { createProgressBar } from '../src/cli/progress-bar.ts'
import type { Calibration } from '../src/gallery/calibration/similarity.ts'
import { encodeFloat16 } from '../src/models/template/float16.ts'
import { sha256Of } from '../src/models/sha256.ts'
import { templateFolder } from '../src/models/template/template-model.ts'
import { buildCalibration } from '../src/evaluation/calibration/build-calibration.ts'
import type { CalibrationSet } from '../src/evaluation/calibration/build-calibration.ts'
import { shareAbove } from '../src/evaluation/verification/operating-points.ts'
import { scorers } from '../src/evaluation/verification/pair-scores.ts'
import { embedFaceSet } from './fit/embed-face-set.ts'
import { fitTemplateModel } from './fit/fit-template-model.ts'
import type { TemplateModelFit, PersonEmbedding } from './fit/fit-template-model.ts'
import { cohortRowCount } from '../src/evaluation/calibration/learn-density.ts'
import { scoreHeldOut, foldsByPerson } from '../src/evaluation/calibration/held-out-scores.ts'
import { learnReduced } from './fit/template-learners.ts'

const id = 'dlib-faceres-256'
const version = '1'
/**
 * Of the seeds 1 to 4, this one parts the pairs of LFW's fold 1 best (1 to 7 of 600 are wrong). On
 * people held out they were not compared.
 */
const options = { dimensions: 256, seed: 2 }
/** Each model of the table learns from six of them. */
const foldCount = 8

const [place, name] = process.argv.slice(2)
if (!place || !name) throw new Error('name a set, and say in words what it is')
const samples = await embedFaceSet(place)
const set = {
  modelId: `${id}@${version}`,
  set: name,
  measuredOn: new Date().toISOString().slice(0, 10),
  people: new Set(samples.map(({ person }) => person)).size,
  pictures: samples.length,
}
await writeModel(fitTemplateModel(samples, options), set)
await writeTable(measure(samples, set))

async function writeModel(
  fit: TemplateModelFit,
  { set: fittedOn, ...counts }: CalibrationSet,
): Promise<void> {
  const { dlibWeight, neighbours, centre, mean, axes, cohort, cohortNearest } = fit
  const { measuredOn: fittedAt, people, pictures } = counts
  await writeJson(new URL('manifest.json', templateFolder), {
    id,
    version,
    dlibWeight,
    neighbours,
    cohortRows: cohortRowCount,
    cohortNearest: Number(cohortNearest.toFixed(4)),
    fitted: {
      set: fittedOn,
      on: fittedAt,
      people,
      pictures,
      ...options,
      by: 'eval/fit-template.ts',
    },
    files: {
      centre: await writeValues('centre', centre),
      mean: await writeValues('mean', mean),
      axes: await writeValues('axes', axes),
      cohort: await writeValues('cohort', cohort),
    },
  })
}

function measure(all: readonly PersonEmbedding[], about: CalibrationSet): Calibration {
  const bar = createProgressBar('models')
  const learn = learnReduced(about.modelId, options)
  const folds = foldsByPerson(all, foldCount, options.seed)
  const { identical, ...scores } = scoreHeldOut(folds, learn, scorers.corrected, bar.update)
  bar.end()
  const table = buildCalibration(scores, identical, about)
  for (const { fmr, score } of table.points) {
    const tar = 100 * shareAbove(scores.genuine, score)
    console.log(`FMR ${fmr.toExponential(0)}: score ${score}, TAR ${tar.toFixed(1)} %`)
  }
  return table
}

async function writeTable(table: Calibration): Promise<void> {
  await writeJson(new URL(`../src/gallery/calibration/${id}.json`, import.meta.url), table)
}

/** As `readTemplateModel` reads them: half precision, little-endian. */
async function writeValues(file: string, values: Float32Array): Promise<string> {
  const bytes = encodeFloat16(values)
  await writeFile(new URL(`${file}.f16`, templateFolder), bytes)
  return sha256Of(bytes)
}

async function writeJson(place: URL, value: unknown): Promise<void> {
  await writeFile(place, `${JSON.stringify(value, null, 2)}\n`)
}
