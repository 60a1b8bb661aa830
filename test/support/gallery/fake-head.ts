import { createHash } from 'node:crypto'
import type { ChallengeFacts } from '../../../src/vision/liveness/challenge/challenge.ts'
import { challengePoints } from '../../../src/vision/liveness/challenge/measure-challenge.ts'

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

/** Returns the measurements of a convex head that is turned. */
export function fakeChallengeFacts({ name, take = 0, turn = {} }: FakeHead): ChallengeFacts {
  const { yaw = 0, pitch = 0 } = turn
  const [a, b] = [(yaw * Math.PI) / 180, (pitch * Math.PI) / 180]
  const points = challengePoints.flatMap((_, index) => {
    // A low-discrepancy sequence on the front of the head, which bulges towards the camera.
    const [u, v] = [((index * 0.618) % 1) * 2 - 1, ((index * 0.7549) % 1) * 2 - 1]
    const [x, y, z] = [70 * u, 90 * v, 80 * (1 - 0.7 * u * u - 0.3 * v * v)]
    const depth = z * Math.cos(a) - x * Math.sin(a)
    return [500 + x * Math.cos(a) + z * Math.sin(a), 500 + y * Math.cos(b) - depth * Math.sin(b)]
  })
  const seed = `${name} ${take} ${yaw} ${pitch}`
  const pixels = Array.from({ length: 32 }, (_, row) =>
    createHash('sha256').update(`${seed} ${row}`).digest(),
  )
  return { yaw, pitch, points, fingerprint: Buffer.concat(pixels).toString('base64') }
}
