/**
 * Fits the weights of the six crops of the built-in liveness network:
 *
 *   node eval/fit-liveness.ts <folder written by eval/simulate-attacks.ts>
 *
 * Prints the weights and the bias for `src/models/builtin/networks/constants.ts`. Also prints the
 * distribution of scores on people outside the fit (five folds by person); the thresholds are chosen
 * from this distribution.
 */
import path from 'node:path'
import { createProgressBar } from '../src/cli/command.ts'
import { openVision } from '../src/cli/evaluate/open-vision.ts'
import { markdownTable } from '../bench/support/table.ts'
import { areaUnderCurve } from '../src/evaluation/verification/acceptance-points.ts'
import { seededRandom, shuffled } from '../src/lib/random/seeded-random.ts'
import { builtinPack } from '../src/models/builtin/builtin-pack.ts'
import { logOdds } from '../src/vision/liveness/open-liveness-check.ts'
import { shareAtLeast } from '../src/evaluation/liveness/det-curve.ts'
import { probabilityOf, fitLogistic } from './liveness/fit-logistic.ts'
import { analyzePresentations } from '../src/evaluation/liveness/analyze-presentations.ts'
import { liveKind, readPresentations } from '../src/evaluation/liveness/read-presentations.ts'

const foldCount = 5
const shares = [0.005, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.995]

const [folder] = process.argv.slice(2)
if (!folder) throw new Error('no folder was given; pass one that eval/simulate-attacks.ts wrote')
const samples = await analyzeFolder(folder)
const people = shuffled(seededRandom(1), [...new Set(samples.map(({ person }) => person))])
const foldOf = new Map(people.map((person, index) => [person, index % foldCount]))

const fit = fitLogistic(samples)
console.log(JSON.stringify({ ...fit, people: people.length, pictures: samples.length }))

const scored = Array.from({ length: foldCount }, (_, fold) => {
  const isHeldOut = ({ person }: { readonly person: string }) => foldOf.get(person) === fold
  const learnt = fitLogistic(samples.filter((sample) => !isHeldOut(sample)))
  return samples
    .filter(isHeldOut)
    .map((sample) => ({ ...sample, score: probabilityOf(learnt, sample.values) }))
}).flat()
const kinds = [...new Set(scored.map(({ scene }) => scene))]
const sorted = (scene: string): Float32Array =>
  Float32Array.from(
    scored.filter((sample) => sample.scene === scene).map(({ score }) => score),
  ).sort()
console.log(
  markdownTable(
    ['held out', ...shares.map((share) => `${share * 100} %`)],
    kinds.map((kind) => [kind, ...shares.map((share) => quantile(sorted(kind), share).toFixed(3))]),
  ),
)
const { liveMin, spoofMax } = builtinPack.models.liveness.constants
for (const kind of kinds) {
  const scores = [...sorted(kind)]
  const above = shareAtLeast(scores, liveMin)
  const below = 1 - shareAtLeast(scores, spoofMax)
  console.log(`${kind}: ${percent(above)} at least ${liveMin}, ${percent(below)} below ${spoofMax}`)
}
for (const genuine of ['photograph', 'live'])
  for (const attack of ['print', 'replay']) {
    const area = areaUnderCurve({ genuine: sorted(genuine), impostor: sorted(attack) })
    console.log(`area under the curve, ${genuine} against ${attack}: ${area.toFixed(3)}`)
  }

/** Returns the six crop scores, the person and the scene of each image with a face. */
async function analyzeFolder(source: string) {
  await using vision = await openVision(['builtin'])
  const bar = createProgressBar('images')
  const results = await analyzePresentations(
    await readPresentations(source),
    vision.analyzeImage,
    bar.update,
  )
  bar.end()
  return results.flatMap((result) =>
    'face' in result
      ? [
          {
            person: path.basename(path.dirname(result.file)),
            scene: path.relative(source, result.file).split(path.sep)[0] ?? '',
            isLive: result.kind === liveKind,
            values: Object.values(result.face.liveness.networks).map(logOdds),
          },
        ]
      : [],
  )
}

function quantile(values: Float32Array, share: number): number {
  return values[Math.min(values.length - 1, Math.floor(share * values.length))] ?? Number.NaN
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`
}
