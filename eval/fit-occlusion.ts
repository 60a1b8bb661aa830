/**
 * Fits the weights of `src/vision/quality/occlusion.ts` and prints the error rates:
 * `node eval/fit-occlusion.ts <folder of images, at any depth>…`
 *
 * Every image counts as uncovered, except those known to show dark glasses. The first image of every
 * person is also analyzed with each cover drawn over the face. The rates come from five fits, each
 * tested on people outside the fit.
 */
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import sharp from 'sharp'
import { createProgressBar } from '../src/cli/command.ts'
import { occlusionEvidence } from '../src/vision/quality/occlusion.ts'
import type { OcclusionEvidence } from '../src/vision/quality/occlusion.ts'
import { seededRandom } from '../src/lib/random/seeded-random.ts'
import { openMeshAnalyzer, skinOf } from './occlusion/mesh-analyzer.ts'
import type { MeshAnalysis } from './occlusion/mesh-analyzer.ts'
import { coverKinds, drawCover, coverShapes } from './occlusion/draw-cover.ts'
import type { CoverKind } from './occlusion/draw-cover.ts'
import { fitWeightedLogistic, probabilityOf } from './occlusion/fit-weighted-logistic.ts'
import type { WeightedCase, OcclusionLogistic } from './occlusion/fit-weighted-logistic.ts'

type OcclusionSample = {
  readonly person: string
  readonly kind: CoverKind | Degradation | 'nothing' | 'real glasses'
  readonly evidence: OcclusionEvidence
  /** Luma of the cheeks, 0..255, to compare the error rates of dark and light faces. */
  readonly skinLuma: number
}

/** Degraded images of uncovered faces: the fit must not confuse them with covers. */
const degradations = {
  blurred: (bytes: Buffer) => sharp(bytes).blur(2.5),
  dark: (bytes: Buffer) => sharp(bytes).linear(0.3, 0),
  pale: (bytes: Buffer) => sharp(bytes).linear(0.3, 120),
} as const

type Degradation = keyof typeof degradations

const degradationKinds = Object.keys(degradations) as Degradation[]

type OcclusionFit = { readonly eye: OcclusionLogistic; readonly lowerFace: OcclusionLogistic }

const folders = process.argv.slice(2)
const peopleMax = 260
const folds = 5

/** Sets the threshold to 0.3, which separates hands from beards at about the false-alarm rate of the eyes. */
const lowerShift = Math.log(0.7 / 0.3)

/** LFW images that show dark glasses, found among the false alarms of the first fit. */
const realGlasses = new Set([
  'Hootie_Johnson_0001',
  'Frank_Coraci_0001',
  'Jessica_Lange_0001',
  'Annie-Jeanne_Reynaud_0001',
  'Dick_Vermeil_0001',
  'Gerard_Tronche_0001',
  'Candice_Bergen_0001',
])

const allSamples = await collectSamples()
printReport(crossValidate(allSamples))
console.log(
  JSON.stringify(fit(allSamples), (_, value) =>
    typeof value === 'number' ? Number(value.toFixed(3)) : value,
  ),
)

async function collectSamples(): Promise<OcclusionSample[]> {
  const meshAnalyzer = await openMeshAnalyzer()
  const random = seededRandom(1)
  const files = (await Promise.all(folders.map(listImages))).flat()
  const samples: OcclusionSample[] = []
  const names = new Set<string>()
  const people = new Set<string>()
  const missed: string[] = []
  const bar = createProgressBar('images')
  for (const [index, file] of files.toSorted().entries()) {
    bar.update(index + 1, files.length)
    const name = path.basename(file, path.extname(file))
    if (names.has(name)) continue
    names.add(name)
    const person = name.replace(/_\d+$/u, '')
    const bytes = await readFile(file)
    const analysis = await meshAnalyzer.analyzeImage(bytes)
    if (!analysis) continue
    const kind = realGlasses.has(name) ? 'real glasses' : 'nothing'
    samples.push({
      person,
      kind,
      evidence: occlusionEvidence(analysis.mesh),
      skinLuma: lumaOf(analysis),
    })
    if (people.has(person) || people.size >= peopleMax || kind === 'real glasses') continue
    people.add(person)
    const subject = { points: analysis.mesh.points, skinColour: skinOf(analysis), random }
    const variants: [CoverKind | Degradation, Promise<Buffer>][] = [
      ...coverKinds.map(
        (kind) => [kind, drawCover(bytes, analysis.size, coverShapes(kind, subject))] as const,
      ),
      ...degradationKinds.map(
        (kind) => [kind, degradations[kind](bytes).png().toBuffer()] as const,
      ),
    ].map(([kind, image]) => [kind, image])
    for (const [kind, image] of variants) {
      const variant = await meshAnalyzer.analyzeImage(await image)
      if (!variant || !isSamePosition(analysis, variant)) missed.push(kind)
      else samples.push({ person, kind, evidence: occlusionEvidence(variant.mesh), skinLuma: 0 })
    }
  }
  bar.end()
  await meshAnalyzer.close()
  for (const kind of [...coverKinds, ...degradationKinds])
    console.log(
      `${kind}: no face found in ${missed.filter((missedKind) => missedKind === kind).length} of ${people.size}`,
    )
  return samples
}

