/**
 * Fits the weights of `src/vision/occlusion.ts` and says what they are worth:
 * `node eval/fit-occlusion.ts <folder of pictures, at any depth>…`
 *
 * Every picture counts as uncovered but for those that were seen to show dark glasses; the first
 * picture of every person is also shown with each cover drawn over the face. The rates are those of
 * five fits, each judged by people that it has not seen.
 */
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import sharp from 'sharp'
import { progressBar } from '../src/cli/progress.ts'
import { occlusionEvidence } from '../src/vision/occlusion.ts'
import type { OcclusionEvidence } from '../src/vision/occlusion.ts'
import type { Chip } from '../src/vision/warp.ts'
import { seededRandom } from './fit/random.ts'
import { openCloseLook } from './occlusion/close-look.ts'
import type { CloseLook } from './occlusion/close-look.ts'
import { coverKinds, covered, coverOf } from './occlusion/covers.ts'
import type { CoverKind } from './occlusion/covers.ts'
import { fitLogistic, probabilityOf } from './occlusion/logistic.ts'
import type { Case, Logistic } from './occlusion/logistic.ts'

type Shown = {
  readonly person: string
  readonly kind: CoverKind | Damage | 'nothing' | 'real glasses'
  readonly evidence: OcclusionEvidence
  /** Of the cheeks, 0..255, to see whether dark faces fare worse. */
  readonly skinLuma: number
}

/** A bad picture is not a covered face. */
const damages = {
  blurred: (bytes: Buffer) => sharp(bytes).blur(2.5),
  dark: (bytes: Buffer) => sharp(bytes).linear(0.3, 0),
  pale: (bytes: Buffer) => sharp(bytes).linear(0.3, 120),
} as const

type Damage = keyof typeof damages

const damageKinds = Object.keys(damages) as Damage[]

type Fits = { readonly eye: Logistic; readonly lowerFace: Logistic }

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

const shown = await show()
report(crossValidated(shown))
console.log(
  JSON.stringify(fit(shown), (_, value) =>
    typeof value === 'number' ? Number(value.toFixed(3)) : value,
  ),
)

async function show(): Promise<Shown[]> {
  const eye = await openCloseLook()
  const random = seededRandom(1)
  const files = (await Promise.all(folders.map(picturesIn))).flat()
  const seen: Shown[] = []
  const names = new Set<string>()
  const people = new Set<string>()
  const missed: string[] = []
  const bar = progressBar('pictures')
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
    const sitter = { points: look.mesh.points, skin: skinOf(look), random }
    const changed: [CoverKind | Damage, Promise<Buffer>][] = [
      ...coverKinds.map(
        (kind) => [kind, covered(bytes, look.size, coverOf(kind, sitter))] as const,
      ),
      ...damageKinds.map((kind) => [kind, damages[kind](bytes).png().toBuffer()] as const),
    ].map(([kind, picture]) => [kind, picture])
    for (const [kind, picture] of changed) {
      const again = await eye.look(await picture)
      if (!again || !isSamePlace(look, again)) missed.push(kind)
      else seen.push({ person, kind, evidence: occlusionEvidence(again.mesh), skinLuma: 0 })
    }
  }
  bar.end()
  await eye.close()
  for (const kind of [...coverKinds, ...damageKinds])
    console.log(
      `${kind}: no face found in ${missed.filter((one) => one === kind).length} of ${people.size}`,
    )
  return seen
}

async function picturesIn(folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true })
  return files.filter((file) => /\.jpe?g$/u.test(file)).map((file) => path.join(folder, file))
}

function isSamePlace(a: CloseLook, b: CloseLook): boolean {
  const from = a.mesh.points[4] ?? { x: 0, y: 0 }
  const to = b.mesh.points[4] ?? { x: 0, y: 0 }
  return Math.hypot(to.x - from.x, to.y - from.y) < 40 * a.mesh.chipScale
}

/** The colour at four points of the cheeks. */
function skinOf({ mesh: { chip, inChip } }: CloseLook): number[] {
  const points = [50, 280, 205, 425].map((index) => inChip[index] ?? { x: 96, y: 96 })
  const within = (value: number): number => Math.max(0, Math.min(chip.width - 1, Math.floor(value)))
  const mean = (plane: number): number =>
    points.reduce((sum, { x, y }) => sum + valueAt(chip, plane, within(x), within(y)), 0) / 4
  return [mean(0), mean(1), mean(2)]
}

function valueAt({ planes, width, height }: Chip, plane: number, x: number, y: number): number {
  return planes[plane * width * height + y * width + x] ?? 0
}

function lumaOf(look: CloseLook): number {
  const [red = 0, green = 0, blue = 0] = skinOf(look)
  return 0.299 * red + 0.587 * green + 0.114 * blue
}

function isOverEyes(kind: Shown['kind']): boolean {
  return kind === 'bar' || kind === 'sunglasses' || kind === 'brownGlasses'
}

function isOverMouth(kind: Shown['kind']): boolean {
  return kind.endsWith('Mask') || kind === 'handOverMouth'
}

/** A hand over one eye belongs to neither class of an eye: it is only counted. */
function fit(cases: readonly Shown[]): Fits {
  const weightOf = (kind: Shown['kind']): number => (kind === 'nothing' ? 1 : 0.5)
  const used = cases.filter(({ kind }) => kind !== 'real glasses')
  const eyes = used
    .filter(({ kind }) => kind !== 'handOverEye')
    .flatMap(({ kind, evidence }) =>
      evidence.eyes.map((one): Case => ({
        evidence: one,
        label: isOverEyes(kind) ? 1 : 0,
        weight: weightOf(kind),
      })),
    )
  const lower = used.map(({ kind, evidence }): Case => ({
    evidence: evidence.lowerFace,
    label: isOverMouth(kind) ? 1 : 0,
    weight: weightOf(kind),
  }))
  const { intercept, of } = fitLogistic(lower)
  return { eye: fitLogistic(eyes), lowerFace: { intercept: intercept + lowerShift, of } }
}

type Judged = Shown & { readonly eyes: number; readonly lowerFace: number }

function crossValidated(cases: readonly Shown[]): Judged[] {
  const people = [...new Set(cases.map(({ person }) => person))]
  const foldOf = new Map(people.map((person, index) => [person, index % folds]))
  return Array.from({ length: folds }, (_, fold) => {
    const isHeldOut = ({ person }: Shown): boolean => foldOf.get(person) === fold
    const fits = fit(cases.filter((one) => !isHeldOut(one)))
    return cases.filter(isHeldOut).map((one) => ({
      ...one,
      eyes: Math.max(...one.evidence.eyes.map((eye) => probabilityOf(eye, fits.eye))),
      lowerFace: probabilityOf(one.evidence.lowerFace, fits.lowerFace),
    }))
  }).flat()
}

function report(judged: readonly Judged[]): void {
  const rate = (name: string, list: readonly Judged[]): void => {
    const share = (of: (one: Judged) => boolean): string =>
      `${list.filter(of).length} of ${list.length}`.padEnd(14)
    console.log(
      `${name.padEnd(28)} eyes ${share(({ eyes }) => eyes >= 0.5)} lower face ${share(({ lowerFace }) => lowerFace >= 0.5)} either ${share(({ eyes, lowerFace }) => Math.max(eyes, lowerFace) >= 0.5)}`,
    )
  }
  for (const kind of ['nothing', ...damageKinds, 'real glasses', ...coverKinds])
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
