/**
 * Fits the weights of `src/vision/quality/occlusion.ts` and says what they are worth:
 * `node eval/fit-occlusion.ts <folder of pictures, at any depth>…`
 *
 * Every picture counts as uncovered but for those that were seen to show dark glasses; the first
 * picture of every person is also shown with each cover drawn over the face. The rates are those of
 * five fits, each judged by people that it has not seen.
 */
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import sharp from 'sharp'
import { createProgressBar } from '../src/cli/progress-bar.ts'
import { occlusionEvidence } from '../src/vision/quality/occlusion.ts'
import type { OcclusionEvidence } from '../src/vision/quality/occlusion.ts'
import type { PlanarCrop } from '../src/vision/image/warp.ts'
import { seededRandom } from '../src/evaluation/seeded-random.ts'
import { openMeshAnalyzer } from './occlusion/mesh-analyzer.ts'
import type { MeshAnalysis } from './occlusion/mesh-analyzer.ts'
import { coverKinds, drawCover, coverShapes } from './occlusion/draw-cover.ts'
import type { CoverKind } from './occlusion/draw-cover.ts'
import { fitWeightedLogistic, probabilityOf } from './occlusion/fit-weighted-logistic.ts'
import type { WeightedCase, OcclusionLogistic } from './occlusion/fit-weighted-logistic.ts'

type OcclusionSample = {
  readonly person: string
  readonly kind: CoverKind | Degradation | 'nothing' | 'real glasses'
  readonly evidence: OcclusionEvidence
  /** Of the cheeks, 0..255, to see whether dark faces fare worse. */
  readonly skinLuma: number
}

/** A bad picture is not a covered face. */
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

/** Takes 0.3 for the border: hands are told from beards at about the eyes' rate of false alarms. */
const lowerShift = Math.log(0.7 / 0.3)

/** Pictures of LFW that show dark glasses, found by looking at the first fit's false alarms. */
const realGlasses = new Set([
  'Hootie_Johnson_0001',
  'Frank_Coraci_0001',
  'Jessica_Lange_0001',
  'Annie-Jeanne_Reynaud_0001',
  'Dick_Vermeil_0001',
  'Gerard_Tronche_0001',
  'Candice_Bergen_0001',
])

const samples = await collectSamples()
printReport(crossValidate(samples))
console.log(
  JSON.stringify(fit(samples), (_, value) =>
    typeof value === 'number' ? Number(value.toFixed(3)) : value,
  ),
)

async function collectSamples(): Promise<OcclusionSample[]> {
  const eye = await openMeshAnalyzer()
  const random = seededRandom(1)
  const files = (await Promise.all(folders.map(listImages))).flat()
  const seen: OcclusionSample[] = []
  const names = new Set<string>()
  const people = new Set<string>()
  const missed: string[] = []
  const bar = createProgressBar('pictures')
  for (const [index, file] of files.toSorted().entries()) {
    bar.update(index + 1, files.length)
    const name = path.basename(file, path.extname(file))
    if (names.has(name)) continue
    names.add(name)
    const person = name.replace(/_\d+$/u, '')
    const bytes = await readFile(file)
    const look = await eye.look(bytes)
    if (!look) continue
    const kind = realGlasses.has(name) ? 'real glasses' : 'nothing'
    seen.push({ person, kind, evidence: occlusionEvidence(look.mesh), skinLuma: lumaOf(look) })
    if (people.has(person) || people.size >= peopleMax || kind === 'real glasses') continue
    people.add(person)
    const sitter = { points: look.mesh.points, skinColour: skinOf(look), random }
    const changed: [CoverKind | Degradation, Promise<Buffer>][] = [
      ...coverKinds.map(
        (kind) => [kind, drawCover(bytes, look.size, coverShapes(kind, sitter))] as const,
      ),
      ...degradationKinds.map(
        (kind) => [kind, degradations[kind](bytes).png().toBuffer()] as const,
      ),
    ].map(([kind, picture]) => [kind, picture])
    for (const [kind, picture] of changed) {
      const again = await eye.look(await picture)
      if (!again || !isSamePlace(look, again)) missed.push(kind)
      else seen.push({ person, kind, evidence: occlusionEvidence(again.mesh), skinLuma: 0 })
    }
  }
  bar.end()
  await eye.close()
  for (const kind of [...coverKinds, ...degradationKinds])
    console.log(
      `${kind}: no face found in ${missed.filter((one) => one === kind).length} of ${people.size}`,
    )
  return seen
}

async function listImages(folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true })
  return files.filter((file) => /\.jpe?g$/u.test(file)).map((file) => path.join(folder, file))
}

