/**
 * Adds mixtures of more kinds of people to the cohort of the shipped template model, and measures its
 * calibration table again:
 *
 *   node eval/extend-cohort.ts <folder of the mixtures> <folder|pairs.csv> "<description>" [people]
 *
 * The vectors of the templates stay as they are; only their densities change. `people` are names,
 * separated by commas, that are left out of the table because their pictures are mislabelled.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { buildCalibration } from '../src/gallery/calibration/measure/build-calibration.ts'
import { foldsByPerson } from '../src/evaluation/calibration/held-out-scores.ts'
import { neighbourCount } from '../src/evaluation/calibration/learn-density.ts'
import { shareAbove } from '../src/gallery/calibration/measure/sorted-scores.ts'
import type { Calibration } from '../src/gallery/calibration/similarity.ts'
import { sha256Of } from '../src/models/sha256.ts'
import { encodeFloat16 } from '../src/models/template/float16.ts'
import shipped from '../src/models/template/manifest.json' with { type: 'json' }
import { readTemplateModel, templateFolder } from '../src/models/template/template-model.ts'
import { projectToAxes } from '../src/vision/embed/create-template.ts'
import { embedFaceSet } from './fit/embed-face-set.ts'
import { scoreForCalibration } from './fit/full-size-scores.ts'
import { mixtureFiles, readMixtureRows } from './fit/mixture-rows.ts'
import { learnExtended } from './fit/template-learners.ts'

const modelId = `${shipped.id}@${shipped.version}`
const measuredOn = new Date().toISOString().slice(0, 10)
/** Each model for the table learns from six folds. */
const foldCount = 8

const [mixturesFolder, source, description, mislabelled = ''] = process.argv.slice(2)
if (!mixturesFolder || !source || !description)
  throw new Error('arguments are missing; pass the mixtures, a set and a description of it')
const mixtures = await readMixtureRows(mixturesFolder, await readTemplateModel())
const manifest = await extendCohort()
await writeJson(new URL('manifest.json', templateFolder), manifest)
const table = await measure(source, description, new Set(mislabelled.split(',')))
await writeJson(new URL(`../src/gallery/calibration/${modelId}.json`, import.meta.url), {
  ...table,
  populations: manifest.added.origin,
})

/** Writes the cohort: the rows of the fitted model, unchanged, then the projected mixtures. */
async function extendCohort() {
  const { id, version, dlibWeight, cohortRows, cohortNearest, fitted, files } = shipped
  // `eval/fit-template.ts` writes a manifest without added rows.
  const { added: replaced = { rows: 0 } } = shipped as Partial<Pick<typeof shipped, 'added'>>
  const model = await readTemplateModel()
  const dimensions = model.axes.length / model.mean.length
  const fittedRows = cohortRows - replaced.rows
  const cohortFile = new URL('cohort.f16', templateFolder)
  const base = (await readFile(cohortFile)).subarray(0, 2 * fittedRows * dimensions)
  const added = mixtures.fused.map((row) => encodeFloat16(projectToAxes(row, model)))
  const cohort = Buffer.concat([base, ...added])
  await writeFile(cohortFile, cohort)
  return {
    id,
    version,
    dlibWeight,
    neighbours: neighbourCount,
    cohortRows: fittedRows + added.length,
    cohortNearest,
    fitted,
    added: {
      rows: added.length,
      files: mixtureFiles,
      origin:
        'means of three faces each, within one cell of group, gender and age of UTKFace: 1,078 rows ' +
        'from 3,977 pictures, none nearer than 0.8 (squared distance) to a picture of the set; 40 ' +
        'rows from 343 pictures of East-Asian children of 2 to 12 years, without that limit',
      terms:
        'the pictures of UTKFace have research-only terms; the rows are numbers, contain no ' +
        'picture and are not the template of a person',
      on: measuredOn,
      by: 'eval/extend-cohort.ts',
    },
    files: { ...files, cohort: sha256Of(cohort) },
  }
}

async function measure(
  faceSet: string,
  set: string,
  leftOut: ReadonlySet<string>,
): Promise<Calibration> {
  const samples = (await embedFaceSet(faceSet)).filter(({ person }) => !leftOut.has(person))
  const { dimensions, seed } = shipped.fitted
  const learn = learnExtended(modelId, { dimensions, seed }, mixtures.fused)
  const folds = foldsByPerson(samples, foldCount, seed)
  const { scores, identical, adjust } = scoreForCalibration(folds, learn)
  const people = new Set(samples.map(({ person }) => person)).size
  const calibrationSet = { modelId, set, measuredOn, people, pictures: samples.length }
  const counted = buildCalibration(scores, identical, calibrationSet)
  for (const { fmr, score } of counted.points) {
    const tar = 100 * shareAbove(scores.genuine, score)
    console.log(`FMR ${fmr.toExponential(0)}: score ${score}, TAR ${tar.toFixed(1)} %`)
  }
  return adjust(counted)
}

async function writeJson(file: URL, value: unknown): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`)
}
