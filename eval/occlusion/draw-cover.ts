import sharp from 'sharp'
import type { Point } from '../../src/vision/image/geometry.ts'

/** Covers that can be drawn over a face to test the occlusion check. */
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

/** Mesh points in px of the image, skin colour 0..255, and a random source 0..1. */
export type CoverSubject = {
  readonly points: readonly Point[]
  readonly skinColour: readonly number[]
  readonly random: () => number
}

/**
 * Draws a cover over the face in `bytes`, an image of width × height px, and returns a PNG. Allows SVG
 * first, because a vision pipeline in this process may have disabled it.
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

/** Returns the shapes of a cover as SVG, in px of the image. */
export function coverShapes(kind: CoverKind, subject: CoverSubject): string {
  return drawings[kind](anatomyOf(subject), subject)
}

const drawings: Readonly<Record<CoverKind, (face: Anatomy, subject: CoverSubject) => string>> = {
  blueMask: (face) => mask(face, '#a3c9dd'),
  whiteMask: (face) => mask(face, '#e6e6e4'),
  blackMask: (face) => mask(face, '#1d1d20'),
  redMask: (face) => mask(face, '#8c2f39'),
  bar: (face, { random }) => bar(face, random() < 0.5 ? '#000' : '#2b2b33'),
  sunglasses: (face) => glasses(face, '#101012', 0.93),
  brownGlasses: (face) => glasses(face, '#3a2416', 0.8),
  handOverMouth: (face, subject) =>
    hand(face, subject, { position: face.mouth, across: 0.75, down: 0.55 }),
  handOverEye: (face, subject) => {
    const position = subject.random() < 0.5 ? face.leftEye : face.rightEye
    return hand(face, subject, { position, across: 0.55, down: 0.5 })
  },
}

export const coverKinds = Object.keys(drawings) as readonly CoverKind[]

/** Mesh indexes along the jaw, from ear to ear. */
const jaw = [
  93, 132, 58, 172, 136, 150, 149, 176, 148, 152, 377, 400, 378, 379, 365, 397, 288, 361, 323,
]

type Anatomy = ReturnType<typeof anatomyOf>

function anatomyOf({ points }: CoverSubject) {
  const pointAt = (index: number): Point => points[index] ?? { x: 0, y: 0 }
  const leftEye = between(pointAt(33), pointAt(133), 0.5)
  const rightEye = between(pointAt(362), pointAt(263), 0.5)
  const middle = between(leftEye, rightEye, 0.5)
  const radians = Math.atan2(rightEye.y - leftEye.y, rightEye.x - leftEye.x)
  const lips = between(pointAt(13), pointAt(14), 0.5)
  const eyeDistance = Math.hypot(rightEye.x - leftEye.x, rightEye.y - leftEye.y)
  return {
    leftEye,
    rightEye,
    middle,
    eyeDistance,
    degrees: (radians * 180) / Math.PI,
    mouth: { x: lips.x, y: lips.y + 0.1 * eyeDistance },
    /** Outline slightly outside the face, up to the cheeks and the bridge of the nose. */
    mask: [
      pointAt(197),
      pointAt(330),
      ...jaw.toReversed().map((index) => between(middle, pointAt(index), 1.06)),
      pointAt(101),
    ],
    ears: [pointAt(93), pointAt(323)] as const,
    jaws: [pointAt(172), pointAt(397)] as const,
  }
}

function mask({ mask: outline, ears, jaws, eyeDistance }: Anatomy, colour: string): string {
  const folds = [0.5, 0.7, 0.9].map((share) => {
    const a = between(ears[0], jaws[0], share)
    const b = between(ears[1], jaws[1], share)
    return `<line x1="${a.x}" y1="${a.y}" x2="${b.x}" y2="${b.y}" stroke="#000" stroke-opacity="0.15" stroke-width="${0.03 * eyeDistance}"/>`
  })
  const corners = outline.map(({ x, y }) => `${x},${y}`).join(' ')
  return `<polygon points="${corners}" fill="${colour}"/>${folds.join('')}`
}

function bar({ middle, eyeDistance, degrees }: Anatomy, colour: string): string {
  const { x, y } = middle
  return `<rect transform="rotate(${degrees} ${x} ${y})" x="${x - 1.05 * eyeDistance}" y="${y - 0.3 * eyeDistance}" width="${2.1 * eyeDistance}" height="${0.6 * eyeDistance}" fill="${colour}"/>`
}

function glasses(face: Anatomy, colour: string, opacity: number): string {
  const { middle, eyeDistance, degrees, leftEye, rightEye } = face
  const rotation = `transform="rotate(${degrees} ${middle.x} ${middle.y})"`
  const lens = ({ x, y }: Point): string =>
    `<ellipse ${rotation} cx="${x}" cy="${y + 0.05 * eyeDistance}" rx="${0.42 * eyeDistance}" ry="${0.32 * eyeDistance}" fill="${colour}" fill-opacity="${opacity}"/>`
  return `${lens(leftEye)}${lens(rightEye)}<line x1="${leftEye.x}" y1="${leftEye.y}" x2="${rightEye.x}" y2="${rightEye.y}" stroke="${colour}" stroke-width="${0.06 * eyeDistance}"/>`
}

type Hand = {
  readonly position: Point
  /** Half the width and half the height, in eye distances. */
  readonly across: number
  readonly down: number
}

function hand(
  { eyeDistance, degrees }: Anatomy,
  { skinColour, random }: CoverSubject,
  shape: Hand,
): string {
  const { x, y } = shape.position
  const [width, height] = [shape.across * eyeDistance, shape.down * eyeDistance]
  const shade = 0.85 + 0.25 * random()
  const colour = (factor: number): string =>
    `rgb(${skinColour.map((value) => Math.round(Math.min(255, value * factor))).join(',')})`
  const fingers = [-0.5, 0, 0.5].map(
    (share) =>
      `<line x1="${x - 0.9 * width}" y1="${y + share * height}" x2="${x + 0.9 * width}" y2="${y + share * height}" stroke="${colour(0.65 * shade)}" stroke-width="${0.06 * height}"/>`,
  )
  const handDegrees = degrees + (random() - 0.5) * 40
  return `<g transform="rotate(${handDegrees} ${x} ${y})"><ellipse cx="${x}" cy="${y}" rx="${width}" ry="${height}" fill="${colour(shade)}"/>${fingers.join('')}</g>`
}

function between(a: Point, b: Point, share: number): Point {
  return { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share }
}