function isSamePlace(a: MeshAnalysis, b: MeshAnalysis): boolean {
  const from = a.mesh.points[4] ?? { x: 0, y: 0 }
  const to = b.mesh.points[4] ?? { x: 0, y: 0 }
  return Math.hypot(to.x - from.x, to.y - from.y) < 40 * a.mesh.cropScale
}

/** The colour at four points of the cheeks. */
function skinOf({ mesh: { crop: chip, cropPoints: inChip } }: MeshAnalysis): number[] {
  const points = [50, 280, 205, 425].map((index) => inChip[index] ?? { x: 96, y: 96 })
  const within = (value: number): number => Math.max(0, Math.min(chip.width - 1, Math.floor(value)))
  const mean = (plane: number): number =>
    points.reduce((sum, { x, y }) => sum + valueAt(chip, plane, within(x), within(y)), 0) / 4
  return [mean(0), mean(1), mean(2)]
}

function valueAt(
  { planes, width, height }: PlanarCrop,
  plane: number,
  x: number,
  y: number,
): number {
  return planes[plane * width * height + y * width + x] ?? 0
}

function lumaOf(look: MeshAnalysis): number {
  const [red = 0, green = 0, blue = 0] = skinOf(look)
  return 0.299 * red + 0.587 * green + 0.114 * blue
}

function isOverEyes(kind: OcclusionSample['kind']): boolean {
  return kind === 'bar' || kind === 'sunglasses' || kind === 'brownGlasses'
}

function isOverMouth(kind: OcclusionSample['kind']): boolean {
  return kind.endsWith('Mask') || kind === 'handOverMouth'
}

/** A hand over one eye belongs to neither class of an eye: it is only counted. */
function fit(cases: readonly OcclusionSample[]): OcclusionFit {
  const weightOf = (kind: OcclusionSample['kind']): number => (kind === 'nothing' ? 1 : 0.5)
  const used = cases.filter(({ kind }) => kind !== 'real glasses')
  const eyes = used
    .filter(({ kind }) => kind !== 'handOverEye')
    .flatMap(({ kind, evidence }) =>
      evidence.eyes.map((one): WeightedCase => ({
        evidence: one,
        label: isOverEyes(kind) ? 1 : 0,
        weight: weightOf(kind),
      })),
    )
  const lower = used.map(({ kind, evidence }): WeightedCase => ({
    evidence: evidence.lowerFace,
    label: isOverMouth(kind) ? 1 : 0,
    weight: weightOf(kind),
  }))
  const { intercept, coefficients: of } = fitWeightedLogistic(lower)
  return {
    eye: fitWeightedLogistic(eyes),
    lowerFace: { intercept: intercept + lowerShift, coefficients: of },
  }
}

type OcclusionPrediction = OcclusionSample & { readonly eyes: number; readonly lowerFace: number }

function crossValidate(cases: readonly OcclusionSample[]): OcclusionPrediction[] {
  const people = [...new Set(cases.map(({ person }) => person))]
  const foldOf = new Map(people.map((person, index) => [person, index % folds]))
  return Array.from({ length: folds }, (_, fold) => {
    const isHeldOut = ({ person }: OcclusionSample): boolean => foldOf.get(person) === fold
    const fits = fit(cases.filter((one) => !isHeldOut(one)))
    return cases.filter(isHeldOut).map((one) => ({
      ...one,
      eyes: Math.max(...one.evidence.eyes.map((eye) => probabilityOf(eye, fits.eye))),
      lowerFace: probabilityOf(one.evidence.lowerFace, fits.lowerFace),
    }))
  }).flat()
}

function printReport(judged: readonly OcclusionPrediction[]): void {
  const rate = (name: string, list: readonly OcclusionPrediction[]): void => {
    const share = (of: (one: OcclusionPrediction) => boolean): string =>
      `${list.filter(of).length} of ${list.length}`.padEnd(14)
    console.log(
      `${name.padEnd(28)} eyes ${share(({ eyes }) => eyes >= 0.5)} lower face ${share(({ lowerFace }) => lowerFace >= 0.5)} either ${share(({ eyes, lowerFace }) => Math.max(eyes, lowerFace) >= 0.5)}`,
    )
  }
  for (const kind of ['nothing', ...degradationKinds, 'real glasses', ...coverKinds])
    rate(
      kind,
      judged.filter((one) => one.kind === kind),
    )
  const bare = judged.filter(({ kind }) => kind === 'nothing')
  const dark = bare.toSorted((a, b) => a.skinLuma - b.skinLuma)
  for (let quarter = 0; quarter < 4; quarter++)
    rate(
      `nothing, luma quarter ${quarter + 1}`,
      dark.slice((quarter * dark.length) / 4, ((quarter + 1) * dark.length) / 4),
    )
}
