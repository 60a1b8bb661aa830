import { createHash } from 'node:crypto'
import { challengePointIndices } from '../../../src/vision/liveness/challenge/challenge-points.ts'
import type { ChallengeFacts } from '../../../src/vision/liveness/challenge/challenge-judgement.ts'

/** A movement of the head against the frontal view, degrees. */
export type HeadTurn = {
  /** Above 0 the nose points to image right. */
  readonly yaw?: number
  /** Above 0 the nose points up. */
  readonly pitch?: number
}

type FakeHead = {
  readonly name: string
  readonly take?: number
  readonly turn?: HeadTurn
}

type Position = readonly [x: number, y: number, z: number]

/** Points in the middle of a face, by mesh index: eye distances; x right, y down, z to the camera. */
const middle: Readonly<Record<number, Position>> = {
  1: [0, 0.62, 0.65],
  152: [0, 1.75, -0.1],
  10: [0, -1.05, -0.1],
  4: [0, 0.55, 0.6],
  168: [0, 0, 0.2],
  6: [0, 0.12, 0.25],
  0: [0, 0.92, 0.35],
  17: [0, 1.25, 0.25],
  2: [0, 0.76, 0.55],
  164: [0, 0.85, 0.5],
}

/** Points on the left side of the image, and the index of the same point on the right side. */
const sides: Readonly<Record<number, readonly [right: number, position: Position]>> = {
  33: [263, [-0.72, 0, -0.1]],
  133: [362, [-0.28, 0.02, 0]],
  61: [291, [-0.4, 1.05, 0]],
  70: [300, [-0.85, -0.3, -0.1]],
  105: [334, [-0.55, -0.42, 0.05]],
  107: [336, [-0.18, -0.35, 0.05]],
  98: [327, [-0.2, 0.68, 0.35]],
  50: [280, [-0.7, 0.6, 0]],
  234: [454, [-1.1, 0.15, -0.9]],
  172: [397, [-0.85, 1.2, -0.5]],
}

const head = new Map<number, Position>([
  ...Object.entries(middle).map(([index, position]) => [Number(index), position] as const),
  ...Object.entries(sides).flatMap(([left, [right, [x, y, z]]]) => [
    [Number(left), [x, y, z] as const] as const,
    [right, [-x, y, z] as const] as const,
  ]),
])

const eyeDistancePx = 70

/** Returns the measurements of a head that is turned. */
export function fakeChallengeFacts({ name, take = 0, turn = {} }: FakeHead): ChallengeFacts {
  const { yaw = 0, pitch = 0 } = turn
  const [a, b] = [(yaw * Math.PI) / 180, (pitch * Math.PI) / 180]
  const points = challengePointIndices.flatMap((index) => {
    const position = head.get(index)
    if (!position) throw new RangeError(`the fake head has no point ${index}`)
    const [x, y, z] = position
    const depth = z * Math.cos(a) - x * Math.sin(a)
    const across = x * Math.cos(a) + z * Math.sin(a)
    const down = y * Math.cos(b) - depth * Math.sin(b)
    return [500 + eyeDistancePx * across, 500 + eyeDistancePx * down]
  })
  const seed = `${name} ${take} ${yaw} ${pitch}`
  const pixels = Array.from({ length: 32 }, (_, row) =>
    createHash('sha256').update(`${seed} ${row}`).digest(),
  )
  return { yaw, pitch, points, fingerprint: Buffer.concat(pixels).toString('base64') }
}