async function listImages(folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true })
  return files.filter((file) => /\.jpe?g$/u.test(file)).map((file) => path.join(folder, file))
}

function isSamePosition(a: MeshAnalysis, b: MeshAnalysis): boolean {
  const from = a.mesh.points[4] ?? { x: 0, y: 0 }
  const to = b.mesh.points[4] ?? { x: 0, y: 0 }
  return Math.hypot(to.x - from.x, to.y - from.y) < 40 * a.mesh.cropScale
}

function lumaOf(analysis: MeshAnalysis): number {
  const [red = 0, green = 0, blue = 0] = skinOf(analysis)
  return 0.299 * red + 0.587 * green + 0.114 * blue
}

function isOverEyes(kind: OcclusionSample['kind']): boolean {
  return kind === 'bar' || kind === 'sunglasses' || kind === 'brownGlasses'
}

function isOverMouth(kind: OcclusionSample['kind']): boolean {
  return kind.endsWith('Mask') || kind === 'handOverMouth'
}

/** Fits both models. A hand over one eye is in neither class of the eye model and is only reported. */
function fit(cases: readonly OcclusionSample[]): OcclusionFit {
  const weightOf = (kind: OcclusionSample['kind']): number => (kind === 'nothing' ? 1 : 0.5)
  const used = cases.filter(({ kind }) => kind !== 'real glasses')
  const eyes = used
    .filter(({ kind }) => kind !== 'handOverEye')
    .flatMap(({ kind, evidence }) =>
      evidence.eyes.map((eye): WeightedCase => ({
        evidence: eye,
        label: isOverEyes(kind) ? 1 : 0,
        weight: weightOf(kind),
      })),
    )
  const lower = used.map(({ kind, evidence }): WeightedCase => ({
    evidence: evidence.lowerFace,
    label: isOverMouth(kind) ? 1 : 0,
    weight: weightOf(kind),
  }))
  const { intercept, coefficients } = fitWeightedLogistic(lower)
  return {
    eye: fitWeightedLogistic(eyes),
    lowerFace: { intercept: intercept + lowerShift, coefficients },
  }
}

type OcclusionPrediction = OcclusionSample & { readonly eyes: number; readonly lowerFace: number }

function crossValidate(cases: readonly OcclusionSample[]): OcclusionPrediction[] {
  const people = [...new Set(cases.map(({ person }) => person))]
  const foldOf = new Map(people.map((person, index) => [person, index % folds]))
  return Array.from({ length: folds }, (_, fold) => {
    const isHeldOut = ({ person }: OcclusionSample): boolean => foldOf.get(person) === fold
    const fits = fit(cases.filter((sample) => !isHeldOut(sample)))
    return cases.filter(isHeldOut).map((sample) => ({
      ...sample,
      eyes: Math.max(...sample.evidence.eyes.map((eye) => probabilityOf(eye, fits.eye))),
      lowerFace: probabilityOf(sample.evidence.lowerFace, fits.lowerFace),
    }))
  }).flat()
}

function printReport(predictions: readonly OcclusionPrediction[]): void {
  const rate = (name: string, list: readonly OcclusionPrediction[]): void => {
    const share = (isCovered: (prediction: OcclusionPrediction) => boolean): string =>
      `${list.filter(isCovered).length} of ${list.length}`.padEnd(14)
    console.log(
      `${name.padEnd(28)} eyes ${share(({ eyes }) => eyes >= 0.5)} lower face ${share(({ lowerFace }) => lowerFace >= 0.5)} either ${share(({ eyes, lowerFace }) => Math.max(eyes, lowerFace) >= 0.5)}`,
    )
  }
  for (const kind of ['nothing', ...degradationKinds, 'real glasses', ...coverKinds])
    rate(
      kind,
      predictions.filter((prediction) => prediction.kind === kind),
    )
  const uncovered = predictions.filter(({ kind }) => kind === 'nothing')
  const byLuma = uncovered.toSorted((a, b) => a.skinLuma - b.skinLuma)
  for (let quarter = 0; quarter < 4; quarter++)
    rate(
      `nothing, luma quarter ${quarter + 1}`,
      byLuma.slice((quarter * byLuma.length) / 4, ((quarter + 1) * byLuma.length) / 4),
    )
}
