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
import { progressBar } from '../src/cli/progress.ts'
import type { Calibration } from '../src/gallery/similarity.ts'
import { writeHalves } from '../src/models/halves.ts'
import { sha256Of } from '../src/models/source.ts'
import { templateFolder } from '../src/models/template.ts'
import { calibrate } from './compare/calibrate.ts'
import type { CalibrationSet } from './compare/calibrate.ts'
import { shareAbove } from './compare/roc.ts'
import { scorers } from './compare/scores.ts'
import { describeSet } from './fit/describe-set.ts'
import { cohortRows, fitTemplate } from './fit/fit.ts'
import type { Fit, Sample } from './fit/fit.ts'
import { heldOutScores, peopleFolds } from './fit/held-out.ts'
import { reduced } from './fit/learners.ts'

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
const samples = await describeSet(place)
const set = {
  modelId: `${id}@${version}`,
  set: name,
  measuredOn: new Date().toISOString().slice(0, 10),
  people: new Set(samples.map(({ person }) => person)).size,
  pictures: samples.length,
}
await writeModel(fitTemplate(samples, options), set)
await writeTable(measure(samples, set))

async function writeModel(fit: Fit, { set: fittedOn, ...counts }: CalibrationSet): Promise<void> {
  const { dlibWeight, neighbours, centre, mean, axes, cohort, cohortNearest } = fit
  const { measuredOn: fittedAt, people, pictures } = counts
  await writeJson(new URL('manifest.json', templateFolder), {
    id,
    version,
    dlibWeight,
    neighbours,
    cohortRows,
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

function measure(all: readonly Sample[], about: CalibrationSet): Calibration {
  const bar = progressBar('models')
  const learn = reduced(about.modelId, options)
  const folds = peopleFolds(all, foldCount, options.seed)
  const { identical, ...scores } = heldOutScores(folds, learn, scorers.corrected, bar.update)
  bar.end()
  const table = calibrate(scores, identical, about)
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
  const bytes = writeHalves(values)
  await writeFile(new URL(`${file}.f16`, templateFolder), bytes)
  return sha256Of(bytes)
}

async function writeJson(place: URL, value: unknown): Promise<void> {
  await writeFile(place, `${JSON.stringify(value, null, 2)}\n`)
}
