import sharp from 'sharp'
import type { Point } from '../../src/vision/image-analysis.ts'

/** Things to draw over a face, to see whether they are noticed. */
export type CoverKind =
  | 'blueMask'
  | 'whiteMask'
  | 'blackMask'
  | 'redMask'
  | 'bar'
  | 'sunglasses'
  | 'brownGlasses'
  | 'handOverMouth'
  | 'handOverEye'

/** Points of the mesh in px of the picture, the colour of the skin 0..255, a random source 0..1. */
export type CoverSubject = {
  readonly points: readonly Point[]
  readonly skinColour: readonly number[]
  readonly random: () => number
}

/**
 * `bytes`, a picture of width × height px, with a cover drawn over the face, as a PNG. A pipeline in
 * this process may have forbidden SVG: it is let in again.
 */
export async function drawCover(
  bytes: Buffer,
  size: { readonly width: number; readonly height: number },
  shapes: string,
): Promise<Buffer> {
  sharp.unblock({ operation: ['VipsForeignLoadSvg'] })
  const open = `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}">`
  const svg = await sharp(Buffer.from(`${open}${shapes}</svg>`))
    .png()
    .toBuffer()
  return sharp(bytes)
    .composite([{ input: svg }])
    .png()
    .toBuffer()
}

/** The shapes of a cover as SVG, in px of the picture. */
export function coverShapes(kind: CoverKind, sitter: CoverSubject): string {
  return drawings[kind](anatomyOf(sitter), sitter)
}

const drawings: Readonly<Record<CoverKind, (face: Anatomy, sitter: CoverSubject) => string>> = {
  blueMask: (face) => mask(face, '#a3c9dd'),
  whiteMask: (face) => mask(face, '#e6e6e4'),
  blackMask: (face) => mask(face, '#1d1d20'),
  redMask: (face) => mask(face, '#8c2f39'),
  bar: (face, { random }) => bar(face, random() < 0.5 ? '#000' : '#2b2b33'),
  sunglasses: (face) => glasses(face, '#101012', 0.93),
  brownGlasses: (face) => glasses(face, '#3a2416', 0.8),
  handOverMouth: (face, sitter) => hand(face, sitter, { at: face.mouth, across: 0.75, down: 0.55 }),
  handOverEye: (face, sitter) => {
    const at = sitter.random() < 0.5 ? face.leftEye : face.rightEye
    return hand(face, sitter, { at, across: 0.55, down: 0.5 })
  },
}

export const coverKinds = Object.keys(drawings) as readonly CoverKind[]

/** From ear to ear along the jaw. */
const jaw = [
  93, 132, 58, 172, 136, 150, 149, 176, 148, 152, 377, 400, 378, 379, 365, 397, 288, 361, 323,
]

type Anatomy = ReturnType<typeof anatomyOf>

function anatomyOf({ points }: CoverSubject) {
  const at = (index: number): Point => points[index] ?? { x: 0, y: 0 }
  const leftEye = between(at(33), at(133), 0.5)
  const rightEye = between(at(362), at(263), 0.5)
  const middle = between(leftEye, rightEye, 0.5)
  const radians = Math.atan2(rightEye.y - leftEye.y, rightEye.x - leftEye.x)
  const lips = between(at(13), at(14), 0.5)
  const eyes = Math.hypot(rightEye.x - leftEye.x, rightEye.y - leftEye.y)
  return {
    leftEye,
    rightEye,
    middle,
    eyes,
    degrees: (radians * 180) / Math.PI,
    mouth: { x: lips.x, y: lips.y + 0.1 * eyes },
    /** A little beyond the face, up to the cheeks and the bridge of the nose. */
    mask: [
      at(197),
      at(330),
      ...jaw.toReversed().map((index) => between(middle, at(index), 1.06)),
      at(101),
    ],
    ears: [at(93), at(323)] as const,
    jaws: [at(172), at(397)] as const,
  }
}

function mask({ mask: outline, ears, jaws, eyes }: Anatomy, colour: string): string {
  const folds = [0.5, 0.7, 0.9].map((share) => {
    const a = between(ears[0], jaws[0], share)
    const b = between(ears[1], jaws[1], share)
    return `<line x1="${a.x}" y1="${a.y}" x2="${b.x}" y2="${b.y}" stroke="#000" stroke-opacity="0.15" stroke-width="${0.03 * eyes}"/>`
  })
  const corners = outline.map(({ x, y }) => `${x},${y}`).join(' ')
  return `<polygon points="${corners}" fill="${colour}"/>${folds.join('')}`
}

function bar({ middle, eyes, degrees }: Anatomy, colour: string): string {
  const { x, y } = middle
  return `<rect transform="rotate(${degrees} ${x} ${y})" x="${x - 1.05 * eyes}" y="${y - 0.3 * eyes}" width="${2.1 * eyes}" height="${0.6 * eyes}" fill="${colour}"/>`
}

function glasses(face: Anatomy, colour: string, opacity: number): string {
  const { middle, eyes, degrees, leftEye, rightEye } = face
  const turn = `transform="rotate(${degrees} ${middle.x} ${middle.y})"`
  const lens = ({ x, y }: Point): string =>
    `<ellipse ${turn} cx="${x}" cy="${y + 0.05 * eyes}" rx="${0.42 * eyes}" ry="${0.32 * eyes}" fill="${colour}" fill-opacity="${opacity}"/>`
  return `${lens(leftEye)}${lens(rightEye)}<line x1="${leftEye.x}" y1="${leftEye.y}" x2="${rightEye.x}" y2="${rightEye.y}" stroke="${colour}" stroke-width="${0.06 * eyes}"/>`
}

type Hand = {
  readonly at: Point
  /** In distances of the eyes. */
  readonly across: number
  readonly down: number
}

function hand(
  { eyes, degrees }: Anatomy,
  { skinColour: skin, random }: CoverSubject,
  drawn: Hand,
): string {
  const { x, y } = drawn.at
  const [width, height] = [drawn.across * eyes, drawn.down * eyes]
  const shade = 0.85 + 0.25 * random()
  const colour = (factor: number): string =>
    `rgb(${skin.map((value) => Math.round(Math.min(255, value * factor))).join(',')})`
  const fingers = [-0.5, 0, 0.5].map(
    (share) =>
      `<line x1="${x - 0.9 * width}" y1="${y + share * height}" x2="${x + 0.9 * width}" y2="${y + share * height}" stroke="${colour(0.65 * shade)}" stroke-width="${0.06 * height}"/>`,
  )
  const turned = degrees + (random() - 0.5) * 40
  return `<g transform="rotate(${turned} ${x} ${y})"><ellipse cx="${x}" cy="${y}" rx="${width}" ry="${height}" fill="${colour(shade)}"/>${fingers.join('')}</g>`
}

function between(a: Point, b: Point, share: number): Point {
  return { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share }
}
